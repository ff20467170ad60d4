using System;
using System.Threading;
using System.Threading.Tasks;

namespace Orders;

public sealed record Order(string Number, string Json);

public sealed class DuplicateOrderException : Exception
{
}

public interface IOrderTransaction : IAsyncDisposable
{
    /// <exception cref="DuplicateOrderException">The number exists already.</exception>
    Task InsertOrderAsync(Order order, CancellationToken cancellation);

    Task InsertEventAsync(string kind, string json, CancellationToken cancellation);

    Task CommitAsync(CancellationToken cancellation);

    Task RollbackAsync(CancellationToken cancellation);
}

public interface IOrderDatabase
{
    Task<IOrderTransaction> BeginAsync(CancellationToken cancellation);
}

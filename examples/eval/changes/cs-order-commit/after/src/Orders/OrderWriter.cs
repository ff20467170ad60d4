using System;
using System.Threading;
using System.Threading.Tasks;

namespace Orders;

public enum StoreResult
{
    Stored,
    AlreadyStored,
}

/// <summary>Stores orders and their events.</summary>
public sealed class OrderWriter
{
    private readonly IOrderDatabase _database;
    private readonly Action<Exception> _logFailure;

    public OrderWriter(IOrderDatabase database, Action<Exception> logFailure)
    {
        _database = database;
        _logFailure = logFailure;
    }

    public async Task<StoreResult> StoreAsync(Order order, CancellationToken cancellation)
    {
        await using IOrderTransaction transaction = await _database.BeginAsync(cancellation);
        try
        {
            await transaction.InsertOrderAsync(order, cancellation);
            await transaction.InsertEventAsync("order-stored", order.Json, cancellation);
            await transaction.CommitAsync(cancellation);
            return StoreResult.Stored;
        }
        catch (DuplicateOrderException)
        {
            await UndoAsync(transaction);
            return StoreResult.AlreadyStored;
        }
        catch
        {
            await UndoAsync(transaction);
            throw;
        }
    }

    private async Task UndoAsync(IOrderTransaction transaction)
    {
        try
        {
            await transaction.RollbackAsync(CancellationToken.None);
        }
        catch (Exception failure)
        {
            _logFailure(failure);
        }
    }
}

using System.Threading;
using System.Threading.Tasks;

namespace Suppliers;

public interface IFileImporter
{
    /// <summary>
    /// Imports one file and returns the number of its articles. Safe for parallel calls.
    /// </summary>
    Task<int> ImportAsync(string path, CancellationToken cancellation);
}

using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Suppliers;

public sealed record ImportResult(int Articles, IReadOnlyDictionary<string, string> Failures);

/// <summary>Imports all files of a supplier.</summary>
public sealed class SupplierImport
{
    private const int ParallelFiles = 8;

    private readonly IFileImporter _importer;

    public SupplierImport(IFileImporter importer)
    {
        _importer = importer;
    }

    public async Task<ImportResult> RunAsync(
        IEnumerable<string> paths,
        CancellationToken cancellation)
    {
        int articles = 0;
        var failures = new Dictionary<string, string>();
        var options = new ParallelOptions
        {
            MaxDegreeOfParallelism = ParallelFiles,
            CancellationToken = cancellation,
        };
        await Parallel.ForEachAsync(paths, options, async (path, token) =>
        {
            try
            {
                int count = await _importer.ImportAsync(path, token);
                Interlocked.Add(ref articles, count);
            }
            catch (Exception failure)
                when (failure is not OperationCanceledException || !token.IsCancellationRequested)
            {
                failures[path] = failure.Message;
            }
        });
        return new ImportResult(articles, failures);
    }
}

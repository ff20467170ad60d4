using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Suppliers;

public sealed record ImportResult(int Articles, IReadOnlyDictionary<string, string> Failures);

/// <summary>Imports all files of a supplier.</summary>
public sealed class SupplierImport
{
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
        foreach (string path in paths)
        {
            try
            {
                articles += await _importer.ImportAsync(path, cancellation);
            }
            catch (Exception failure) when (failure is not OperationCanceledException)
            {
                failures[path] = failure.Message;
            }
        }
        return new ImportResult(articles, failures);
    }
}

using System;
using System.Collections.Generic;

namespace Documents;

public sealed record TrashItem(string Id, string BlobId, DateTimeOffset TrashedAt, bool LegalHold);

/// <summary>The trash of a workspace.</summary>
public sealed class Trash
{
    private readonly List<TrashItem> _items = new();

    /// <summary>The items of the trash: a live view of the list, not a copy.</summary>
    public IReadOnlyList<TrashItem> Items => _items;

    public void Add(TrashItem item) => _items.Add(item);

    public void Remove(TrashItem item) => _items.Remove(item);
}

public interface IBlobStorage
{
    /// <summary>Deletes a content; a missing one is no error.</summary>
    void Delete(string blobId);
}

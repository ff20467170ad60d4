using System;

namespace Documents;

/// <summary>The nightly purge of the trash.</summary>
public sealed class TrashSweep
{
    private static readonly TimeSpan Retention = TimeSpan.FromDays(30);

    private readonly Trash _trash;
    private readonly IBlobStorage _blobs;

    public TrashSweep(Trash trash, IBlobStorage blobs)
    {
        _trash = trash;
        _blobs = blobs;
    }

    /// <summary>Purges what is due at the time and returns the number of documents.</summary>
    public int Run(DateTimeOffset now)
    {
        int purged = 0;
        foreach (TrashItem item in _trash.Items)
        {
            if (IsDue(item, now))
            {
                _blobs.Delete(item.BlobId);
                _trash.Remove(item);
                purged++;
            }
        }
        return purged;
    }

    private static bool IsDue(TrashItem item, DateTimeOffset now)
    {
        return now - item.TrashedAt >= Retention;
    }
}

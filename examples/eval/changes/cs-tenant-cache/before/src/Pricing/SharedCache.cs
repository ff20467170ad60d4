using System;

namespace Pricing;

/// <summary>
/// The cache of the process. It is shared by all tenants and all kinds of entries, so
/// a key names the kind, the tenant and the number of the entry.
/// </summary>
public interface ISharedCache
{
    bool TryGet<T>(string key, out T? value);

    void Set<T>(string key, T value, TimeSpan lifetime);

    void Remove(string key);
}

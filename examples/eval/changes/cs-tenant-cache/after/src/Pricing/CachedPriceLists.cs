using System;
using System.Threading.Tasks;

namespace Pricing;

/// <summary>Price lists with a cache in front of the store.</summary>
public sealed class CachedPriceLists
{
    private static readonly TimeSpan Lifetime = TimeSpan.FromMinutes(5);

    private readonly IPriceListStore _store;
    private readonly ISharedCache _cache;

    public CachedPriceLists(IPriceListStore store, ISharedCache cache)
    {
        _store = store;
        _cache = cache;
    }

    /// <summary>Returns the price list of the tenant, null if there is none.</summary>
    public async Task<PriceList?> FindAsync(int tenantId, int number)
    {
        string key = KeyOf(number);
        if (_cache.TryGet(key, out PriceList? cached))
        {
            return cached;
        }
        PriceList? list = await _store.FindAsync(tenantId, number);
        if (list is not null)
        {
            _cache.Set(key, list, Lifetime);
        }
        return list;
    }

    /// <summary>Stores an edited list and removes the old one from the cache.</summary>
    public async Task SaveAsync(PriceList list)
    {
        await _store.SaveAsync(list);
        _cache.Remove(KeyOf(list.Number));
    }

    private static string KeyOf(int number) => $"price-list:{number}";
}

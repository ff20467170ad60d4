using System.Threading.Tasks;

namespace Pricing;

public sealed record PriceList(int TenantId, int Number, string Name);

public interface IPriceListStore
{
    /// <summary>Returns the price list of the tenant, null if there is none.</summary>
    Task<PriceList?> FindAsync(int tenantId, int number);

    Task SaveAsync(PriceList list);
}

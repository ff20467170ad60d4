<?php

declare(strict_types=1);

namespace Prices;

use RuntimeException;

final class UnknownCountry extends RuntimeException
{
}

final class GrossPrices
{
    public function __construct(private readonly TaxRates $rates)
    {
    }

    /** Returns the gross price in cents for a net price in cents. */
    public function gross(int $netCents, string $country): int
    {
        return $netCents + $this->tax($netCents, $country);
    }

    /** Returns the tax in cents, rounded half up. */
    public function tax(int $netCents, string $country): int
    {
        $rate = $this->rates->find(strtoupper($country));
        if (!$rate) {
            throw new UnknownCountry("no delivery to $country");
        }
        return intdiv($netCents * $rate + 500, 1000);
    }
}

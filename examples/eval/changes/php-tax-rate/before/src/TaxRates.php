<?php

declare(strict_types=1);

namespace Prices;

final class TaxRates
{
    /** @param array<string, int> $rates per mille by ISO code */
    public function __construct(private readonly array $rates)
    {
    }

    /**
     * Returns the rate in per mille: 0 for a tax-free territory, null for a country
     * that we do not deliver to.
     */
    public function find(string $country): ?int
    {
        return $this->rates[$country] ?? null;
    }
}

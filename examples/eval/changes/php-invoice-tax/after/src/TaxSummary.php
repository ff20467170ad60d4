<?php

declare(strict_types=1);

namespace Invoices;

final class TaxSummary
{
    /** @var array<int, array{net: int, tax: int}> sums by rate */
    private array $sums = [];

    /** @param iterable<InvoiceLine> $lines */
    public function __construct(iterable $lines)
    {
        foreach ($lines as $line) {
            $rate = $line->ratePercent;
            $this->sums[$rate] ??= ['net' => 0, 'tax' => 0];
            $this->sums[$rate]['net'] += $line->netCents;
            $this->sums[$rate]['tax'] += self::tax($line->netCents, $rate);
        }
        krsort($this->sums);
    }

    /** @return array<int, array{net: int, tax: int}> the highest rate first */
    public function byRate(): array
    {
        return $this->sums;
    }

    public function grossCents(): int
    {
        $gross = 0;
        foreach ($this->sums as $sum) {
            $gross += $sum['net'] + $sum['tax'];
        }
        return $gross;
    }

    private static function tax(int $netCents, int $ratePercent): int
    {
        return (int) floor(($netCents * $ratePercent + 50) / 100);
    }
}

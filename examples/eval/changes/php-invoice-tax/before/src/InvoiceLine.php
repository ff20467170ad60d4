<?php

declare(strict_types=1);

namespace Invoices;

final class InvoiceLine
{
    public function __construct(
        public readonly string $text,
        public readonly int $netCents,
        public readonly int $ratePercent,
    ) {
    }
}

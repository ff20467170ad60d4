<?php

declare(strict_types=1);

namespace Vouchers;

interface VoucherStore
{
    /** Stores a code; returns false if the code exists already. Atomic. */
    public function insertIfAbsent(string $code, string $campaign): bool;
}

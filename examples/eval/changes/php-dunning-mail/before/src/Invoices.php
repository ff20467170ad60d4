<?php

declare(strict_types=1);

namespace Dunning;

final class Invoice
{
    public function __construct(
        public readonly string $number,
        public readonly string $email,
        public readonly int $openCents,
    ) {
    }
}

interface Invoices
{
    /**
     * Returns the open invoices that were due on or before the day and have not been
     * reminded.
     *
     * @return list<Invoice>
     */
    public function withoutReminder(\DateTimeImmutable $dueUntil): array;

    public function markReminded(Invoice $invoice, \DateTimeImmutable $time): void;
}

<?php

declare(strict_types=1);

namespace Dunning;

use DateTimeImmutable;

final class ReminderRun
{
    private const DAYS_OVERDUE = 14;

    public function __construct(
        private readonly Invoices $invoices,
        private readonly Mailer $mailer,
    ) {
    }

    /** Sends the reminders that are due and returns their number. */
    public function run(DateTimeImmutable $now): int
    {
        $dueUntil = $now->modify('-' . self::DAYS_OVERDUE . ' days');
        $sent = 0;
        foreach ($this->invoices->withoutReminder($dueUntil) as $invoice) {
            $this->remind($invoice, $now);
            $sent++;
        }
        return $sent;
    }

    private function remind(Invoice $invoice, DateTimeImmutable $now): void
    {
        $this->mailer->send($invoice->email, 'payment-reminder', [
            'number' => $invoice->number,
            'amount' => number_format($invoice->openCents / 100, 2, '.', ''),
        ]);
        $this->invoices->markReminded($invoice, $now);
    }
}

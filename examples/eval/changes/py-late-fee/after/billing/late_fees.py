"""Late fees on overdue invoices."""
from collections.abc import Iterable
from datetime import date

from billing.models import Invoice

GRACE_DAYS = 5
RATE_PER_MILLE = 15
MIN_FEE_CENTS = 200
MAX_FEE_CENTS = 5_000


def is_fee_due(invoice: Invoice, today: date) -> bool:
    """Returns true if the nightly run of `today` charges a fee on the invoice."""
    if invoice.account.fee_exempt or invoice.fee_charged_on is not None:
        return False
    if invoice.open_cents <= 0:
        return False
    days_late = (today - invoice.due_on).days
    return days_late >= GRACE_DAYS


def fee_cents(open_cents: int) -> int:
    fee = (open_cents * RATE_PER_MILLE + 500) // 1000
    return min(max(fee, MIN_FEE_CENTS), MAX_FEE_CENTS)


def charge_late_fees(invoices: Iterable[Invoice], today: date) -> list[Invoice]:
    """Adds the fee to each invoice that is late and returns the charged invoices."""
    charged = []
    for invoice in invoices:
        if not is_fee_due(invoice, today):
            continue
        invoice.open_cents += fee_cents(invoice.open_cents)
        invoice.fee_charged_on = today
        charged.append(invoice)
    return charged

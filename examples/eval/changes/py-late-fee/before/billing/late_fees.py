"""Late fees on overdue invoices."""
from collections.abc import Iterable
from datetime import date

from billing.models import Invoice

FEE_CENTS = 500


def charge_late_fees(invoices: Iterable[Invoice], today: date) -> list[Invoice]:
    """Adds the fee to each invoice that is late and returns the charged invoices."""
    charged = []
    for invoice in invoices:
        if invoice.fee_charged_on is not None or invoice.due_on >= today:
            continue
        invoice.open_cents += FEE_CENTS
        invoice.fee_charged_on = today
        charged.append(invoice)
    return charged

"""CSV export of the ledger, see docs/ledger-export.md."""
import csv
from collections.abc import Iterable
from typing import TextIO

from ledger.reader import Entry, LedgerReader


def summarize(entries: Iterable[Entry]) -> tuple[int, int]:
    """Returns the number of entries and their sum in cents."""
    count = 0
    cents = 0
    for entry in entries:
        count += 1
        cents += entry.cents
    return count, cents


def export_month(reader: LedgerReader, year: int, month: int, target: TextIO) -> None:
    """Writes the total line and the entries of a month; `target` is opened with newline=""."""
    entries = reader.entries(year, month)
    count, cents = summarize(entries)
    writer = csv.writer(target)
    writer.writerow(["total", count, cents])
    for entry in entries:
        writer.writerow([entry.day.isoformat(), entry.account, entry.cents])

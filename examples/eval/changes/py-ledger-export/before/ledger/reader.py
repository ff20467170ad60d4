"""Reading of the ledger."""
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Entry:
    day: date
    account: str
    cents: int


class LedgerReader:
    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries

    def entries(self, year: int, month: int) -> Iterator[Entry]:
        """Yields the entries of a month one by one, straight from the file."""
        for entry in self._entries:
            if (entry.day.year, entry.day.month) == (year, month):
                yield entry

"""Import of price lists."""
import csv
import re
from typing import TextIO

from prices.table import PriceTable

PRICE = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,2}))?")


class ImportFailed(Exception):
    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"line {line}: {reason}")
        self.line = line


def parse_cents(text: str) -> int:
    match = PRICE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a price: {text!r}")
    whole, places = match.groups()
    return int(whole) * 100 + int((places or "").ljust(2, "0"))


def import_prices(table: PriceTable, source: TextIO) -> int:
    """Imports rows of article and price, returns the number of rows."""
    rows = csv.reader(source)
    count = 0
    with table.lock:
        table.begin()
        try:
            next(rows, None)
            for article, price in rows:
                table.set(article, parse_cents(price))
                count += 1
            table.commit()
        except (ValueError, csv.Error) as error:
            table.rollback()
            raise ImportFailed(rows.line_num, str(error)) from error
        except BaseException:
            table.rollback()
            raise
    return count

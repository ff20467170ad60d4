from dataclasses import dataclass
from datetime import date


@dataclass
class Account:
    id: int
    fee_exempt: bool = False


@dataclass
class Invoice:
    id: int
    account: Account
    due_on: date
    open_cents: int
    fee_charged_on: date | None = None

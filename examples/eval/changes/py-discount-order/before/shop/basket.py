from dataclasses import dataclass, field


@dataclass(frozen=True)
class Line:
    sku: str
    unit_cents: int
    quantity: int

    @property
    def total_cents(self) -> int:
        return self.unit_cents * self.quantity


@dataclass(frozen=True)
class Voucher:
    """Either `percent` (1 to 100) or `amount_cents` is set; the other one is 0."""

    code: str
    percent: int = 0
    amount_cents: int = 0


@dataclass
class Basket:
    lines: list[Line] = field(default_factory=list)
    vouchers: list[Voucher] = field(default_factory=list)
    shipping_cents: int = 0

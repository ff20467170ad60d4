from dataclasses import dataclass


@dataclass(frozen=True)
class Article:
    """Packing data of an article. `per_parcel` is at least 1, `per_pallet` may be 0;
    the constructor enforces both."""

    sku: str
    per_pallet: int
    per_parcel: int

    def __post_init__(self) -> None:
        if self.per_parcel < 1 or self.per_pallet < 0:
            raise ValueError(f"article {self.sku}: impossible packing data")


@dataclass(frozen=True)
class TransferLine:
    article: Article
    quantity: int

    def __post_init__(self) -> None:
        if self.quantity < 0:
            raise ValueError(f"article {self.article.sku}: negative quantity")

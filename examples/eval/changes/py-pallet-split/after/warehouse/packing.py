"""Packing of transfer lines, see docs/pallets.md."""
from dataclasses import dataclass

from warehouse.articles import TransferLine


@dataclass(frozen=True)
class Packing:
    pallets: int
    parcels: list[int]


def pack_line(line: TransferLine) -> Packing:
    """Returns the number of pallets and the units of each parcel."""
    article = line.article
    pallets = line.quantity // article.per_pallet if article.per_pallet else 0
    loose = line.quantity - pallets * article.per_pallet
    full, rest = divmod(loose, article.per_parcel)
    parcels = [article.per_parcel] * full
    if rest:
        parcels.append(rest)
    return Packing(pallets, parcels)


def count_labels(lines: list[TransferLine]) -> int:
    """Returns the number of shipping labels: one per pallet and one per parcel."""
    packings = [pack_line(line) for line in lines]
    return sum(packing.pallets + len(packing.parcels) for packing in packings)

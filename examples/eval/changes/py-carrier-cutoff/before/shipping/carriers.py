"""Carrier master data."""
from datetime import time

_CUTOFFS = {
    "parcelo": time(15, 30),
    "nordpost": time(12, 0),
    "kurier24": None,
}


def cutoff_for(carrier: str) -> time | None:
    """Returns the daily cutoff, or None for a carrier that collects around the clock.

    Raises KeyError for an unknown carrier.
    """
    return _CUTOFFS[carrier]

"""Dispatch day of an order, see docs/dispatch.md."""
from datetime import date, datetime, timedelta

from shipping.carriers import cutoff_for

SATURDAY = 5


def is_working_day(day: date) -> bool:
    return day.weekday() < SATURDAY


def next_working_day(day: date) -> date:
    day += timedelta(days=1)
    while not is_working_day(day):
        day += timedelta(days=1)
    return day


def dispatch_day(carrier: str, placed_at: datetime) -> date:
    """Returns the day on which an order placed at `placed_at` leaves the warehouse."""
    cutoff = cutoff_for(carrier)
    placed_on = placed_at.date()
    if not is_working_day(placed_on):
        return next_working_day(placed_on)
    if placed_at.time() > cutoff:
        return next_working_day(placed_on)
    return placed_on


def dispatch_label(carrier: str, placed_at: datetime) -> str:
    day = dispatch_day(carrier, placed_at)
    if day == placed_at.date():
        return "Leaves today"
    return f"Leaves on {day:%A, %d.%m.}"

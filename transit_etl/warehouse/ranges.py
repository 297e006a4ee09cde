"""Groups service dates into the ranges that are built, or copied, in one run."""

from collections.abc import Iterable, Iterator
from datetime import date

from transit_etl.identity import service_days
from transit_etl.service_day import DAY
from transit_etl.settings import Settings

DAYS_AT_ONCE = 7  # of one operator: bounds the memory of a build


def days_at_once(settings: Settings) -> int:
    """Return how many service dates are built in one run: fewer where there are several operators."""
    return max(1, DAYS_AT_ONCE // max(1, len(service_days(settings))))


def date_ranges(dates: Iterable[date], at_once: int = DAYS_AT_ONCE) -> Iterator[tuple[date, date]]:
    """Group sorted dates into ranges without gaps of so many days at most."""
    days: list[date] = []
    for day in dates:
        if days and (day != days[-1] + DAY or len(days) == at_once):
            yield days[0], days[-1]
            days = []
        days.append(day)
    if days:
        yield days[0], days[-1]

"""Groups service dates into the ranges that are built, or copied, in one run."""

from collections.abc import Iterable, Iterator
from datetime import date

from transit_etl.service_day import DAY

DAYS_AT_ONCE = 7  # bounds the memory of a build


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

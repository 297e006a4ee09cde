"""Groups service dates into the ranges that are built, or copied, in one run."""

from collections.abc import Iterable, Iterator
from datetime import date

from transit_etl.identity import service_days
from transit_etl.paths import lake_day, lake_files
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings

DAYS_AT_ONCE = 7  # of one operator: bounds the memory of a build
_TO_COME_AS_ONE = 4  # of dates to come there is only what is planned: as many count as one with answers


def days_at_once(settings: FolderSettings) -> int:
    """Return how many service dates are built in one run: fewer where there are several operators."""
    return max(1, DAYS_AT_ONCE // max(1, len(service_days(settings))))


def answered_until(settings: FolderSettings) -> date:
    """Return the last UTC day with requests in the lake; `date.min` if none: all dates are to come."""
    return max((lake_day(path)[1] for path in lake_files(settings.data_dir, "requests")), default=date.min)


def date_ranges(
    dates: Iterable[date], at_once: int = DAYS_AT_ONCE, *, answered: date = date.max
) -> Iterator[tuple[date, date]]:
    """Group sorted dates into ranges without gaps of so many days at most.

    Dates after `answered` are less work: four count as one.
    """
    days: list[date] = []
    size = 0
    for day in dates:
        work = _TO_COME_AS_ONE if day <= answered else 1
        if days and (day != days[-1] + DAY or size + work > at_once * _TO_COME_AS_ONE):
            yield days[0], days[-1]
            days, size = [], 0
        days.append(day)
        size += work
    if days:
        yield days[0], days[-1]

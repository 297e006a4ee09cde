"""Converts between instants, clock times and service days in the operator's time zone.

A service day starts at the cutoff (04:00 local time unless set otherwise) and has the date on which it
starts. Its seconds count from noon minus twelve hours, as in GTFS, so a clock change does not shift them.
Staging applies the same rules to whole columns, with the UTC offsets that `offsets` lists.
"""

from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
# Service dates outside this range come from a wrong clock or a misread text: nothing is built for them.
FIRST_DATE, LAST_DATE = date(2000, 1, 1), date(2099, 12, 31)


class Offset(NamedTuple):
    """From `valid_from` (UTC) on, local time is UTC plus `seconds`, until the next one."""

    valid_from: datetime
    seconds: int


def offset_seconds(instant: datetime, zone: ZoneInfo) -> int:
    """Return how many seconds local time is ahead of UTC at an aware instant."""
    offset = instant.astimezone(zone).utcoffset()
    assert offset is not None  # noqa: S101 - a ZoneInfo always has one
    return int(offset.total_seconds())


def offsets(zone: ZoneInfo, first: datetime, last: datetime) -> list[Offset]:
    """List the UTC offsets in force from `first` to `last` (aware), oldest first, exact to the second."""
    found = [Offset(first.astimezone(UTC), offset_seconds(first, zone))]
    before = found[0].valid_from
    while before < last:
        after = min(before + DAY, last.astimezone(UTC))
        if offset_seconds(after, zone) != found[-1].seconds:
            changed_at = _first_instant_after_change(before, after, zone)
            found.append(Offset(changed_at, offset_seconds(changed_at, zone)))
        before = after
    return found


def service_date(instant: datetime, zone: ZoneInfo, cutoff: time) -> date:
    """Return the service day an aware instant belongs to."""
    local = instant.astimezone(zone)
    return local.date() if local.time() >= cutoff else local.date() - DAY


def seconds_of(clock_time: time) -> int:
    """Return the seconds from midnight to a clock time."""
    return clock_time.hour * 3600 + clock_time.minute * 60 + clock_time.second


def is_possible(day: date) -> bool:
    """Return whether a service date may be right: it lies between FIRST_DATE and LAST_DATE."""
    return FIRST_DATE <= day <= LAST_DATE


@lru_cache(maxsize=8_192)  # answers list the same times again and again
def parse_clock(text: str) -> int:
    """Read `HH:MM` or `HH:MM:SS` (24 hours or more too) as seconds; ValueError quotes other text."""
    fields = text.strip().split(":")
    if len(fields) not in (2, 3) or not all(field.isdigit() for field in fields):
        raise ValueError(f"not a clock time: {text!r}")
    hours, minutes, seconds = (int(field) for field in [*fields, "0"][:3])
    if minutes > 59 or seconds > 59:  # noqa: PLR2004 - the limits of a clock
        raise ValueError(f"not a clock time: {text!r}")
    return hours * 3600 + minutes * 60 + seconds


class ClockFace:
    """Reads clock times without a date as the instants nearest to `near` (aware; within 12 h).

    Around a clock change each of the two UTC offsets gives a reading. A time that local clocks show is
    preferred to one that they skip, and of two that they show the nearer.
    """

    def __init__(self, near: datetime, zone: ZoneInfo) -> None:
        self._near = near.astimezone(UTC)
        self._zone = zone
        self._shown = {
            seconds: _shown_seconds(self._near + timedelta(seconds=seconds))
            for seconds in {offset_seconds(near - DAY / 2, zone), offset_seconds(near + DAY / 2, zone)}
        }

    def seconds_ahead(self, clock_seconds: int) -> float:
        """Return how many seconds after `near` local clocks show a time; negative if before it."""
        readings = [
            ((clock_seconds - shown + 43_200) % 86_400 - 43_200, offset)
            for offset, shown in self._shown.items()
        ]
        return readings[0][0] if len(readings) == 1 else min(readings, key=self._preference)[0]

    def _preference(self, reading: tuple[float, int]) -> tuple[bool, float, float]:
        ahead, offset = reading
        is_skipped = offset_seconds(self._near + timedelta(seconds=ahead), self._zone) != offset
        return is_skipped, abs(ahead), ahead


def _shown_seconds(local: datetime) -> float:
    """Return the seconds since midnight, given local time as if it were UTC."""
    return (local - local.replace(hour=0, minute=0, second=0, microsecond=0)).total_seconds()


def _first_instant_after_change(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    old = offset_seconds(before, zone)
    before = before.replace(microsecond=0)  # clocks change on a whole second
    after = after.replace(microsecond=0) + timedelta(seconds=1)
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if offset_seconds(middle, zone) == old:
            before = middle
        else:
            after = middle
    return after

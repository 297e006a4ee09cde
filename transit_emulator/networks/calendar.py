"""Calendars: the services of each date, by kind of day for built-in networks, as published for a feed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

WORKDAY, SATURDAY, HOLIDAY = "FER", "SAB", "FES"
_SATURDAY_NUMBER, _SUNDAY_NUMBER = 5, 6
_FIXED_HOLIDAYS = frozenset(
    [(1, 1), (1, 6), (4, 25), (5, 1), (6, 2), (8, 15), (11, 1), (12, 8), (12, 25), (12, 26)]
)


def easter(year: int) -> date:
    """Return Easter Sunday of a year (the anonymous Gregorian rule)."""
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    m = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def is_holiday(day: date) -> bool:
    """Tell whether the service is that of a Sunday: Sundays, Italian public holidays, Easter Monday."""
    if day.weekday() == _SUNDAY_NUMBER or (day.month, day.day) in _FIXED_HOLIDAYS:
        return True
    return day == easter(day.year) + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class WeekCalendar:
    """A calendar with three kinds of days: working day, Saturday and holiday."""

    first_date: date = date(2020, 1, 1)
    last_date: date = date(2039, 12, 31)

    def services_on(self, day: date) -> frozenset[str]:
        """Return the one service of the date's kind, and `TUE` on Tuesdays."""
        if not self.first_date <= day <= self.last_date:
            return frozenset()
        if is_holiday(day):
            return frozenset([HOLIDAY])
        if day.weekday() == _SATURDAY_NUMBER:
            return frozenset([SATURDAY])
        return frozenset([WORKDAY, "TUE"]) if day.weekday() == 1 else frozenset([WORKDAY])


@dataclass(frozen=True)
class FeedCalendar:
    """A calendar with the services that a feed publishes for each date."""

    services_by_date: Mapping[date, frozenset[str]]

    @property
    def first_date(self) -> date:
        """The first date with any service."""
        return min(self.services_by_date)

    @property
    def last_date(self) -> date:
        """The last date with any service."""
        return max(self.services_by_date)

    def services_on(self, day: date) -> frozenset[str]:
        """Return the services published for a date."""
        return self.services_by_date.get(day, frozenset())

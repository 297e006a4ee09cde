"""Gives summer and winter different timetables, and announces each change of season some days before."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

from transit_emulator import noise
from transit_emulator.days.news import Announcement
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Calendar, Network, Trip

SUMMER, WINTER = "summer", "winter"
_JUNE, _SEPTEMBER = 6, 9
_SOONEST_DAYS, _LONGEST_DAYS = 7, 14  # how long before its first date a timetable is announced
_HOUR = 3600
_WITHDRAWN_SHARE, _MOVED_SHARE, _EXTRA_SHARE = 0.05, 0.25, 0.04  # of the trips of winter
_LARGEST_MOVE_MINUTES = 6
_SERVICE_DAY = (4 * _HOUR, 28 * _HOUR)


@dataclass(frozen=True)
class SeasonCalendar:
    """Adds, to the services of each date, those of its season."""

    base: Calendar
    seed: int
    zone: ZoneInfo

    @property
    def first_date(self) -> date:
        """The first date covered."""
        return self.base.first_date

    @property
    def last_date(self) -> date:
        """The last date covered."""
        return self.base.last_date

    def services_on(self, day: date) -> frozenset[str]:
        """Return the services that run on a date."""
        return self._services(day, _season(season_start(day)))

    def services_before(self, day: date) -> frozenset[str]:
        """Return the services that would run on a date if the previous season had not ended."""
        return self._services(day, WINTER if _season(season_start(day)) == SUMMER else SUMMER)

    def announced_at(self, day: date) -> int:
        """Return when the timetable that is valid on a date was, or will be, announced."""
        start = season_start(day)
        name = f"{self.seed}/season/{start.isoformat()}"
        days = _SOONEST_DAYS + noise.pick(_LONGEST_DAYS - _SOONEST_DAYS + 1, name, "days")
        return at_local(start - ONE_DAY * days, (10 + noise.pick(9, name, "hour")) * _HOUR, self.zone)

    def announced_on(self, day: date) -> list[Announcement]:
        """Return the timetable that is announced on a local date; an empty list on most dates."""
        start = season_start(day + ONE_DAY * _LONGEST_DAYS)
        announced = self.announced_at(start)
        is_then = at_local(day, 0, self.zone) <= announced < at_local(day + ONE_DAY, 0, self.zone)
        return [Announcement(announced, start)] if is_then else []

    def _services(self, day: date, season: str) -> frozenset[str]:
        services = self.base.services_on(day)
        return services | {_in_season(service, season) for service in services}


def season_start(day: date) -> date:
    """Return the first date of the season a date is in: the second Monday of June, or of September."""
    starts = (
        _second_monday(day.year - 1, _SEPTEMBER),
        _second_monday(day.year, _JUNE),
        _second_monday(day.year, _SEPTEMBER),
    )
    return max(start for start in starts if start <= day)


def with_seasons(network: Network, calendar: SeasonCalendar) -> Network:
    """Return a network with a summer timetable: that of winter with some trips withdrawn, moved or added."""
    trips = tuple(changed for trip in network.trips for changed in _in_seasons(trip, calendar.seed))
    return replace(network, trips=trips, calendar=calendar)


def _in_seasons(trip: Trip, seed: int) -> Iterator[Trip]:
    """Yield a trip as it runs in winter and in summer; one trip where both are the same."""
    name = f"{seed}/season/{trip.id}"
    draw = noise.unit(name)
    minutes = 1 + noise.pick(_LARGEST_MOVE_MINUTES, name, "minutes")
    summer = _moved(trip, 60 * minutes if noise.unit(name, "later") < 0.5 else -60 * minutes)  # noqa: PLR2004 - half
    if draw < _WITHDRAWN_SHARE:
        yield replace(trip, service=_in_season(trip.service, WINTER))
    elif draw < _WITHDRAWN_SHARE + _MOVED_SHARE and summer is not None:
        yield replace(trip, service=_in_season(trip.service, WINTER))
        yield summer
    else:
        yield trip
        if draw >= 1 - _EXTRA_SHARE and summer is not None:
            yield replace(summer, id=f"{trip.id}E")


def _moved(trip: Trip, seconds: int) -> Trip | None:
    """Return a trip at its time in summer; None if that is on another service day."""
    if not _SERVICE_DAY[0] <= trip.times[0] + seconds < _SERVICE_DAY[1]:
        return None
    times = tuple(time + seconds for time in trip.times)
    return replace(trip, service=_in_season(trip.service, SUMMER), times=times)


def _in_season(service: str, season: str) -> str:
    return f"{service}@{season}"


def _season(start: date) -> str:
    return SUMMER if start.month == _JUNE else WINTER


def _second_monday(year: int, month: int) -> date:
    first = date(year, month, 1)
    return first + timedelta(days=(7 - first.weekday()) % 7 + 7)

"""Tells the planner of the timetable, and keeps over windows and days which scheduled times were read.

If the file that keeps them is lost, they are read again. So is each one some weeks after it was read first,
because the timetable may have changed: each day has its own departures to forget.
"""

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from pydantic import TypeAdapter

from transit_base.files import locked
from transit_etl.collect.isolation import Failures
from transit_etl.collect.known_network import Catalogue, LineDirection
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.schedule_reading import LineSchedule, TimetableDeparture
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.kept_facts import keep, recall
from transit_etl.line_labels import normal_label
from transit_etl.paths import schedules_file, schedules_lock
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import CollectSettings


@dataclass(frozen=True, slots=True)
class _LineTimes:
    read: dict[int, int]
    unlisted: dict[int, int]


@dataclass(frozen=True, slots=True)
class _ReadTimes:
    """What was read, by line; the departures of the service dates up to `day` were forgotten."""

    day: date
    lines: dict[str, _LineTimes]


_READ_TIMES = TypeAdapter(_ReadTimes)


class KnownSchedules:
    """The schedules of all lines in each direction. A failure to renew them is counted, no more."""

    def __init__(
        self,
        settings: CollectSettings,
        catalogue: Catalogue,
        directions: Iterable[LineDirection],
        failures: Failures,
    ) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._failures = failures
        self._stops = {(known.line_code, known.direction): line_stops(known) for known in directions}
        self.schedules = {stops: LineSchedule() for stops in self._stops.values()}
        self._day: date | None = None
        self._renewed_until = datetime.min.replace(tzinfo=UTC)

    def renew(self, now: datetime) -> None:
        """Read timetables and exchange with the file, unless that was done less than a window ago."""
        if now >= self._renewed_until:
            self.read_timetables(now)
            self.exchange(now)

    def read_timetables(self, now: datetime) -> None:
        """Take the departures of today, and of the dates around it, over from the lake."""
        self._renewed_until = now + timedelta(seconds=self._settings.window_seconds)
        self._try("reading timetables for the planner", self._set_departures, now)

    def exchange(self, now: datetime) -> None:
        """Add what the file keeps to what is known here, and keep both."""
        self._try("keeping which scheduled times were read", self._exchange, now)

    def _try(self, step: str, act: Callable[[date], None], now: datetime) -> None:
        try:
            act(service_date(now, self._settings.zone, self._settings.service_day_cutoff))
        except Exception as error:  # noqa: BLE001 - the rest of the collection goes on without it
            self._failures.add(step, error)

    def _set_departures(self, today: date) -> None:
        found: dict[LineStops, set[TimetableDeparture]] = defaultdict(set)
        for line_code, direction, leaves_at, seconds in self._catalogue.departures(today - DAY, today + DAY):
            stops = self._stops.get((line_code, direction))
            if stops is not None:
                found[stops].add(TimetableDeparture(leaves_at, seconds))
        for stops, schedule in self.schedules.items():
            schedule.departures = sorted(found[stops])

    def _exchange(self, today: date) -> None:
        place = (self._settings.data_dir, self._settings.operator)
        file = schedules_file(*place)
        with locked(schedules_lock(*place)):
            kept = recall(file, _READ_TIMES) or _ReadTimes(today, {})
            lines = {}
            for stops, schedule in self.schedules.items():
                name = _name(stops)
                of_file = kept.lines.get(name, _LineTimes({}, {}))
                for known, more in ((schedule.read, of_file.read), (schedule.unlisted, of_file.unlisted)):
                    _forget(known, name, self._day or today, today)
                    _forget(more, name, kept.day, today)
                    for seconds, bits in more.items():
                        known[seconds] = known.get(seconds, 0) | bits
                lines[name] = _LineTimes(schedule.read, schedule.unlisted)
            self._day = today
            keep(file, _READ_TIMES, _ReadTimes(today, lines))


def line_stops(known: LineDirection) -> LineStops:
    """Return what the planner is told of a line in one direction."""
    return LineStops(normal_label(known.line_number or known.line_code), known.stop_codes)


def _name(stops: LineStops) -> str:
    """Return what a line's times are kept under: another name once its stops change."""
    return f"{stops.label} {zlib.crc32(','.join(stops.stop_codes).encode()):08x}"


def _forget(times: dict[int, int], name: str, after: date, until: date) -> None:
    """Forget the departures whose turn is on one of some dates, the first one left out."""
    n_days, first_turn = DEFAULTS.schedule.memory_days, zlib.crc32(name.encode())
    turns = {(until - DAY * back).toordinal() % n_days for back in range(min(n_days, (until - after).days))}
    for seconds in [each for each in times if (first_turn + each // 60) % n_days in turns]:
        del times[seconds]

"""Answers what is published, what really happens and what is listed, as functions of the instant."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo

from transit_emulator import noise, texts
from transit_emulator.days.board import Board
from transit_emulator.days.events import Event
from transit_emulator.days.listing import HORIZON_SECONDS, PER_LINE, ListedPassage, listed, recently_passed
from transit_emulator.days.motion import NEVER
from transit_emulator.days.news import LISTED_DAYS, NewsItem
from transit_emulator.days.recorded_days import RecordedDays
from transit_emulator.days.revisions import Change, before_change, changes, is_published_on, line_on
from transit_emulator.days.simulated_days import SimulatedDays
from transit_emulator.days.timetable import Service, timetable
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.local_time import ONE_DAY, local
from transit_emulator.networks.actuals import read_recording
from transit_emulator.networks.city import city_network, metropolis_network
from transit_emulator.networks.gtfs import gtfs_network
from transit_emulator.networks.network import Line, Network
from transit_emulator.networks.shapes import shapes_network
from transit_emulator.networks.small import small_network

_PADDED_SHARE = 0.3
_BUSY_SECONDS = 8 * 3600
_NETWORKS: dict[str, Callable[[], Network]] = {
    "small": small_network,
    "city": city_network,
    "metropolis": metropolis_network,
    "shapes": shapes_network,
}
NETWORK_NAMES = tuple(_NETWORKS)


class UnknownStopError(LookupError):
    """No stop of the network has this code."""


class UnknownLineError(LookupError):
    """No line of the network has this code."""


class UnknownNewsError(LookupError):
    """No news item of this id has been published."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as a stop lists it; `shown_id` is the trip id that the stop shows."""

    service_date: date
    trip_id: str
    shown_id: str
    line_code: str
    line_label: str
    destination: str
    shown_at: int
    is_theoretical: bool
    is_full: bool
    stop_sequence: int


class World(SimulatedDays):
    """A simulated network: every answer is a function of the network, the seed and an instant."""

    def line(self, code: str) -> int:
        """Return the position of a line; raise UnknownLineError if there is none of this code."""
        try:
            return self.network.line_position[code]
        except KeyError:
            raise UnknownLineError(f"linea sconosciuta: {code}") from None

    def lines(self, now: datetime) -> list[Line]:
        """Return the lines as they are published at an instant."""
        return self.lines_on(local(now.timestamp(), self.network.zone).date())

    def lines_on(self, day: date) -> list[Line]:
        """Return the lines as they are published on a local date."""
        if not self.has_revisions:
            return list(self.network.lines)
        return [
            line_on(line, self.seed, day)
            for line in self.network.lines
            if is_published_on(line, self.seed, day)
        ]

    def published_line(self, code: str, now: datetime) -> Line:
        """Return a line as it is published at an instant, or raise UnknownLineError."""
        known = self.network.lines[self.line(code)]
        for line in self.lines(now):
            if line.code == known.code:
                return line
        raise UnknownLineError(f"linea sconosciuta: {code}")

    def timetable(self, line: int, day: date, now: datetime | None = None) -> tuple[Service, ...]:
        """Return a line's departures of a service date as published at `now`, or finally."""
        instant = NEVER if now is None else now.timestamp()
        announced = self.announced_at(day)
        is_announced = announced is None or instant >= announced
        schedule = self.schedule(day) if is_announced else self.schedule_before(day)
        services = timetable(self.network, schedule, line)
        for change in self.timetable_changes(line, day):
            if instant < change.at:
                changed = self.network.lines[line]
                services = before_change(
                    self.network, schedule, changed, services, seed=self.seed, reason=change.reason
                )
        return services

    def announced_at(self, day: date) -> int | None:
        """Return until when a date has the timetable of the previous season; None if it never has."""
        return self.seasons.announced_at(day) if self.seasons else None

    def timetable_changes(self, line: int, day: date) -> list[Change]:
        """Return how a line's timetable for a date is revised, but for the season, in order."""
        if not self.has_revisions:
            return []
        return changes(self.network, self.seed, self.network.lines[line], day)

    def passages(self, stop_code: str, now: datetime, *, is_tracked: bool = True) -> list[Passage]:
        """Return what a stop lists at an instant: the next two of each line, soonest first.

        Without `is_tracked` it lists the timetable alone.
        """
        stop, instant = self._stop(stop_code), now.timestamp()
        found = [
            self._passage(stop, day_board, item)
            for day_board in self._boards(instant)
            for item in listed(day_board, stop, instant, is_tracked=is_tracked)
        ]
        found.sort(key=lambda passage: (passage.shown_at, passage.service_date, passage.trip_id))
        return _next_of_each_line(found)

    def recently_passed(self, stop_code: str, now: datetime, within_seconds: int) -> list[Passage]:
        """Return the tracked buses that passed a stop in the last seconds; `shown_at` is when they did."""
        stop, instant = self._stop(stop_code), now.timestamp()
        return [
            self._passage(stop, day_board, item)
            for day_board in self._boards(instant)
            for item in recently_passed(day_board, stop, instant, within_seconds)
        ]

    def status(self, now: datetime) -> list[Event]:
        """Return the disruptions listed at an instant, oldest first."""
        instant = now.timestamp()
        today = local(instant, self.network.zone).date()
        return [event for event in self.listed_on(today) if event.is_listed(instant)]

    def news(self, now: datetime) -> list[NewsItem]:
        """Return the news of the last fourteen days at an instant, newest first."""
        instant = now.timestamp()
        today = local(instant, self.network.zone).date()
        days = (today - ONE_DAY * back for back in range(LISTED_DAYS))
        found = [item for day in days for item in self.news_published(day) if item.published_at <= instant]
        return sorted(found, key=lambda item: (-item.published_at, item.id))

    def news_item(self, news_id: str, now: datetime) -> NewsItem:
        """Return a published item, listed or not; raise UnknownNewsError if there is none of this id."""
        try:
            day = datetime.strptime(news_id[:6], "%y%m%d").date()  # noqa: DTZ007 - a date, not an instant
        except ValueError:
            raise UnknownNewsError(f"notizia sconosciuta: {news_id}") from None
        for around in (day - ONE_DAY, day):
            for item in self.news_published(around):
                if item.id == news_id and item.published_at <= now.timestamp():
                    return item
        raise UnknownNewsError(f"notizia sconosciuta: {news_id}")

    def busy_instant(self, now: datetime) -> datetime:
        """Return 08:00 local time of the nearest covered date that is as busy as a working day."""
        calendar, zone = self.network.calendar, self.network.zone
        today = min(max(now.astimezone(zone).date(), calendar.first_date), calendar.last_date)
        around = sorted((today + ONE_DAY * step for step in range(-14, 15)), key=lambda day: abs(day - today))
        trips = {day: len(self.network.trips_on(day)) for day in around}
        busiest = max(trips.values())
        day = next(day for day in around if trips[day] >= 0.9 * busiest)
        return datetime.fromtimestamp(self.schedule(day).starts_at + _BUSY_SECONDS, zone)

    def label(self, stop: int, line: int, *, is_slash: bool) -> str:
        """Return a line's number as a stop shows it; some stops pad it with zeros to three digits."""
        is_padded = _pads_labels(self.network.stops[stop].code)
        return texts.label(self.network.lines[line].number, is_slash=is_slash, is_padded=is_padded)

    def _stop(self, code: str) -> int:
        try:
            return self.network.stop_position[code]
        except KeyError:
            raise UnknownStopError(f"fermata sconosciuta: {code}") from None

    def _boards(self, instant: float) -> list[Board]:
        """Return the boards of the service dates that may have passages to list."""
        zone = self.network.zone
        today = local(instant, zone).date()
        last = local(instant + 2 * HORIZON_SECONDS, zone).date()
        days = [today - ONE_DAY, today] if last == today else [today - ONE_DAY, today, last]
        return [self.board(day) for day in days]

    def _passage(self, stop: int, day_board: Board, item: ListedPassage) -> Passage:
        trip = self.network.trips[int(day_board.schedule.trips[item.trip])]
        pattern = self.network.patterns[trip.pattern]
        day = day_board.schedule.service_date
        has_no_id = self.id_mode is IdMode.VEHICLE and item.is_theoretical
        return Passage(
            service_date=day,
            trip_id=trip.id,
            shown_id="" if has_no_id else self.live_ids(day)[item.trip],
            line_code=self.network.lines[pattern.line].code,
            line_label=self.label(stop, pattern.line, is_slash=pattern.is_slash),
            destination=texts.destination(pattern.headsign),
            shown_at=item.shown_at,
            is_theoretical=item.is_theoretical,
            is_full=item.is_full,
            stop_sequence=item.sequence + 1,
        )


class RecordedWorld(RecordedDays, World):
    """A world in which buses run as they were recorded."""


def build_world(
    size: str = "small",
    gtfs: Path | None = None,
    seed: int = 1,
    id_mode: IdMode = IdMode.STABLE,
    *,
    has_revisions: bool = False,
) -> World:
    """Return a world on a built-in network or a GTFS zip; raise ValueError for a bad size or zip."""
    if gtfs is not None:
        return World(gtfs_network(gtfs), seed, id_mode, has_revisions=has_revisions)
    if size not in _NETWORKS:
        raise ValueError(f"no network of size {size!r}: choose one of {', '.join(_NETWORKS)}")
    return World(_NETWORKS[size](), seed, id_mode, has_revisions=has_revisions)


def recorded_world(
    actuals: Path,
    zone: ZoneInfo,
    seed: int = 1,
    id_mode: IdMode = IdMode.STABLE,
    *,
    has_revisions: bool = False,
) -> World:
    """Return a world of the days in a table of recorded times; raise BadActualsError for a bad one."""
    return RecordedWorld(read_recording(actuals, zone), seed, id_mode, has_revisions=has_revisions)


@lru_cache(maxsize=16_384)
def _pads_labels(stop_code: str) -> bool:
    return noise.unit("padded label", stop_code) < _PADDED_SHARE


def _next_of_each_line(found: list[Passage]) -> list[Passage]:
    seen: dict[tuple[str, str], int] = {}
    kept = []
    for passage in found:
        line = (passage.line_code, passage.line_label)
        seen[line] = seen.get(line, 0) + 1
        if seen[line] <= PER_LINE:
            kept.append(passage)
    return kept

"""Reads the tables of a GTFS zip: calendar, stops, routes, and trips with their stop times."""

import csv
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from io import TextIOWrapper
from itertools import chain, islice, repeat
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile
from zoneinfo import ZoneInfo

import numpy as np

from transit_emulator.errors import EmulatorError

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_LONGEST_CALENDAR = timedelta(days=3_660)
_ADDED, _REMOVED = "1", "2"
Row = dict[str, str]


class BadFeedError(EmulatorError):
    """The file cannot be read as a GTFS feed; the message says what is wrong."""


@dataclass(slots=True)
class FeedTrip:
    """A trip as published; `times` are seconds of the service day, one per stop."""

    id: str
    route_id: str
    service: str
    direction: int
    headsign: str
    stop_ids: list[str] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    block: str = ""


class _Call(NamedTuple):
    """A row of stop_times.txt; `time` is in seconds of the service day, None if the feed has none."""

    sequence: int
    stop_id: str
    time: int | None


@dataclass(frozen=True)
class Feed:
    """The parts of a feed that the emulator uses."""

    zone: ZoneInfo
    services_by_date: dict[date, frozenset[str]]
    stops: list[Row]
    routes: list[Row]
    trips: list[FeedTrip]
    has_directions: bool = True


def read_feed(path: Path) -> Feed:
    """Read a zip; raise BadFeedError if a required table is missing or a value cannot be read."""
    try:
        with ZipFile(path) as archive:
            return _read(archive)
    except (BadZipFile, KeyError, ValueError) as error:
        raise BadFeedError(f"{path.name}: {error}") from error


def _read(archive: ZipFile) -> Feed:
    agencies = list(_rows(archive, "agency.txt"))
    return Feed(
        zone=ZoneInfo(agencies[0]["agency_timezone"]),
        services_by_date=_services_by_date(archive),
        stops=[row for row in _rows(archive, "stops.txt") if row.get("location_type", "") in ("", "0")],
        routes=list(_rows(archive, "routes.txt")),
        trips=_trips(archive),
        has_directions=any("direction_id" in row for row in islice(_rows(archive, "trips.txt"), 1)),
    )


def _rows(archive: ZipFile, name: str, *, is_optional: bool = False) -> Iterator[Row]:
    if is_optional and name not in archive.namelist():
        return
    with archive.open(name) as raw:
        lines = csv.reader(TextIOWrapper(raw, "utf-8-sig", newline=""), skipinitialspace=True)
        columns = [column.strip() for column in next(lines, [])]
        for values in filter(None, lines):
            yield dict(zip(columns, chain(map(str.strip, values), repeat("")), strict=False))


def _services_by_date(archive: ZipFile) -> dict[date, frozenset[str]]:
    """Return the union of the weekly calendar and its exceptions, or of the exceptions alone."""
    found: dict[date, set[str]] = {}
    for row in _rows(archive, "calendar.txt", is_optional=True):
        first, last = _day(row["start_date"]), _day(row["end_date"])
        last = min(last, first + _LONGEST_CALENDAR)
        for step in range((last - first).days + 1):
            day = first + timedelta(days=step)
            if row[_WEEKDAYS[day.weekday()]] == "1":
                found.setdefault(day, set()).add(row["service_id"])
    for row in _rows(archive, "calendar_dates.txt", is_optional=True):
        services = found.setdefault(_day(row["date"]), set())
        if row["exception_type"] == _ADDED:
            services.add(row["service_id"])
        elif row["exception_type"] == _REMOVED:
            services.discard(row["service_id"])
    running = {day: frozenset(services) for day, services in sorted(found.items()) if services}
    if not running:
        raise ValueError("no service runs on any date")
    return running


def _day(text: str) -> date:
    return date(int(text[:4]), int(text[4:6]), int(text[6:8]))


def _trips(archive: ZipFile) -> list[FeedTrip]:
    trips = {
        row["trip_id"]: FeedTrip(
            id=row["trip_id"],
            route_id=row["route_id"],
            service=row["service_id"],
            direction=int(row.get("direction_id") or 0),
            headsign=row.get("trip_headsign", ""),
            block=row.get("block_id", ""),
        )
        for row in _rows(archive, "trips.txt")
    }
    _add_stop_times(archive, trips)
    headways: dict[str, list[Row]] = {}
    for row in _rows(archive, "frequencies.txt", is_optional=True):
        headways.setdefault(row["trip_id"], []).append(row)
    running = [trip for trip in trips.values() if trip.stop_ids]
    return [run for trip in running for run in _repeated(trip, headways.get(trip.id, []))]


def _add_stop_times(archive: ZipFile, trips: dict[str, FeedTrip]) -> None:
    calls: dict[str, list[_Call]] = {}
    for row in _rows(archive, "stop_times.txt"):
        text = row["arrival_time"] or row["departure_time"]
        # millions of rows name a few stops
        stop_id = sys.intern(row["stop_id"])
        call = _Call(int(row["stop_sequence"]), stop_id, seconds(text) if text else None)
        calls.setdefault(row["trip_id"], []).append(call)
    for trip_id, found in calls.items():
        found.sort(key=lambda call: call.sequence)
        trip = trips[trip_id]
        trip.stop_ids = [call.stop_id for call in found]
        trip.times = filled([call.time for call in found])


def filled(times: Sequence[int | None]) -> list[int]:
    """Return times without gaps: a missing one is interpolated between its neighbours."""
    steps = [step for step, time in enumerate(times) if time is not None]
    known = [time for time in times if time is not None]
    if not known:
        raise ValueError("a trip has no stop times at all")
    return [int(time) for time in np.maximum.accumulate(np.interp(range(len(times)), steps, known))]


def _repeated(trip: FeedTrip, headways: list[Row]) -> Iterator[FeedTrip]:
    """Yield a trip, or its repetitions if the feed gives headways in place of times."""
    if not headways:
        yield trip
        return
    offsets = [time - trip.times[0] for time in trip.times]
    number = 0
    for row in headways:
        for start in range(seconds(row["start_time"]), seconds(row["end_time"]), int(row["headway_secs"])):
            number += 1
            times = [start + offset for offset in offsets]
            yield FeedTrip(
                f"{trip.id}_{number}", trip.route_id, trip.service, trip.direction, trip.headsign,
                trip.stop_ids, times,
            )  # fmt: skip


@lru_cache(maxsize=200_000)
def seconds(text: str) -> int:
    """Return the seconds of `H:MM:SS`; hours may pass 24."""
    hours, minutes, rest = text.split(":")
    return int(hours) * 3600 + int(minutes) * 60 + int(rest)

"""Writes down what is true: every scheduled and actual passage, trip, departure and event of some dates."""

import os
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from transit_emulator.days.disruptions import LONGEST_DAYS, Event
from transit_emulator.days.diversions import skipped_stops
from transit_emulator.days.motion import NEVER, TripOutcome
from transit_emulator.days.timetable import Leg, Service
from transit_emulator.days.weather import weather
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Ints
from transit_emulator.world import World

INSTANT = pa.timestamp("us")  # UTC, without a zone mark
DIRECTIONS = ("outbound", "inbound")
_Fields = list[tuple[str, pa.DataType]]
_Columns: TypeAlias = "dict[str, pa.Array[Any]]"
_TRIP: _Fields = [("service_date", pa.date32()), ("trip_id", pa.string())]
_LINE: _Fields = [("line_code", pa.string()), ("direction", pa.string())]
_COUNTS: _Fields = [("n_departures_before", pa.int64()), ("n_departures", pa.int64())]
_CALL: _Fields = [("stop_code", pa.string()), ("stop_sequence", pa.int64())]

# One row per service date. weather: dry, rain or storm, which slows the whole day.
DAYS = pa.schema([_TRIP[0], ("weather", pa.string()), ("n_trips", pa.int64()), ("n_added", pa.int64())])
# One row per scheduled call of a trip at a stop, whether the trip ran or not. is_skipped: left out on a
# diversion, though the trip may have run.
SCHEDULED = pa.schema([*_TRIP, *_LINE, *_CALL, ("scheduled_at", INSTANT), ("is_skipped", pa.bool_())])
# One row per call that happened, those of added trips too. passed_at: arrival, at the origin departure.
ACTUAL = pa.schema(
    [*_TRIP, *_LINE, *_CALL, ("passed_at", INSTANT), ("departed_at", INSTANT), ("is_full", pa.bool_())]
)
# One row per trip; one that was added is in no timetable and has no scheduled departure.
# live_id: what stops show as its id while it is live.
# live_from, lost_at, taken_off_at are null where that does not happen.
TRIPS = pa.schema([
    *_TRIP, *_LINE, ("service_code", pa.string()), ("is_slash_variant", pa.bool_()),
    ("headsign", pa.string()), ("n_stops", pa.int64()), ("scheduled_departure_at", INSTANT),
    ("outcome", pa.string()), ("vehicle_id", pa.string()), ("live_id", pa.string()),
    ("is_added", pa.bool_()), ("n_skipped_stops", pa.int64()),
    ("live_from", INSTANT), ("lost_at", INSTANT), ("taken_off_at", INSTANT),
])  # fmt: skip
# One row per departure the timetable lists, without its junk entries.
DEPARTURES = pa.schema([
    *_TRIP, *_LINE, ("service_code", pa.string()), ("departure_text", pa.string()), ("departure_at", INSTANT),
])  # fmt: skip
# One row per timetable that was revised: until revised_at it listed other departures.
REVISIONS = pa.schema([_TRIP[0], _LINE[0], ("revised_at", INSTANT), *_COUNTS])
# One row per departure and version of a timetable that listed it; a version lasts until the next.
# reason: first, season (the new season's was announced) or notice (changed at short notice).
VERSIONS = pa.schema([
    _TRIP[0], *_LINE, ("service_code", pa.string()), ("departure_text", pa.string()),
    ("departure_at", INSTANT), ("version", pa.int64()), ("reason", pa.string()),
    ("published_at", INSTANT), ("replaced_at", INSTANT),
])  # fmt: skip
# One row per event listed at some moment of the dates. lines: numbers, or one name, or null.
# skipped_stops: the stops that diverted lines leave out while it lasts.
# edited_at, absent_from and absent_until are null where its message stays and the list never forgets it.
EVENTS = pa.schema([
    ("event_id", pa.string()), ("event", pa.string()), ("category", pa.string()),
    ("lines", pa.list_(pa.string())), ("cause", pa.string()), ("message", pa.string()),
    ("started_at", INSTANT), ("listed_at", INSTANT), ("ended_at", INSTANT),
    ("edited_at", INSTANT), ("edited_message", pa.string()),
    ("absent_from", INSTANT), ("absent_until", INSTANT), ("skipped_stops", pa.list_(pa.string())),
])  # fmt: skip


def write_truth(world: World, first: date, last: date, out_dir: Path) -> list[Path]:
    """Write one Parquet file per table for the service dates from `first` to `last`, and return them.

    Files: scheduled_passages, actual_passages, trips, timetable_departures, timetable_revisions,
    timetable_versions, service_days, events. Old ones are replaced.
    """
    days = [first + ONE_DAY * step for step in range((last - first).days + 1)]
    tables = {
        "scheduled_passages": _concat(SCHEDULED, (_scheduled(world, day) for day in days)),
        "actual_passages": _concat(ACTUAL, (_actual(world, day) for day in days)),
        "trips": _concat(TRIPS, (_trips(world, day) for day in days)),
        "timetable_departures": _concat(DEPARTURES, (_departures(world, day) for day in days)),
        "timetable_revisions": _concat(REVISIONS, (_revisions(world, day) for day in days)),
        "timetable_versions": _concat(VERSIONS, (_versions(world, day) for day in days)),
        "service_days": _concat(DAYS, (_day(world, day) for day in days)),
        "events": _events(world, first, last),
    }
    out_dir.mkdir(parents=True, exist_ok=True)
    return [_write(table, out_dir / f"{name}.parquet") for name, table in tables.items()]


def _concat(schema: pa.Schema, parts: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([schema.empty_table(), *parts])


def _write(table: pa.Table, path: Path) -> Path:
    beside = path.with_name(path.name + ".part")
    with beside.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    return path


def _day(world: World, day: date) -> pa.Table:
    n_added = int(world.schedule(day).is_added.sum())
    row = (day, weather(world.seed, day).name, world.schedule(day).n_trips - n_added, n_added)
    return pa.table({name: [value] for name, value in zip(DAYS.names, row, strict=True)}, schema=DAYS)


def _scheduled(world: World, day: date) -> pa.Table:
    schedule, motion = world.schedule(day), world.motion(day)
    trip, sequence = np.nonzero(schedule.is_call & ~schedule.is_added[:, None])
    columns = _calls(world, day, trip, sequence)
    columns["scheduled_at"] = _instants(schedule.scheduled_at[trip, sequence])
    columns["is_skipped"] = pa.array(motion.is_skipped[trip, sequence])
    return pa.table(columns, schema=SCHEDULED)


def _actual(world: World, day: date) -> pa.Table:
    motion = world.motion(day)
    trip, sequence = np.nonzero(motion.is_passed)
    columns = _calls(world, day, trip, sequence)
    columns["passed_at"] = _instants(motion.passed_at[trip, sequence])
    columns["departed_at"] = _instants(motion.departed_at[trip, sequence])
    columns["is_full"] = pa.array(motion.is_full[trip, sequence])
    return pa.table(columns, schema=ACTUAL)


def _trips(world: World, day: date) -> pa.Table:
    schedule, motion = world.schedule(day), world.motion(day)
    every = np.arange(schedule.n_trips)
    patterns = [world.network.patterns[p] for p in world.network.trip_pattern[schedule.trips]]
    columns = _trip_columns(world, day, every) | {
        "service_code": pa.array([pattern.service_code for pattern in patterns], pa.string()),
        "is_slash_variant": pa.array([pattern.is_slash for pattern in patterns], pa.bool_()),
        "headsign": pa.array([pattern.headsign for pattern in patterns], pa.string()),
        "n_stops": pa.array([len(pattern.stops) for pattern in patterns], pa.int64()),
        "scheduled_departure_at": _instants(np.where(schedule.is_added, NEVER, schedule.departs_at)),
        "outcome": pa.array([TripOutcome(kind).name.lower() for kind in motion.outcome], pa.string()),
        "vehicle_id": pa.array(world.vehicles(day), pa.string()),
        "live_id": pa.array(world.live_ids(day), pa.string()),
        "is_added": pa.array(schedule.is_added),
        "n_skipped_stops": pa.array(motion.is_skipped.sum(axis=1)),
        "live_from": _instants(motion.live_from),
        "lost_at": _instants(motion.lost_at),
        "taken_off_at": _instants(np.where(schedule.is_added, NEVER, motion.taken_off_at)),
    }
    return pa.table(columns, schema=TRIPS)


def _departures(world: World, day: date) -> pa.Table:
    found = list(_listed_departures(world, day))
    columns = _trip_columns(world, day, np.array([row for row, *_ in found], dtype=np.int64)) | {
        "service_code": pa.array([code for _, code, _, _ in found], pa.string()),
        "departure_text": pa.array([text for _, _, text, _ in found], pa.string()),
        "departure_at": _instants(np.array([at for *_, at in found], dtype=np.int64)),
    }
    return pa.table(columns, schema=DEPARTURES)


def _listed_departures(world: World, day: date) -> Iterator[tuple[int, str, str, int]]:
    for line in range(len(world.network.lines)):
        for code, leg in _legs(world.timetable(line, day)):
            for departure in leg.departures:
                yield departure.trip, code, departure.text, departure.departs_at


def _revisions(world: World, day: date) -> pa.Table:
    rows = []
    for number, line in enumerate(world.network.lines):
        revised = world.revised_at(number, day)
        if revised is not None:
            before = datetime.fromtimestamp(revised - 1, UTC)
            counts = [_n_departures(world.timetable(number, day, now)) for now in (before, None)]
            rows.append((day, line.code, revised, *counts))
    columns: list[Any] = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in REVISIONS]
    columns[2] = _instants(np.array(columns[2], dtype=np.int64))
    return pa.table(columns, schema=REVISIONS)


def _versions(world: World, day: date) -> pa.Table:
    found = [row for line in range(len(world.network.lines)) for row in _versions_of(world, line, day)]
    columns: list[Any] = [list(column) for column in zip(*found, strict=True)] or [[] for _ in VERSIONS]
    for position in (5, 8, 9):
        columns[position] = _instants(np.array(columns[position], dtype=np.int64))
    return pa.table(columns, schema=VERSIONS)


def _versions_of(world: World, line: int, day: date) -> Iterator[tuple[Any, ...]]:
    """Yield the departures of each version of a line's timetable, as it was published at its beginning."""
    changes = [(world.announced_at(day), "season"), (world.revised_at(line, day), "notice")]
    begins = sorted((at, reason) for at, reason in changes if at is not None)
    code = world.network.lines[line].code
    ends = [*(at for at, _ in begins), NEVER]
    for version, (at, reason) in enumerate([(NEVER, "first"), *begins]):
        asked_at = ends[version] - 1 if ends[version] != NEVER else at
        now = None if asked_at == NEVER else datetime.fromtimestamp(asked_at, UTC)
        for service_code, leg in _legs(world.timetable(line, day, now)):
            for one in leg.departures:
                yield (day, code, DIRECTIONS[leg.direction], service_code, one.text, one.departs_at,
                       version + 1, reason, at, ends[version])  # fmt: skip


def _legs(services: Iterable[Service]) -> Iterator[tuple[str, Leg]]:
    """Yield the legs, but for junk, each with the code of its service."""
    for service in services:
        for leg in service.legs:
            if leg.description:
                yield service.code, leg


def _n_departures(services: Iterable[Service]) -> int:
    return sum(len(leg.departures) for _, leg in _legs(services))


def _events(world: World, first: date, last: date) -> pa.Table:
    zone = world.network.zone
    begins, ends = at_local(first, 0, zone), at_local(last + ONE_DAY, 0, zone)
    days = (first + ONE_DAY * step for step in range(-LONGEST_DAYS, (last - first).days + 1))
    found = [event for day in days for event in world.events(day)]
    found = [event for event in found if event.listed_at < ends and event.ended_at > begins]
    columns: dict[str, Any] = {
        "event_id": [event.id for event in found],
        "event": [event.event for event in found],
        "category": [event.category for event in found],
        "lines": [[event.lines] if isinstance(event.lines, str) else event.lines for event in found],
        "cause": [event.cause for event in found],
        "message": [event.message for event in found],
        "skipped_stops": [_skipped_stops(world, event) for event in found],
        "edited_message": [event.edited_message or None for event in found],
    }
    for name in ("started_at", "listed_at", "ended_at", "edited_at", "absent_from", "absent_until"):
        instants = np.array([getattr(event, name) for event in found], dtype=np.int64)
        columns[name] = _instants(np.where(instants == 0, NEVER, instants))
    return pa.table(columns, schema=EVENTS)


def _skipped_stops(world: World, event: Event) -> list[str]:
    stops = {stop for stops in skipped_stops(world.network, event).values() for stop in stops}
    return sorted(world.network.stops[stop].code for stop in stops)


def _calls(world: World, day: date, trip: Ints, sequence: Ints) -> _Columns:
    stops = world.schedule(day).stops[trip, sequence]
    return _trip_columns(world, day, trip) | {
        "stop_code": pa.array([world.network.stops[stop].code for stop in stops], pa.string()),
        "stop_sequence": pa.array(sequence + 1),
    }


def _trip_columns(world: World, day: date, rows: Ints) -> _Columns:
    network, trips = world.network, world.schedule(day).trips[rows]
    patterns = [network.patterns[p] for p in network.trip_pattern[trips]]
    return {
        "service_date": pa.array([day] * len(rows), pa.date32()),
        "trip_id": pa.array([network.trips[trip].id for trip in trips], pa.string()),
        "line_code": pa.array([network.lines[pattern.line].code for pattern in patterns], pa.string()),
        "direction": pa.array([DIRECTIONS[pattern.direction] for pattern in patterns], pa.string()),
    }


def _instants(seconds: Ints) -> "pa.Array[Any]":
    known = seconds != NEVER
    micros = np.where(known, seconds, 0) * 1_000_000
    return pa.array(micros, pa.int64(), mask=~known).cast(INSTANT)

"""Tables of what the timetables of a service date listed: departures, revisions and versions."""

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from transit_emulator.days.motion import NEVER
from transit_emulator.days.revisions import Change
from transit_emulator.days.timetable import Departure, Leg, Service
from transit_emulator.truth.columns import DIRECTIONS, instants, table_of, trip_columns
from transit_emulator.truth.schemas import DEPARTURES, REVISIONS, VERSIONS
from transit_emulator.world import World


class _ServiceLeg(NamedTuple):
    service_code: str
    leg: Leg


class _Revision(NamedTuple):
    service_date: date
    line_code: str
    revised_at: int
    reason: str
    n_departures_before: int
    n_departures: int


class _VersionRow(NamedTuple):
    service_date: date
    trip_id: str
    line_code: str
    direction: str
    service_code: str
    headsign: str
    departure_text: str
    departure_at: int
    version: int
    reason: str
    published_at: int
    replaced_at: int


def departures(world: World, day: date) -> pa.Table:
    """Return the departures of the final timetables of a service date."""
    found: list[tuple[str, Departure]] = [
        (service_code, departure)
        for line in range(len(world.network.lines))
        for service_code, leg in _legs(world.timetable(line, day))
        for departure in leg.departures
    ]
    rows = np.array([departure.trip for _, departure in found], dtype=np.int64)
    columns = trip_columns(world, day, rows) | {
        "service_code": pa.array([service_code for service_code, _ in found], pa.string()),
        "departure_text": pa.array([departure.text for _, departure in found], pa.string()),
        "departure_at": instants(np.array([departure.departs_at for _, departure in found], dtype=np.int64)),
    }
    return pa.table(columns, schema=DEPARTURES)


def revisions(world: World, day: date) -> pa.Table:
    """Return the timetables of a service date that were revised."""
    rows = []
    for number, line in enumerate(world.network.lines):
        for at, reason in world.timetable_changes(number, day):
            before = world.timetable(number, day, _instant(at - 1))
            after = world.timetable(number, day, _instant(at))
            rows.append(_Revision(day, line.code, at, reason, _n_departures(before), _n_departures(after)))
    return table_of(REVISIONS, rows)


def versions(world: World, day: date) -> pa.Table:
    """Return the departures of each version of the timetables of a service date."""
    rows = [row for line in range(len(world.network.lines)) for row in _versions_of(world, line, day)]
    return table_of(VERSIONS, rows)


def _versions_of(world: World, line: int, day: date) -> Iterator[_VersionRow]:
    """Yield the departures of each version of a line's timetable, as published just before the next one."""
    announced = world.announced_at(day)
    seasons = [] if announced is None else [Change(announced, "season")]
    later = sorted(seasons + world.timetable_changes(line, day))
    ends = [*(change.at for change in later), NEVER]
    for version, (change, end) in enumerate(zip([Change(NEVER, "first"), *later], ends, strict=True), 1):
        asked_at = change.at if end == NEVER else end - 1
        services = world.timetable(line, day, None if asked_at == NEVER else _instant(asked_at))
        for service_code, leg in _legs(services):
            for departure in leg.departures:
                yield _VersionRow(
                    service_date=day,
                    trip_id=departure.trip_id,
                    line_code=world.network.lines[line].code,
                    direction=DIRECTIONS[leg.direction],
                    service_code=service_code,
                    headsign=leg.headsign,
                    departure_text=departure.text,
                    departure_at=departure.departs_at,
                    version=version,
                    reason=change.reason,
                    published_at=change.at,
                    replaced_at=end,
                )


def _legs(services: Iterable[Service]) -> Iterator[_ServiceLeg]:
    """Yield the legs with the code of their service, without junk legs."""
    for service in services:
        for leg in service.legs:
            if leg.description:
                yield _ServiceLeg(service.code, leg)


def _n_departures(services: Iterable[Service]) -> int:
    return sum(len(leg.departures) for _, leg in _legs(services))


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)

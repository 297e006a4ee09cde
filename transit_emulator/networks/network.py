"""The data of a public-transport network: lines, stops, stop patterns, and the trips of each service."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from transit_emulator import noise
from transit_emulator.networks.traffic import LIGHT, Traffic

Ints = NDArray[np.int64]
OUTBOUND, INBOUND = 0, 1
DIRECTION_KEYS = ("andata", "ritorno")
NO_STOP = -1


class Calendar(Protocol):
    """The services that run on each date."""

    @property
    def first_date(self) -> date:
        """The first date covered."""
        ...

    @property
    def last_date(self) -> date:
        """The last date covered."""
        ...

    def services_on(self, day: date) -> frozenset[str]:
        """Return the services of a date; none outside of the calendar."""
        ...


class Place(NamedTuple):
    """A point on the map (WGS 84), in degrees."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class Stop:
    """A stop: its public code, and its name and place, which the interface does not tell."""

    code: str
    name: str
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class ListedStop:
    """A stop in a line's published sequence; `order` ascends and may have gaps."""

    stop_code: str
    order: int


@dataclass(frozen=True, slots=True)
class Line:
    """A line as the lines list shows it, with its published stops by direction."""

    code: str
    number: str
    termini: tuple[str, str]
    stops: Mapping[int, tuple[ListedStop, ...]]
    is_active: bool = True
    note: str = ""
    is_tracked: bool = True
    counts_past_24: bool = False
    has_junk_service: bool = False
    padding: float = 0.0  # the share of its scheduled running times that its vehicles do not need


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sequence of stops that trips of a line serve in one direction, in one service of the timetable."""

    line: int
    direction: int
    stops: tuple[int, ...]
    headsign: str
    service_code: str
    is_slash: bool = False


@dataclass(frozen=True, slots=True)
class Trip:
    """A scheduled trip. `times` are seconds of the service day, one per stop of the pattern.

    Trips of one `block` are run by one vehicle, also over lines; without it the emulator finds a vehicle.
    """

    id: str
    pattern: int
    service: str
    times: tuple[int, ...]
    block: str = ""


@dataclass(frozen=True)
class Network:
    """A whole network; stops, lines, patterns and trips are referred to by position.

    Matrices are padded on the right.
    """

    name: str
    zone: ZoneInfo
    calendar: Calendar
    stops: tuple[Stop, ...]
    lines: tuple[Line, ...]
    patterns: tuple[Pattern, ...]
    trips: tuple[Trip, ...] = field(repr=False)
    lifts: tuple[str, ...] = ()
    railways: tuple[str, ...] = ()  # funiculars and rack railways, by name
    traffic: Traffic = LIGHT

    @cached_property
    def stop_position(self) -> dict[str, int]:
        """Positions of the stops by code."""
        return {stop.code: position for position, stop in enumerate(self.stops)}

    @cached_property
    def line_position(self) -> dict[str, int]:
        """Positions of the lines by code; a bare three-digit form stands for its first line."""
        found: dict[str, int] = {}
        for position, line in enumerate(self.lines):
            found[line.code] = position
        for position, line in enumerate(self.lines):
            found.setdefault(line.code.split("-")[0], position)
        return found

    @cached_property
    def pattern_stops(self) -> Ints:
        """Stop positions, patterns by sequence, padded with NO_STOP."""
        return padded([pattern.stops for pattern in self.patterns], NO_STOP)

    @cached_property
    def trip_times(self) -> Ints:
        """Scheduled seconds of the service day, trips by sequence, padded with the last one."""
        times = padded([trip.times for trip in self.trips], -1)
        return np.maximum.accumulate(times, axis=1)

    @cached_property
    def trip_pattern(self) -> Ints:
        """Pattern of each trip."""
        return np.array([trip.pattern for trip in self.trips], dtype=np.int64)

    @cached_property
    def trip_keys(self) -> noise.Keys:
        """Random key of each trip, from its id."""
        return noise.keys([trip.id for trip in self.trips])

    @cached_property
    def pattern_line(self) -> Ints:
        """Line of each pattern."""
        return np.array([pattern.line for pattern in self.patterns], dtype=np.int64)

    @cached_property
    def pattern_direction(self) -> Ints:
        """Direction of each pattern."""
        return np.array([pattern.direction for pattern in self.patterns], dtype=np.int64)

    @cached_property
    def pattern_way(self) -> Ints:
        """Line and direction of each pattern as one number."""
        return self.pattern_line * len(DIRECTION_KEYS) + self.pattern_direction

    @cached_property
    def patterns_of_line(self) -> dict[int, list[int]]:
        """Patterns of each line that has some, in order."""
        found: dict[int, list[int]] = {}
        for position, pattern in enumerate(self.patterns):
            found.setdefault(pattern.line, []).append(position)
        return found

    @cached_property
    def trips_by_service(self) -> dict[str, Ints]:
        """Trips of each service."""
        found: dict[str, list[int]] = {}
        for position, trip in enumerate(self.trips):
            found.setdefault(trip.service, []).append(position)
        return {service: np.array(rows, dtype=np.int64) for service, rows in found.items()}

    def trips_on(self, day: date) -> Ints:
        """Return the trips of a service date, in order."""
        return self.trips_of(self.calendar.services_on(day))

    def trips_of(self, services: frozenset[str]) -> Ints:
        """Return the trips of some services, in order."""
        rows = [self.trips_by_service.get(name) for name in sorted(services)]
        present = [found for found in rows if found is not None]
        return np.sort(np.concatenate(present)) if present else np.empty(0, dtype=np.int64)


def padded(rows: Sequence[Sequence[int]], fill: int) -> Ints:
    """Return rows as a matrix; shorter rows end in `fill`."""
    width = max((len(row) for row in rows), default=1)
    matrix = np.full((len(rows), width), fill, dtype=np.int64)
    for position, row in enumerate(rows):
        matrix[position, : len(row)] = row
    return matrix

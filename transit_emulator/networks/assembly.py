"""Assembles a generated network from the specifications of its lines."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from math import cos, radians
from zoneinfo import ZoneInfo

import numpy as np

from transit_emulator import noise
from transit_emulator.networks.network import (
    Calendar,
    Line,
    ListedStop,
    Network,
    Pattern,
    Place,
    Stop,
    Trip,
)
from transit_emulator.networks.traffic import LIGHT, Traffic

ITALY = ZoneInfo("Europe/Rome")
_MEDIAN_HOP_SECONDS, _HOP_SPREAD = 84.0, 0.38  # run and dwell: p5 45 s, median 84 s, p95 157 s
_GAP_SHARE = 0.12
_ORIGIN = Place(43.865, 10.245)  # of generated maps: a flat coast
_DEGREE_METRES = 111_200.0  # of latitude
_ACROSS_METRES = 25.0  # from one side of a street to the other


@dataclass(frozen=True, slots=True)
class DirectionSpec:
    """One direction of a service; departures are seconds of the service day, by kind of day."""

    direction: int
    stops: tuple[int, ...]
    headsign: str
    departures: Mapping[str, tuple[int, ...]]
    service_code: str = "01"
    is_slash: bool = False


@dataclass(frozen=True, slots=True)
class LineSpec:
    """A line to generate, and what runs on it."""

    line: Line
    directions: tuple[DirectionSpec, ...] = ()


@dataclass(frozen=True, slots=True)
class Band:
    """A departure every `every_minutes` from one hour of the service day to another; hours may pass 24."""

    from_hour: float
    to_hour: float
    every_minutes: float


def departures(bands: Iterable[Band], offset_minutes: float = 0.0) -> tuple[int, ...]:
    """Return the seconds of the service day at which trips leave, whole minutes, ascending."""
    found: list[int] = []
    for band in bands:
        minute = band.from_hour * 60 + offset_minutes % band.every_minutes
        while minute < band.to_hour * 60:
            found.append(int(minute) * 60)
            minute += band.every_minutes
    return tuple(sorted(set(found)))


def hop_seconds(stops: Sequence[Stop], positions: Sequence[int]) -> tuple[int, ...]:
    """Return the scheduled seconds from the first stop to each; a hop takes the same on all lines."""
    names = [f"{stops[a].code}>{stops[b].code}" for a, b in pairwise(positions)]
    spread = np.exp(_HOP_SPREAD * np.clip(noise.normal(noise.keys(names), "hop"), -2, 2))
    seconds = np.round(_MEDIAN_HOP_SECONDS * spread).astype(int)
    return (0, *(int(total) for total in np.cumsum(seconds)))


def listed_stops(name: str, stops: Sequence[Stop], positions: Sequence[int]) -> tuple[ListedStop, ...]:
    """Return the stops of a direction numbered from 1, ascending, with gaps as in real sequences."""
    order = 0
    found = []
    for step, position in enumerate(positions):
        is_gap = step > 0 and noise.unit("gap", name, step) < _GAP_SHARE
        order += 2 if is_gap else 1
        found.append(ListedStop(stops[position].code, order))
    return tuple(found)


def place_at(east_metres: float, north_metres: float, side: int = 0) -> Place:
    """Return the place of a stop of a generated map, on one of the sides (0 or 1) of its street."""
    north = (north_metres + side * _ACROSS_METRES) / _DEGREE_METRES
    east = (east_metres + side * _ACROSS_METRES) / (_DEGREE_METRES * cos(radians(_ORIGIN.latitude)))
    return Place(round(_ORIGIN.latitude + north, 5), round(_ORIGIN.longitude + east, 5))


def assemble(
    name: str,
    calendar: Calendar,
    stops: Sequence[Stop],
    specs: Sequence[LineSpec],
    lifts: Sequence[str] = (),
    *,
    railways: Sequence[str] = (),
    traffic: Traffic = LIGHT,
) -> Network:
    """Return the network of some lines; a trip's id is unique in it and the same on every day."""
    patterns: list[Pattern] = []
    trips: list[Trip] = []
    for position, spec in enumerate(specs):
        for each in spec.directions:
            patterns.append(
                Pattern(position, each.direction, each.stops, each.headsign, each.service_code, each.is_slash)
            )
            trips.extend(_trips(each, hop_seconds(stops, each.stops), traffic, position, len(patterns) - 1))
    return Network(
        name=name,
        zone=ITALY,
        calendar=calendar,
        stops=tuple(stops),
        lines=tuple(spec.line for spec in specs),
        patterns=tuple(patterns),
        trips=tuple(trips),
        lifts=tuple(lifts),
        railways=tuple(railways),
        traffic=traffic,
    )


def _trips(
    spec: DirectionSpec, offsets: Sequence[int], traffic: Traffic, line: int, pattern: int
) -> Iterable[Trip]:
    scaled = cache(lambda factor: _rounded(offsets, factor, traffic.timetable_seconds))
    for kind, (service, leaves) in enumerate(sorted(spec.departures.items())):
        for number, departure in enumerate(leaves):
            trip_id = f"{line:03d}{pattern % 1000:03d}{kind}{number:03d}"
            running = scaled(traffic.running_time_factor(departure / 3600))
            yield Trip(trip_id, pattern, service, tuple(departure + offset for offset in running))


def _rounded(offsets: Sequence[int], factor: float, step: int) -> tuple[int, ...]:
    return tuple(step * int(factor * offset / step + 0.5) for offset in offsets)

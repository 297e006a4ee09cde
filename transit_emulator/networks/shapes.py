"""Builds a network of the shapes that lines can have, which whoever reads its answers has to understand.

Railways whose directions share their stops, branches, short runs from and to the middle, skipped stops,
loops, two lines with one number, headways of an hour and of three minutes, a line of the night, vehicles that
change lines at each terminus, and a line whose buses run early.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import accumulate, pairwise

from transit_emulator.networks.assembly import ITALY, Band, departures, place_at
from transit_emulator.networks.gtfs import network_of
from transit_emulator.networks.gtfs_feed import Feed, FeedTrip, Row
from transit_emulator.networks.network import Network

_FIRST_DATE, _N_DATES = date(2025, 1, 1), 3 * 365
_APART_METRES = 600  # from stop to stop, and from line to line
_SERVICE = "daily"


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a number of places; with shared stops, both directions call at the same ones."""

    number: str
    n_places: int
    hop_seconds: int = 90
    has_shared_stops: bool = False
    padding: float = 0.0


@dataclass(frozen=True, slots=True)
class _Runs:
    """Trips of a line that call at some of the places of `along`, and the same the other way.

    A vehicle that changes lines runs here `turn` trips after it began its round.
    """

    line: str
    calls: tuple[int, ...]
    every_minutes: float
    hours: tuple[float, float] = (5, 24)
    has_way_back: bool = True
    along: str = ""
    turn: int | None = None


_LINES = {
    "rail": _Line("R1", 12, 240, has_shared_stops=True),
    "metro": _Line("M1", 10, has_shared_stops=True),
    "branches": _Line("10", 14),
    "short": _Line("20", 12),
    "circle": _Line("30", 9),
    "loop": _Line("40", 10),
    "long": _Line("50", 10),
    "half": _Line("50", 0),
    "night": _Line("N1", 8),
    "first": _Line("60", 8),
    "second": _Line("61", 8),
    "early": _Line("70", 15, 120, padding=0.25),
}
_WHOLE, _TRUNK = tuple(range(12)), tuple(range(6))
_ROUND = 4  # trips: out and back on two lines
_RUNS = (
    _Runs("rail", _WHOLE, 60),
    _Runs("rail", _WHOLE[:7], 60),
    _Runs("rail", _WHOLE[4:], 60),
    _Runs("rail", (0, 3, 6, 9, 11), 120),
    _Runs("metro", _WHOLE[:10], 3, (6, 22)),
    _Runs("branches", (*_TRUNK, 6, 7, 8, 9), 20),
    _Runs("branches", (*_TRUNK, 10, 11, 12, 13), 20),
    _Runs("short", _WHOLE, 30),
    _Runs("short", _WHOLE[3:], 30),
    _Runs("short", _WHOLE[:8], 30),
    _Runs("circle", (*range(9), 0), 15, has_way_back=False),
    _Runs("loop", (0, 1, 2, 3, 4, 5, 2, 6, 7, 8, 9), 20),
    _Runs("long", _WHOLE[:10], 15),
    _Runs("half", _WHOLE[:5], 30, along="long"),
    _Runs("night", _WHOLE[:8], 30, (22, 28)),
    _Runs("first", _WHOLE[:8], 20, turn=0),
    _Runs("second", _WHOLE[:8], 20, turn=2),
    _Runs("early", tuple(range(15)), 15),
)


def shapes_network() -> Network:
    """Return the network, which is independent of any seed."""
    dates = [_FIRST_DATE + timedelta(days=step) for step in range(_N_DATES)]
    network = network_of(
        Feed(
            zone=ITALY,
            services_by_date=dict.fromkeys(dates, frozenset({_SERVICE})),
            stops=list(_stops()),
            routes=[{"route_id": name, "route_short_name": line.number} for name, line in _LINES.items()],
            trips=[trip for number, runs in enumerate(_RUNS) for trip in _trips(runs, number)],
        ),
        "shapes",
    )
    padding = {line.number: line.padding for line in _LINES.values()}
    lines = (replace(line, padding=padding[line.number]) for line in network.lines)
    return replace(network, lines=tuple(lines))


def _stop_id(line: str, place: int, direction: int) -> str:
    side = 0 if _LINES[line].has_shared_stops else direction
    return f"{100 * list(_LINES).index(line) + 2 * place + side + 1000:04d}"


def _stops() -> Iterator[Row]:
    for row, (name, line) in enumerate(_LINES.items()):
        for place in range(line.n_places):
            for stop_id in sorted({_stop_id(name, place, direction) for direction in (0, 1)}):
                where = place_at(_APART_METRES * place, _APART_METRES * row, int(stop_id) % 2)
                yield {
                    "stop_id": stop_id, "stop_name": f"Piazza {line.number} {place + 1}",
                    "stop_lat": str(where.latitude), "stop_lon": str(where.longitude),
                }  # fmt: skip


def _trips(runs: _Runs, number: int) -> Iterator[FeedTrip]:
    """Yield the trips of both directions; those of one line do not all leave at the same minute."""
    hop_seconds = _LINES[runs.line].hop_seconds
    leaves = departures([Band(*runs.hours, runs.every_minutes)], 7.0 * number)
    for direction, calls in enumerate([runs.calls, runs.calls[::-1]] if runs.has_way_back else [runs.calls]):
        stop_ids = [_stop_id(runs.along or runs.line, place, direction) for place in calls]
        for count, leaves_at in enumerate(leaves):
            block = "" if runs.turn is None else f"{(count - runs.turn - direction) % _ROUND} of 60 and 61"
            times = [leaves_at + hop_seconds * hops for hops in accumulate(_hops(calls), initial=0)]
            yield FeedTrip(
                f"{number:02d}{direction}{leaves_at:05d}", runs.line, _SERVICE, direction, "", stop_ids,
                times, block,
            )  # fmt: skip


def _hops(calls: tuple[int, ...]) -> Iterator[int]:
    """Yield how many hops it is from each call to the next: one where the way turns back, closing a loop."""
    way = 1 if calls[-1] >= calls[0] else -1
    for place, next_place in pairwise(calls):
        yield max(way * (next_place - place), 1)

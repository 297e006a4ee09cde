"""Tables of when lines and their stops are published."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import NamedTuple

import pyarrow as pa

from transit_emulator.days.motion import NEVER
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Line
from transit_emulator.truth.columns import DIRECTIONS, table_of
from transit_emulator.truth.schemas import LINE_VALIDITY, STOP_VALIDITY
from transit_emulator.world import World


class _PublishedLine(NamedTuple):
    line_code: str
    line_number: str
    note: str


class _PublishedStop(NamedTuple):
    line_code: str
    direction: str
    stop_code: str
    stop_order: int


class _LineRow(NamedTuple):
    line_code: str
    line_number: str
    note: str
    valid_from: int
    valid_to: int


class _StopRow(NamedTuple):
    line_code: str
    direction: str
    stop_code: str
    stop_order: int
    valid_from: int
    valid_to: int


def line_validity(world: World, first: date, last: date) -> pa.Table:
    """Return what the lines list says of each line, and when."""
    return table_of(
        LINE_VALIDITY, [_LineRow(*row, *valid) for row, *valid in _validity(world, first, last, _lines)]
    )


def stop_validity(world: World, first: date, last: date) -> pa.Table:
    """Return which stops a line lists, and when."""
    return table_of(
        STOP_VALIDITY, [_StopRow(*row, *valid) for row, *valid in _validity(world, first, last, _stops)]
    )


def _validity(
    world: World, first: date, last: date, rows_of: Callable[[list[Line]], Iterable[NamedTuple]]
) -> Iterator[tuple[NamedTuple, int, int]]:
    """Yield each row with the instants from when and until when it is published, sorted by row and instant.

    The first instant is NEVER for what was published before the first date, the second one for what still is
    after the last.
    """
    since: dict[NamedTuple, int] = {}
    found: list[tuple[NamedTuple, int, int]] = []
    for step in range((last - first).days + 1):
        day = first + ONE_DAY * step
        if step and day.weekday():
            continue  # what is published changes on Mondays
        begins = at_local(day, 0, world.network.zone)
        now = set(rows_of(world.lines_on(day)))
        found += [(row, since.pop(row), begins) for row in set(since) - now]
        since |= dict.fromkeys(now - set(since), begins if step else NEVER)
    found += [(row, begins, NEVER) for row, begins in since.items()]
    yield from sorted(found, key=lambda one: (one[0], one[2]))


def _lines(lines: list[Line]) -> Iterator[NamedTuple]:
    for line in lines:
        yield _PublishedLine(line.code, line.number, line.note)


def _stops(lines: list[Line]) -> Iterator[NamedTuple]:
    for line in lines:
        for direction, stops in line.stops.items():
            for stop in stops:
                yield _PublishedStop(line.code, DIRECTIONS[direction], stop.stop_code, stop.order)

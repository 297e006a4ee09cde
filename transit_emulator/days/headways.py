"""Finds, for each call, the preceding call of the same line and direction at the same stop."""

from dataclasses import dataclass

import numpy as np

from transit_emulator.days.blocks import NO_TRIP
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.network import Ints, Network
from transit_emulator.noise import Floats

_SHORTEST, _LONGEST = 120.0, 7_200.0  # seconds; at other headways the trip ahead has no effect on boarding


@dataclass(frozen=True)
class PrecedingCalls:
    """The preceding call of each call, trips by sequence; NO_TRIP where there is none.

    `headway_seconds` is the scheduled headway to it, 1 where there is none.
    """

    trip: Ints
    sequence: Ints
    headway_seconds: Floats


def preceding_calls(network: Network, schedule: Schedule, is_passed: Flags) -> PrecedingCalls:
    """Return the preceding calls, among those that happen; the preceding trip leaves its origin earlier."""
    trip, sequence = np.nonzero(is_passed)
    way = network.pattern_way[network.trip_pattern[schedule.trips]]
    stop, at = schedule.stops[trip, sequence], schedule.scheduled_at[trip, sequence]
    order = np.lexsort((trip, at, stop, way[trip]))
    trip, sequence, stop, at = trip[order], sequence[order], stop[order], at[order]
    headway = np.diff(at, prepend=at[:1]).astype(np.float64)
    is_pair = (np.roll(stop, 1) == stop) & (np.roll(way[trip], 1) == way[trip])
    rank = _ranks(schedule)[trip]
    is_pair &= np.roll(rank, 1) < rank
    is_pair &= (headway >= _SHORTEST) & (headway <= _LONGEST)
    found = PrecedingCalls(
        trip=np.full(schedule.is_call.shape, NO_TRIP, dtype=np.int64),
        sequence=np.zeros(schedule.is_call.shape, dtype=np.int64),
        headway_seconds=np.ones(schedule.is_call.shape),
    )
    found.trip[trip, sequence] = np.where(is_pair, np.roll(trip, 1), NO_TRIP)
    found.sequence[trip, sequence] = np.where(is_pair, np.roll(sequence, 1), 0)
    found.headway_seconds[trip, sequence] = np.where(is_pair, headway, 1.0)
    return found


def dependency_levels(schedule: Schedule, preceding: PrecedingCalls, before: list[int]) -> list[Ints]:
    """Return the trips in groups, each of which depends only on groups before it.

    A trip depends on the trips that precede it at its stops, and on the trip its vehicle runs `before`.
    """
    n_trips = schedule.n_trips
    rows, _ = np.nonzero(preceding.trip != NO_TRIP)
    pairs = np.unique(rows * n_trips + preceding.trip[preceding.trip != NO_TRIP])
    needs: list[list[int]] = [[trip] if trip != NO_TRIP else [] for trip in before]
    for row, trip in zip(
        (pairs // max(n_trips, 1)).tolist(), (pairs % max(n_trips, 1)).tolist(), strict=True
    ):
        needs[row].append(trip)
    depth = [0] * n_trips
    for row in schedule.by_departure:
        depth[row] = max((depth[trip] + 1 for trip in needs[row]), default=0)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth)) if n_trips else np.empty(0, dtype=np.int64)
    return [group for group in np.split(order, ends[:-1]) if len(group)]


def _ranks(schedule: Schedule) -> Ints:
    """Return each trip's place in the order of departures."""
    ranks = np.empty(schedule.n_trips, dtype=np.int64)
    ranks[schedule.by_departure] = np.arange(schedule.n_trips)
    return ranks

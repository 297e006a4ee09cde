"""Finds the bus ahead of each bus: the one before it of its line and direction, stop by stop."""

from dataclasses import dataclass

import numpy as np

from transit_emulator.days.blocks import NO_TRIP
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.network import Ints, Network
from transit_emulator.noise import Floats

_SHORTEST, _LONGEST = 120.0, 7_200.0  # nobody counts on a headway beyond these


@dataclass(frozen=True)
class Ahead:
    """The call ahead of each call, trips by sequence; NO_TRIP where there is none.

    `seconds` is the scheduled headway to it, 1 where there is none.
    """

    trip: Ints
    sequence: Ints
    seconds: Floats


def ahead_of(network: Network, plan: Schedule, is_passed: Flags) -> Ahead:
    """Return the calls ahead, among those that happen; the trip ahead has left its origin before."""
    trip, sequence = np.nonzero(is_passed)
    pattern = network.trip_pattern[plan.trips]
    way = network.pattern_line[pattern] * 2 + network.pattern_direction[pattern]
    stop, at = plan.stops[trip, sequence], plan.scheduled_at[trip, sequence]
    order = np.lexsort((trip, at, stop, way[trip]))
    trip, sequence, stop, at = trip[order], sequence[order], stop[order], at[order]
    headway = np.diff(at, prepend=at[:1]).astype(np.float64)
    is_pair = (np.roll(stop, 1) == stop) & (np.roll(way[trip], 1) == way[trip])
    rank = _ranks(plan)[trip]
    is_pair &= np.roll(rank, 1) < rank
    is_pair &= (headway >= _SHORTEST) & (headway <= _LONGEST)
    found = Ahead(
        trip=np.full(plan.is_call.shape, NO_TRIP, dtype=np.int64),
        sequence=np.zeros(plan.is_call.shape, dtype=np.int64),
        seconds=np.ones(plan.is_call.shape),
    )
    found.trip[trip, sequence] = np.where(is_pair, np.roll(trip, 1), NO_TRIP)
    found.sequence[trip, sequence] = np.where(is_pair, np.roll(sequence, 1), 0)
    found.seconds[trip, sequence] = np.where(is_pair, headway, 1.0)
    return found


def waves(plan: Schedule, ahead: Ahead, before: list[int]) -> list[Ints]:
    """Return the trips in groups, each of which depends on groups before it alone.

    A trip depends on the trips ahead of it, and on the one its vehicle runs `before`.
    """
    n_trips = plan.n_trips
    rows, _ = np.nonzero(ahead.trip != NO_TRIP)
    pairs = np.unique(rows * n_trips + ahead.trip[ahead.trip != NO_TRIP])
    needs: list[list[int]] = [[trip] if trip != NO_TRIP else [] for trip in before]
    for row, trip in zip(
        (pairs // max(n_trips, 1)).tolist(), (pairs % max(n_trips, 1)).tolist(), strict=True
    ):
        needs[row].append(trip)
    depth = [0] * n_trips
    for row in plan.by_departure:
        depth[row] = max((depth[trip] + 1 for trip in needs[row]), default=0)
    order = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth)) if n_trips else np.empty(0, dtype=np.int64)
    return [group for group in np.split(order, ends[:-1]) if len(group)]


def _ranks(plan: Schedule) -> Ints:
    """Return each trip's place in the order of departures."""
    ranks = np.empty(plan.n_trips, dtype=np.int64)
    ranks[plan.by_departure] = np.arange(plan.n_trips)
    return ranks

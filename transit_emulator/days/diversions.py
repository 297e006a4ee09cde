"""Leaves out some stops of a line while it is diverted."""

from collections.abc import Iterable

import numpy as np

from transit_emulator import noise
from transit_emulator.days.disruptions import DIVERTED, Event
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.network import DIRECTION_KEYS, Network

_SKIPPING_SHARE = 0.6  # of the diversions; the others pass all stops, by another street
_LONGEST_SECONDS = 4 * 86_400  # longer works get stops beside the road
_MOST_STOPS = 3
_FEWEST_LEFT = 2  # a line's ends are never left out


def left_out(network: Network, event: Event) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the stops that an event makes buses leave out, by line and direction; most make none."""
    is_long = event.ended_at - event.started_at > _LONGEST_SECONDS
    if event.event != DIVERTED or is_long or noise.unit(event.id, "leaves stops out") >= _SKIPPING_SHARE:
        return {}
    found = {}
    for line in event.line_positions:
        for direction in range(len(DIRECTION_KEYS)):
            stops = _longest(network, line, direction)[1:-1]
            n_out = min(
                1 + noise.pick(_MOST_STOPS, event.id, line, direction, "n"), len(stops) - _FEWEST_LEFT
            )
            if n_out > 0:
                first = noise.pick(len(stops) - n_out + 1, event.id, line, direction, "first")
                found[line, direction] = stops[first : first + n_out]
    return found


def skipped_calls(network: Network, plan: Schedule, events: Iterable[Event]) -> Flags:
    """Tell which calls are left out: of the trips that leave while a diversion is on, but for their ends."""
    is_skipped = np.zeros(plan.is_call.shape, dtype=np.bool_)
    pattern = network.trip_pattern[plan.trips]
    line, direction = network.pattern_line[pattern], network.pattern_direction[pattern]
    for event in events:
        is_on = plan.leaves_between(event.started_at, event.ended_at)
        for (diverted, way), stops in left_out(network, event).items():
            is_hit = is_on & (line == diverted) & (direction == way)
            is_skipped[is_hit] |= np.isin(plan.stops[is_hit], stops)
    if plan.n_trips:
        is_skipped[:, 0] = False
        is_skipped[np.arange(plan.n_trips), plan.is_call.sum(axis=1) - 1] = False
    return is_skipped & plan.is_call


def _longest(network: Network, line: int, direction: int) -> tuple[int, ...]:
    patterns = [network.patterns[number] for number in network.patterns_of_line.get(line, [])]
    return max((one.stops for one in patterns if one.direction == direction), key=len, default=())

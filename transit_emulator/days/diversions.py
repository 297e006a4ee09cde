"""Decides which stops of a line are skipped while it is diverted."""

from collections.abc import Iterable

import numpy as np

from transit_emulator import noise
from transit_emulator.days.events import DIVERTED, Event
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.network import DIRECTION_KEYS, Network

_SKIPPING_SHARE = 0.6  # of the diversions; during the others buses serve every stop
_LONGEST_SECONDS = 4 * 86_400  # longer works get temporary stops
_MOST_STOPS = 3
_FEWEST_LEFT = 2  # the ends of a line are never skipped


def skipped_stops(network: Network, event: Event) -> dict[tuple[int, int], tuple[int, ...]]:
    """Return the stops that buses skip because of an event, by line and direction; mostly none."""
    is_long = event.ended_at - event.started_at > _LONGEST_SECONDS
    if event.event != DIVERTED or is_long or noise.unit(event.id, "leaves stops out") >= _SKIPPING_SHARE:
        return {}
    found = {}
    for line in event.line_positions:
        for direction in range(len(DIRECTION_KEYS)):
            stops = _longest_pattern(network, line, direction)[1:-1]
            n_out = min(
                1 + noise.pick(_MOST_STOPS, event.id, line, direction, "n"), len(stops) - _FEWEST_LEFT
            )
            if n_out > 0:
                first = noise.pick(len(stops) - n_out + 1, event.id, line, direction, "first")
                found[line, direction] = stops[first : first + n_out]
    return found


def skipped_calls(network: Network, schedule: Schedule, events: Iterable[Event]) -> Flags:
    """Tell which calls are skipped: of trips that leave during a diversion, except their first and last."""
    is_skipped = np.zeros(schedule.is_call.shape, dtype=np.bool_)
    pattern = network.trip_pattern[schedule.trips]
    line, direction = network.pattern_line[pattern], network.pattern_direction[pattern]
    for event in events:
        is_on = schedule.leaves_between(event.started_at, event.ended_at)
        for (diverted, way), stops in skipped_stops(network, event).items():
            is_hit = is_on & (line == diverted) & (direction == way)
            is_skipped[is_hit] |= np.isin(schedule.stops[is_hit], stops)
    if schedule.n_trips:
        is_skipped[:, 0] = False
        is_skipped[np.arange(schedule.n_trips), schedule.is_call.sum(axis=1) - 1] = False
    return is_skipped & schedule.is_call


def _longest_pattern(network: Network, line: int, direction: int) -> tuple[int, ...]:
    patterns = [network.patterns[number] for number in network.patterns_of_line.get(line, [])]
    return max((one.stops for one in patterns if one.direction == direction), key=len, default=())

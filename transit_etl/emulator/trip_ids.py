"""Decides what `id_corsa` shows: the trip, the vehicle that runs it, or a number other trips have too."""

from enum import StrEnum

from transit_etl.emulator import noise
from transit_etl.emulator.network import Network
from transit_etl.emulator.schedule import Schedule

_LAYOVER_SECONDS = 240
_REUSED_PER_LINE = 6
_FLEET = 10_007  # prime, so that the numbers of a day are all different


class IdMode(StrEnum):
    """What the field called a trip identifier really identifies."""

    STABLE = "stable"  # the scheduled trip: the same on every day, theoretical or live
    VEHICLE = "vehicle"  # the vehicle, so the same for all its trips of a day; empty while theoretical
    REUSED = "reused"  # a running number of the line that comes round again several times a day


def vehicles(network: Network, plan: Schedule, seed: int) -> list[str]:
    """Return the vehicle of each trip of a date: at a terminus it takes the line's next trip back."""
    numbers = [0] * plan.n_trips
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    n_used = 0
    for row in plan.scheduled_at[:, 0].argsort(kind="stable").tolist():
        pattern = network.patterns[int(network.trip_pattern[plan.trips[row]])]
        here = waiting.setdefault((pattern.line, pattern.direction), [])
        if here and here[0][0] <= plan.scheduled_at[row, 0]:
            _, numbers[row] = here.pop(0)
        else:
            numbers[row], n_used = n_used, n_used + 1
        is_circular = pattern.stops[0] == pattern.stops[-1]
        back = pattern.direction if is_circular else 1 - pattern.direction
        free_at = int(plan.scheduled_at[row, len(pattern.stops) - 1]) + _LAYOVER_SECONDS
        queue = waiting.setdefault((pattern.line, back), [])
        queue.append((free_at, numbers[row]))
        queue.sort()
    start = noise.pick(_FLEET, seed, "fleet", plan.service_date.isoformat())
    return [f"{(start + 4_999 * number) % _FLEET:05d}" for number in numbers]


def reused(network: Network, plan: Schedule) -> list[str]:
    """Return a short number per trip of a date that several trips of its line share."""
    seen: dict[int, int] = {}
    numbers = [""] * plan.n_trips
    for row in plan.scheduled_at[:, 0].argsort(kind="stable").tolist():
        line = network.patterns[int(network.trip_pattern[plan.trips[row]])].line
        seen[line] = seen.get(line, 0) + 1
        numbers[row] = f"{line:03d}{seen[line] % _REUSED_PER_LINE}"
    return numbers

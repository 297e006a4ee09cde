"""Decides what `id_corsa` shows: the trip, the vehicle that runs it, or a number other trips have too."""

from enum import StrEnum

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule
from transit_emulator.networks.network import Network

_REUSED_PER_LINE = 6
_FLEET = 10_007  # prime, so that the numbers of a day are all different


class IdMode(StrEnum):
    """What the field called a trip identifier really identifies."""

    STABLE = "stable"  # the scheduled trip: the same on every day, theoretical or live
    VEHICLE = "vehicle"  # the vehicle, so the same for all its trips of a day; empty while theoretical
    REUSED = "reused"  # a running number of the line that comes round again several times a day


def vehicles(plan: Schedule, numbers: list[int], seed: int) -> list[str]:
    """Return what the vehicles of a date are called; `numbers` counts them from 0."""
    start = noise.pick(_FLEET, seed, "fleet", plan.service_date.isoformat())
    return [f"{(start + 4_999 * number) % _FLEET:05d}" for number in numbers]


def reused(network: Network, plan: Schedule) -> list[str]:
    """Return a short number per trip of a date that several trips of its line share."""
    seen: dict[int, int] = {}
    numbers = [""] * plan.n_trips
    for row in plan.by_departure:
        line = network.patterns[int(network.trip_pattern[plan.trips[row]])].line
        seen[line] = seen.get(line, 0) + 1
        numbers[row] = f"{line:03d}{seen[line] % _REUSED_PER_LINE}"
    return numbers

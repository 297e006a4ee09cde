"""Decides what `id_corsa` identifies: the trip, its vehicle, or a number that several trips share."""

from enum import StrEnum

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule
from transit_emulator.networks.network import Network

_REUSED_PER_LINE = 6
_FLEET = 10_007  # a prime, so that no number repeats within a day


class IdMode(StrEnum):
    """What the field that is called a trip identifier really identifies."""

    STABLE = "stable"  # the scheduled trip: the same on every day, theoretical or live
    VEHICLE = "vehicle"  # the vehicle, so the same for all its trips of a day; empty while theoretical
    REUSED = "reused"  # a sequence number of the line that repeats several times a day


def vehicles(schedule: Schedule, numbers: list[int], seed: int) -> list[str]:
    """Return the vehicle id of each trip of a date; `numbers` counts the vehicles from 0."""
    start = noise.pick(_FLEET, seed, "fleet", schedule.service_date.isoformat())
    return [f"{(start + 4_999 * number) % _FLEET:05d}" for number in numbers]


def reused(network: Network, schedule: Schedule) -> list[str]:
    """Return a short number per trip of a date that several trips of its line share."""
    seen: dict[int, int] = {}
    numbers = [""] * schedule.n_trips
    for row in schedule.by_departure:
        line = network.patterns[int(network.trip_pattern[schedule.trips[row]])].line
        seen[line] = seen.get(line, 0) + 1
        numbers[row] = f"{line:03d}{seen[line] % _REUSED_PER_LINE}"
    return numbers

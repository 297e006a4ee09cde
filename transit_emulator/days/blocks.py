"""Assigns the trips of a date to vehicles: those of a published block to one; the others at their termini."""

from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.network import Ints, Network

_LAYOVER_SECONDS = 240
NO_TRIP = -1


def blocks(network: Network, schedule: Schedule) -> list[int]:
    """Return the number of the vehicle that runs each trip, counted from 0; each added trip has its own.

    Where trips have no block, a vehicle takes the line's next trip back at a terminus.
    """
    numbers = [0] * schedule.n_trips
    of_block: dict[str, int] = {}
    waiting: dict[tuple[int, int], list[tuple[int, int]]] = {}
    n_used = 0
    is_added = schedule.is_added.tolist()
    for row in schedule.by_departure:
        trip = network.trips[int(schedule.trips[row])]
        pattern = network.patterns[trip.pattern]
        if is_added[row] or trip.block:
            numbers[row] = n_used if is_added[row] else of_block.setdefault(trip.block, n_used)
            n_used += numbers[row] == n_used
            continue
        here = waiting.setdefault((pattern.line, pattern.direction), [])
        if here and here[0][0] <= schedule.scheduled_at[row, 0]:
            _, numbers[row] = here.pop(0)
        else:
            numbers[row], n_used = n_used, n_used + 1
        is_circular = pattern.stops[0] == pattern.stops[-1]
        back = pattern.direction if is_circular else 1 - pattern.direction
        free_at = int(schedule.scheduled_at[row, len(pattern.stops) - 1]) + _LAYOVER_SECONDS
        queue = waiting.setdefault((pattern.line, back), [])
        queue.append((free_at, numbers[row]))
        queue.sort()
    return numbers


def relieved(schedule: Schedule, vehicles: list[int], passed_at: Ints, is_passed: Flags) -> list[int]:
    """Return the vehicles with another one from each trip on that begins before its vehicle has arrived.

    `passed_at`, in Unix seconds, and `is_passed` are matrices of trips by sequence.
    """
    numbers = [0] * len(vehicles)
    n_used = max(vehicles, default=-1) + 1
    in_place_of: dict[int, int] = {}
    arrives_at: dict[int, int] = {}
    for row in schedule.by_departure:
        number = in_place_of.get(vehicles[row], vehicles[row])
        times = passed_at[row][is_passed[row]]
        if times.size and times[0] < arrives_at.get(number, 0):
            in_place_of[vehicles[row]] = number = n_used
            n_used += 1
        if times.size:
            arrives_at[number] = int(times[-1])
        numbers[row] = number
    return numbers


def trip_before(schedule: Schedule, vehicles: list[int]) -> list[int]:
    """Return the trip that each trip's vehicle runs before it, or NO_TRIP."""
    before = [NO_TRIP] * schedule.n_trips
    last: dict[int, int] = {}
    for row in schedule.by_departure:
        before[row] = last.get(vehicles[row], NO_TRIP)
        last[vehicles[row]] = row
    return before

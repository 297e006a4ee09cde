"""Adds trips that no timetable has: a second bus some minutes after a scheduled one."""

from dataclasses import replace

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule, with_added
from transit_emulator.networks.network import Network, Trip

_POSSIBLE_SHARE = 0.05  # of the trips: they may be followed by an added one
_ADDED_SHARE = 0.25  # of the possible added trips: those that run on a date
_LATEST_START = 27 * 3600
_SERVICE_MARK = "+bis"


def with_possible_trips(network: Network, seed: int) -> Network:
    """Return a network with the trips that may be added too; their services are in no calendar."""
    possible = tuple(_behind(trip, seed) for trip in network.trips if _may_be_doubled(network, trip, seed))
    return replace(network, trips=network.trips + possible)


def with_added_trips(network: Network, schedule: Schedule, seed: int) -> Schedule:
    """Return a service date's schedule with the trips that are added to it, in the last rows."""
    services = network.calendar.services_on(schedule.service_date)
    possible = network.trips_of(frozenset(service + _SERVICE_MARK for service in services))
    keys = noise.combine(network.trip_keys[possible], noise.key(seed, schedule.service_date.isoformat()))
    return with_added(network, schedule, possible[noise.uniform(keys, "added") < _ADDED_SHARE])


def _may_be_doubled(network: Network, trip: Trip, seed: int) -> bool:
    is_tracked = network.lines[network.patterns[trip.pattern].line].is_tracked
    is_early = trip.times[0] < _LATEST_START
    return is_tracked and is_early and noise.unit(seed, "possible", trip.id) < _POSSIBLE_SHARE


def _behind(trip: Trip, seed: int) -> Trip:
    seconds = 60 * (2 + noise.pick(4, seed, "minutes behind", trip.id))
    times = tuple(time + seconds for time in trip.times)
    return replace(trip, id=f"{trip.id}bis", service=trip.service + _SERVICE_MARK, times=times)

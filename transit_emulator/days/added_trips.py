"""Adds trips that no timetable has: a second bus some minutes behind a scheduled one."""

from dataclasses import replace

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule, with_added
from transit_emulator.networks.network import Network, Trip

_POSSIBLE_SHARE, _ADDED_SHARE = 0.05, 0.25  # of the trips; of the possible ones on a date
_LATEST_START = 27 * 3600
_SERVICE_MARK = "+bis"


def with_possible_trips(network: Network, seed: int) -> Network:
    """Return a network that also holds the trips that may be added; no calendar runs their services."""
    possible = tuple(
        _behind(trip, seed) for trip in network.trips if _may_have_one_behind(network, trip, seed)
    )
    return replace(network, trips=network.trips + possible)


def with_added_trips(network: Network, plan: Schedule, seed: int) -> Schedule:
    """Return a service date's schedule with the trips that are added to it, in the last rows."""
    services = network.calendar.services_on(plan.service_date)
    possible = network.trips_of(frozenset(service + _SERVICE_MARK for service in services))
    keys = noise.combine(network.trip_keys[possible], noise.key(seed, plan.service_date.isoformat()))
    return with_added(network, plan, possible[noise.uniform(keys, "added") < _ADDED_SHARE])


def _may_have_one_behind(network: Network, trip: Trip, seed: int) -> bool:
    is_tracked = network.lines[network.patterns[trip.pattern].line].is_tracked
    is_early = trip.times[0] < _LATEST_START
    return is_tracked and is_early and noise.unit(seed, "possible", trip.id) < _POSSIBLE_SHARE


def _behind(trip: Trip, seed: int) -> Trip:
    seconds = 60 * (2 + noise.pick(4, seed, "minutes behind", trip.id))
    times = tuple(time + seconds for time in trip.times)
    return replace(trip, id=f"{trip.id}bis", service=trip.service + _SERVICE_MARK, times=times)

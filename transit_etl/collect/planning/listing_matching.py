"""Finds the tracked trip, and the place along its pattern, that a listing is about.

Trips are told apart by when they leave their first stop, as their listings imply it.
"""

from collections.abc import Iterable
from math import inf
from typing import NamedTuple

from transit_etl.collect.planning.parameters import MatchingParameters
from transit_etl.collect.planning.policy import Listing
from transit_etl.collect.planning.state import StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPattern


class Departure(NamedTuple):
    """When a trip leaves its first stop if the stop that lists it is at a position of its pattern."""

    position: int
    leaves_at: float


def departures_of(pattern: StopPattern | None, stop: StopState, predicted_at: float) -> list[Departure]:
    """Return the departures that a listing may imply: several where the pattern calls there twice."""
    if pattern is None:
        return [Departure(0, predicted_at)]
    offsets = pattern.running_times.offsets
    found = [Departure(n, predicted_at - offsets[n]) for n in pattern.positions(stop.code)]
    return found or [Departure(0, predicted_at)]


def nearest(
    trips: Iterable[TrackedTrip], departures: list[Departure], tolerance: float, lateness: float = 0.0
) -> tuple[TrackedTrip | None, Departure]:
    """Return the trip that leaves nearest to one of some departures, and that departure.

    A departure may be `lateness` seconds later than the trip's. None, and the first departure, if the
    nearest is more than `tolerance` seconds away.
    """
    apart, trip, departure = min(
        (
            (abs(_leaves_at(trip, departure.position) + lateness - departure.leaves_at), trip, departure)
            for trip in trips
            for departure in departures
        ),
        key=lambda choice: choice[0],
        default=(inf, None, departures[0]),
    )
    return (trip, departure) if apart <= tolerance else (None, departures[0])


def _leaves_at(trip: TrackedTrip, position: int) -> float:
    """Return when a trip leaves its first stop; if not live, by its scheduled time nearest to a position."""
    if trip.is_live or trip.pattern is None or not trip.scheduled:
        return trip.leaves_at
    near = min(trip.scheduled, key=lambda other: abs(other - position))
    return trip.scheduled[near] - trip.pattern.running_times.offsets[near]


def is_other_nameless_trip(
    trip: TrackedTrip, stop: StopState, listing: Listing, parameters: MatchingParameters
) -> bool:
    """Tell whether this stop lists a trip without an id for another scheduled time than the listing's."""
    positions = trip.pattern.positions(stop.code) if trip.pattern else ()
    scheduled = [trip.scheduled[position] for position in positions if position in trip.scheduled]
    tolerance = parameters.same_schedule_seconds
    return bool(scheduled) and all(abs(at - listing.predicted_at) > tolerance for at in scheduled)


def tolerance(listing: Listing, pattern: StopPattern | None, parameters: MatchingParameters) -> float:
    """Return how many seconds apart two departures may seem that are one trip.

    A vehicle runs its line again and again, with the same id on some feeds: less on short patterns.
    """
    if not listing.trip_id:
        return parameters.least_same_trip_seconds
    if pattern is None:
        return parameters.same_trip_seconds
    by_length = parameters.same_trip_share * pattern.running_times.offsets[-1]
    return min(parameters.same_trip_seconds, max(parameters.least_same_trip_seconds, by_length))


def position_of(trip: TrackedTrip, stop: StopState, at: float) -> int | None:
    """Return where along its pattern a trip passes a stop at an instant; None if it does not call there.

    Where the pattern calls twice it is the position that fits the trip's departure better.
    """
    pattern = trip.pattern
    if pattern is None:
        return None
    positions = pattern.positions(stop.code)
    if len(positions) == 1:
        return positions[0]
    offsets = pattern.running_times.offsets
    return min(positions, key=lambda position: abs(at - offsets[position] - trip.leaves_at), default=None)

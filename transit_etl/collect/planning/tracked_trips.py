"""Keeps the tracked trips, and finds or creates the one that a listing is about."""

from collections.abc import Mapping
from math import inf

from transit_etl.collect.planning.lateness import LatenessModel
from transit_etl.collect.planning.listing_matching import (
    Departure,
    departures_of,
    is_other_nameless_trip,
    nearest,
    position_of,
    tolerance,
)
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.policy import Listing, TripKey
from transit_etl.collect.planning.state import StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPattern, StopPatterns


class TrackedTrips:
    """The tracked trips by id, line and destination; those listed without an id share an empty one."""

    def __init__(
        self,
        stops: Mapping[str, StopState],
        patterns: StopPatterns,
        lateness: LatenessModel,
        parameters: PlannerParameters,
    ) -> None:
        self._stops = stops
        self._patterns = patterns
        self._lateness = lateness
        self._p = parameters.matching
        self._unlikely_spreads = parameters.estimate.unlikely_spreads
        self._trips: dict[TripKey, list[TrackedTrip]] = {}

    def trip_of(self, listing: Listing, stop: StopState, at: float) -> TrackedTrip:
        """Return the trip a listing is about, a known or a new one, and take over when it leaves."""
        pattern = self._patterns.pattern_of((listing.line_label, listing.destination), stop.code)
        departures = departures_of(pattern, stop, listing.predicted_at)
        trip, departure = self._known_trip(listing, stop, pattern, departures, at)
        if trip is None:
            trip = TrackedTrip(listing.line_label, listing.trip_id, None, departure.leaves_at)
            self._trips[listing.trip_key].append(trip)
        if listing.is_live and not trip.is_live:
            self._become_live(trip, listing, stop)
        if pattern is not None and (trip.pattern is None or not trip.pattern.positions(stop.code)):
            # A live trip listed where a circle begins and ends may be at either call. Its first answer leaves
            # that open; if later ones still list it there only once, it is at the last call.
            is_open = len(departures) > 1 and listing.is_live and departure == departures[0]
            if is_open and -inf < trip.listed_at < at:
                departure, is_open = departures[-1], False
            if not is_open:
                self._follow(trip, pattern)
        trip.n_missing = trip.n_missing + 1 if trip.is_live and not listing.is_live else 0
        trip.listed_at, trip.leaves_at = at, departure.leaves_at
        return trip

    def forget(self, before: float) -> None:
        """Drop the trips that were last listed before an instant."""
        for key, trips in list(self._trips.items()):
            kept = [trip for trip in trips if trip.listed_at > before]
            if kept:
                self._trips[key] = kept
            else:
                del self._trips[key]

    def _known_trip(
        self,
        listing: Listing,
        stop: StopState,
        pattern: StopPattern | None,
        departures: list[Departure],
        at: float,
    ) -> tuple[TrackedTrip | None, Departure]:
        same_key = self._trips.setdefault(listing.trip_key, [])
        candidates = same_key
        if not listing.trip_id:
            candidates = [
                trip for trip in same_key if not is_other_nameless_trip(trip, stop, listing, self._p)
            ]
        trip, departure = nearest(candidates, departures, tolerance(listing, pattern, self._p))
        if trip is None and listing.is_live and listing.trip_id:
            trip, departure = self._nameless_trip(listing, departures, at)
            if trip is not None:
                trip.trip_id = listing.trip_id
                same_key.append(trip)
        return trip, departure

    def _nameless_trip(
        self, listing: Listing, departures: list[Departure], at: float
    ) -> tuple[TrackedTrip | None, Departure]:
        """Take out the trip listed by timetable, without an id, that a vehicle now appears for.

        It is about as late as such trips usually are, and not listed by timetable in the same answer.
        """
        nameless = self._trips.get(("", listing.line_label, listing.destination), [])
        waiting = [trip for trip in nameless if not trip.is_live and trip.listed_at < at]
        lateness = self._lateness
        apart = self._unlikely_spreads * lateness.spread
        trip, departure = nearest(waiting, departures, apart, lateness.mean)
        if trip is not None:
            nameless.remove(trip)
        return trip, departure

    def _become_live(self, trip: TrackedTrip, listing: Listing, stop: StopState) -> None:
        """Mark a trip as live; where it was listed by timetable, learn how late it is."""
        trip.is_live = True
        trip.clear_anchor()
        position = position_of(trip, stop, listing.predicted_at)
        if position in trip.scheduled:
            self._lateness.learn(listing.predicted_at - trip.scheduled[position])

    def _follow(self, trip: TrackedTrip, pattern: StopPattern) -> None:
        """Let a trip follow a pattern, and drop its visits at the stops of the previous one."""
        for code in trip.pattern.stop_codes if trip.pattern else ():
            stop = self._stops.get(code)
            if stop is not None:
                stop.visits.pop(trip, None)
        trip.set_pattern(pattern)

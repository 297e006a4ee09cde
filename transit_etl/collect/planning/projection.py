"""Expects tracked trips at the stops ahead of them, from the best that is known of their progress."""

from collections.abc import Mapping
from math import inf

from transit_etl.collect.planning.estimates import Estimate, fuse
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip


class Projector:
    """Sets when visits are expected, and remembers for which of them that has changed."""

    def __init__(self, stops: Mapping[str, StopState], parameters: PlannerParameters) -> None:
        self._stops = stops
        self._p = parameters.tracking
        self._parameters = parameters
        self._unlikely_spreads = parameters.estimate.unlikely_spreads
        self._replaced_factor = parameters.estimate.replaced_factor
        self._changed: dict[ExpectedVisit, None] = {}  # in the order of the changes

    def take_changed(self) -> list[ExpectedVisit]:
        """Return the visits that are expected at another time since the last call."""
        changed, self._changed = self._changed, {}
        return list(changed)

    def expect(self, visit: ExpectedVisit, estimate: Estimate) -> None:
        """Expect a visit by an estimate, unless it is expected at about that time already."""
        least = self._p.changed_seconds
        if abs(estimate.mean - visit.mean) < least and abs(estimate.spread - visit.spread) < least:
            return
        visit.expect(estimate, self._parameters)
        self._changed[visit] = None

    def project(self, trip: TrackedTrip, at: float) -> None:
        """Expect a trip at the stops ahead, if its progress has changed since it was last projected."""
        pattern = trip.pattern
        if pattern is None or trip.anchor_spread == inf:
            return
        times = pattern.running_times
        times.refresh()
        start = trip.anchor_at - times.offsets[trip.anchor_position]
        if self._is_projected(trip, start, at):
            return
        trip.projected_start, trip.projected_spread, trip.projected_at = start, trip.anchor_spread, at
        first = at - self._p.look_back_seconds - start
        for position in times.between(first, first + self._p.horizon_seconds):
            stop = self._stops.get(pattern.stop_codes[position])
            if stop is not None and stop.answered_at != at:
                self._project_to(stop, trip, position, start + times.offsets[position], at)

    def _is_projected(self, trip: TrackedTrip, start: float, at: float) -> bool:
        """Tell whether about the same progress of a trip was projected a short time ago."""
        p = self._p
        return (
            abs(start - trip.projected_start) < p.changed_seconds
            and abs(trip.anchor_spread - trip.projected_spread) < p.changed_seconds
            and at - trip.projected_at < p.reproject_seconds
        )

    def _project_to(
        self, stop: StopState, trip: TrackedTrip, position: int, passes_at: float, at: float
    ) -> None:
        p, visit = self._p, stop.visits.get(trip)
        if visit is None:
            if stop.answered_at > at - p.recently_polled_seconds:
                return  # it would have listed the trip
            visit = stop.visits[trip] = ExpectedVisit(trip, stop, position)
        elif (
            visit.position != position
            or visit.valuable_from == inf
            or visit.spread < trip.anchor_spread / self._replaced_factor
        ):
            return  # more is known of it than can be projected, or the stop tells nothing of it
        estimate = Estimate(passes_at, trip.spread_at(position))
        if visit.own_estimate is not None:
            estimate = fuse(visit.own_estimate, estimate, self._unlikely_spreads)
        is_surer = estimate.spread <= self._replaced_factor * visit.spread
        if is_surer and not visit.contradicts(estimate, self._unlikely_spreads):
            self.expect(visit, estimate)

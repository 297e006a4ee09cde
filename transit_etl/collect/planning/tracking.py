"""Tracks trips by what the stops list: which visits are expected where, and which have been evidenced."""

from collections.abc import Iterable
from math import inf
from operator import attrgetter

from transit_etl.collect.planning.estimates import Estimate, fuse
from transit_etl.collect.planning.lateness import LatenessModel
from transit_etl.collect.planning.learning import Learner
from transit_etl.collect.planning.listing_matching import position_of
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.policy import Listing, Observation
from transit_etl.collect.planning.prediction_error import PredictionErrorModel
from transit_etl.collect.planning.projection import Projector
from transit_etl.collect.planning.schedule_reading import ScheduleReading
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPatterns
from transit_etl.collect.planning.tracked_trips import TrackedTrips

_scheduled_first_then_soonest = attrgetter("is_live", "predicted_at")


class Tracker:
    """The stops and tracked trips of a network as far as the answers tell."""

    def __init__(
        self,
        stop_codes: Iterable[str],
        patterns: StopPatterns,
        schedule: ScheduleReading,
        parameters: PlannerParameters,
    ) -> None:
        self.stops = {code: StopState(code) for code in sorted(set(stop_codes))}
        self.patterns = patterns
        self._p = parameters.tracking
        self._listing = parameters.listing
        self._unlikely_spreads = parameters.estimate.unlikely_spreads
        self._forget_trip_seconds = parameters.matching.forget_trip_seconds
        self._prediction_errors = PredictionErrorModel(parameters)
        self._lateness = LatenessModel(parameters)
        self._trips = TrackedTrips(self.stops, patterns, self._lateness, parameters)
        self._schedule = schedule
        self._learner = Learner(self._prediction_errors, schedule, parameters)
        self._projector = Projector(self.stops, parameters)
        self._forgot_at = -inf
        self._overdue_share = 0.0

    def observe(self, observation: Observation) -> Iterable[ExpectedVisit]:
        """Learn from a good answer, and return the visits that are expected at another time since.

        An answer older than the stop's last one changes nothing.
        """
        stop = self.stops.get(observation.stop_code)
        if stop is None or not observation.is_good or observation.at <= stop.answered_at:
            return ()
        at, expected, answered_before = observation.at, stop.visits, stop.answered_at
        stop.visits, stop.answered_at = {}, at
        listings = sorted(observation.listings, key=_scheduled_first_then_soonest)
        trips = [self._observe_listing(stop, listing, expected, at) for listing in listings]
        full = _full_lines(listings, self._listing.per_line)
        self._schedule.learn_unlisted(stop, at, full)
        trips += [
            visit.trip
            for visit in expected.values()
            if self._has_left(visit, answered_before, at, full.get(visit.trip.line_label))
        ]
        for trip in trips:
            self._projector.project(trip, at)
        for pattern in self.patterns.through.get(stop.code, ()):
            pattern.observed_at = at
        self._forget(at)
        return self._projector.take_changed()

    def _observe_listing(
        self, stop: StopState, listing: Listing, expected: dict[TrackedTrip, ExpectedVisit], at: float
    ) -> TrackedTrip:
        """Expect the visit of a listed trip, and return the trip; its visit leaves `expected`."""
        trip = self._trips.trip_of(listing, stop, at)
        position = position_of(trip, stop, listing.predicted_at)
        if trip in stop.visits:
            return trip  # listed twice: a circle ends here, and its sooner call comes first
        visit = expected.get(trip)
        if visit is None or visit.is_other_call(position):
            visit = ExpectedVisit(trip, stop, position or 0)
        else:
            del expected[trip]
        stop.visits[trip] = visit
        if self._is_overdue(visit, listing, at):
            visit.listed_at, visit.valuable_from = -inf, inf
            return trip
        visit.listed_at = at if listing.is_live else -inf
        own = estimate = self._own_estimate(visit, listing, at)
        if trip.pattern is not None and position is not None:
            visit.position, visit.own_estimate = position, own if listing.is_live else None
            trip.pattern.calls.record_answer(position, is_listed=True)
            if not listing.is_live:
                self._learner.learn_schedule(trip, position, listing.predicted_at)
            elif trip.anchor_spread < inf and trip.anchor_position != position:
                estimate = self._with_projection(visit, own, position)
            self._learner.learn_listing(trip, position, own)
        self._projector.expect(visit, estimate)
        return trip

    def _is_overdue(self, visit: ExpectedVisit, listing: Listing, at: float) -> bool:
        """Tell whether a listing as due means nothing: it lasts for long, and so do many others."""
        if not listing.is_live or listing.predicted_at - at > self._listing.vanished_seconds:
            visit.due_from = inf
            return False
        visit.due_from = min(visit.due_from, at)
        is_overdue = at - visit.due_from > self._p.overdue_seconds
        self._overdue_share += self._p.overdue_weight * (is_overdue - self._overdue_share)
        return is_overdue and self._overdue_share > self._p.overdue_share

    def _own_estimate(self, visit: ExpectedVisit, listing: Listing, at: float) -> Estimate:
        """Return when a visit is to be expected by a listing alone, and keep its prediction to learn from."""
        if not listing.is_live:
            return self._lateness.estimate(listing.predicted_at, at)
        ahead = max(0.0, listing.predicted_at - at)
        horizon = self._prediction_errors.horizon_to_learn(ahead)
        if horizon is not None:
            visit.predictions[horizon] = listing.predicted_at
        return self._prediction_errors.estimate(listing.predicted_at, ahead, visit.trip)

    def _with_projection(self, visit: ExpectedVisit, own: Estimate, position: int) -> Estimate:
        """Return a listing's estimate fused with the projection of its trip.

        If the stop listed the trip after it should have passed, the anchor is wrong and is cleared: it is
        of another trip, or along another pattern.
        """
        projected = visit.trip.projected_to(position)
        if visit.contradicts(projected, self._unlikely_spreads):
            visit.trip.clear_anchor()
            return own
        return fuse(own, projected, self._unlikely_spreads)

    def _has_left(
        self, visit: ExpectedVisit, answered_before: float, at: float, full: list[float] | None
    ) -> bool:
        """Decide why an expected visit is not listed; True if its trip has passed, or is listed again.

        `full` are the listed times of its line if that is listed as often as a line can be.
        """
        trip, stop, p = visit.trip, visit.stop, self._p
        ahead = visit.mean - at
        if trip in stop.visits:  # for a later call of a circle
            if visit.listed_at == answered_before:
                self._learner.learn_passage(visit, answered_before, at)
            return True
        if full and visit.mean > full[-1] - p.unlisted_margin_seconds:  # no room for it in the list
            visit.valuable_from = max(visit.valuable_from, full[0])
            self._keep_unlisted(visit)
            return False
        if not -inf < visit.listed_at == answered_before:  # projected here, or listed by timetable
            if ahead > self._unlikely_spreads * visit.spread and trip.pattern:
                trip.pattern.calls.record_answer(visit.position, is_listed=False)
                trip.n_missing += 1
            return False
        if ahead > max(self._listing.vanished_seconds, self._unlikely_spreads * visit.spread):
            trip.n_missing += 1
            self._keep_unlisted(visit)
            return False
        self._learner.learn_passage(visit, answered_before, at)
        return True

    def _keep_unlisted(self, visit: ExpectedVisit) -> None:
        visit.listed_at = -inf
        visit.stop.visits[visit.trip] = visit

    def _forget(self, at: float) -> None:
        """Drop, every `forget_visit_seconds`, the visits and trips that are over."""
        over_before = at - self._p.forget_visit_seconds
        if self._forgot_at > over_before:
            return
        self._forgot_at = at
        for stop in self.stops.values():
            for trip in [trip for trip, visit in stop.visits.items() if visit.mean < over_before]:
                del stop.visits[trip]
        self._trips.forget(at - self._forget_trip_seconds)


def _full_lines(listings: Iterable[Listing], listings_per_line: int) -> dict[str, list[float]]:
    """Return the listed times, in order, of each line listed so often that another trip may be left out."""
    times: dict[str, list[float]] = {}
    for listing in listings:
        times.setdefault(listing.line_label, []).append(listing.predicted_at)
    return {label: sorted(found) for label, found in times.items() if len(found) >= listings_per_line}

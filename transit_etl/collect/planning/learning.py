"""Learns running times, prediction errors and a trip's progress from what stops list and from passages."""

from math import hypot

from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.listing_matching import position_of
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.prediction_error import PredictionErrorModel
from transit_etl.collect.planning.running_times import RunningTimes
from transit_etl.collect.planning.schedule_reading import ScheduleReading
from transit_etl.collect.planning.state import ExpectedVisit, TrackedTrip


class Learner:
    """Takes over what single listings and passages tell of a trip, and what they teach about others."""

    def __init__(
        self,
        prediction_errors: PredictionErrorModel,
        schedule: ScheduleReading,
        parameters: PlannerParameters,
    ) -> None:
        self._prediction_errors = prediction_errors
        self._schedule = schedule
        self._p = parameters.tracking
        self._evidence_seconds = parameters.poll.evidence_seconds
        self._longest_taught_seconds = parameters.prediction_error.measured_seconds
        self._estimate = parameters.estimate
        self._schedule_pace_share = parameters.running_time.schedule_pace_share

    def learn_listing(self, trip: TrackedTrip, position: int, estimate: Estimate) -> None:
        """Make a listing the anchor of its trip if it is not much less sure than the projection."""
        is_sure = estimate.spread <= self._p.sure_spread_seconds
        if is_sure and trip.is_live and trip.anchor_position != position:
            self._learn_running_time(trip, position, estimate)
        if not trip.is_live or estimate.spread <= self._estimate.replaced_factor * trip.spread_at(position):
            trip.set_anchor(position, estimate)

    def learn_schedule(self, trip: TrackedTrip, position: int, scheduled_at: float) -> None:
        """Learn running times from a scheduled time and those listed at the nearest positions around it."""
        scheduled = trip.scheduled
        if trip.pattern is None or position in scheduled:
            return
        before = max((other for other in scheduled if other < position), default=None)
        after = min((other for other in scheduled if other > position), default=None)
        scheduled[position] = scheduled_at
        self._schedule.learn(trip.pattern, position, scheduled_at)
        times = trip.pattern.running_times
        if before is not None and scheduled_at > scheduled[before]:
            self._learn_scheduled_time(times, before, position, scheduled_at - scheduled[before])
        if after is not None and scheduled_at < scheduled[after]:
            self._learn_scheduled_time(times, position, after, scheduled[after] - scheduled_at)

    def learn_passage(self, visit: ExpectedVisit, after: float, before: float) -> None:
        """Learn that a trip has passed a stop between two instants: the last good answers of the stop."""
        trip, interval = visit.trip, before - after
        if interval <= self._longest_taught_seconds:
            self._prediction_errors.learn_passage(trip, visit.predictions, (after + before) / 2, interval)
        spread = min(visit.spread, interval * self._p.passage_spread_share)
        estimate = Estimate(
            min(max(visit.mean, after), before), max(self._estimate.least_spread_seconds, spread)
        )
        position = position_of(trip, visit.stop, estimate.mean)
        if trip.pattern is None or position is None:
            return
        if estimate.spread <= self._p.sure_spread_seconds:
            self._learn_running_time(trip, position, estimate)
        if interval <= self._evidence_seconds:
            trip.n_evidenced += 1
            third = trip.pattern.calls.third(position)
            if third is not None:
                trip.evidenced_thirds.add(third)
        trip.set_anchor(position, estimate)

    def _learn_running_time(self, trip: TrackedTrip, position: int, estimate: Estimate) -> None:
        """Learn the running time from the anchor to a later passage, if both are well known."""
        seconds = estimate.mean - trip.anchor_at
        is_later = position > trip.anchor_position and seconds > 0
        if trip.pattern and is_later and trip.anchor_spread <= self._p.sure_spread_seconds:
            spread = hypot(estimate.spread, trip.spread_at(position))
            trip.pattern.running_times.learn(trip.anchor_position, position, seconds, spread)

    def _learn_scheduled_time(self, times: RunningTimes, start: int, end: int, seconds: float) -> None:
        least_spread = self._estimate.least_spread_seconds
        times.learn(start, end, seconds, hypot(least_spread, self._schedule_pace_share * seconds))

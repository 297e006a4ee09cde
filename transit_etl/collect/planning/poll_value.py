"""Computes what a poll of a stop is worth at an instant, and when to compute it again.

A passage is evidenced by a good poll that lists its trip live and a good poll at most a minute later that
no longer lists it. So polls come in pairs: an open pair is one whose second poll is still to come. With
`P(a, b)` for the probability that the trip of a visit passes between two instants, and the names of
`parameters`, the value of a poll of a stop now is the sum over the visits expected there of

    weight * ( second_poll_weight * P(passed by now)             if an open pair lists the trip
             + first_poll_weight * (P(now, now + pair) - early_poll_weight * what waiting would add to it)
             + locating_weight * (located_probability - best P) * P(now + pair, now + look ahead) )

    weight = probability that the trip is listed live
             * (1 + bonus for a trip with few evidenced visits + bonus for a third without any)

While a pair is open, its second poll waits until the passages it can complete are over, or the minute
nearly is; until then a poll of the stop is worth nothing. `docs/planning.md` says why, with figures.
"""

from math import erf, inf, sqrt

from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.polls import is_pending
from transit_etl.collect.planning.schedule_reading import ScheduleReading
from transit_etl.collect.planning.state import ExpectedVisit, StopState

_SQRT_2 = sqrt(2.0)


# A visit that a second poll may complete, its weight, and the probability that its trip has passed already.
# No named tuple: this is the innermost loop of planning.
_Completable = tuple[ExpectedVisit, float, float]


class PollValuer:
    """The value of polls at a permit rate; without bonuses all visits count alike."""

    def __init__(
        self,
        rate_per_minute: float,
        parameters: PlannerParameters,
        schedule: ScheduleReading | None = None,
        *,
        has_bonuses: bool = True,
    ) -> None:
        self._schedule = schedule
        self._poll = parameters.poll
        self._p = p = parameters.poll_value
        self._unlikely_spreads = parameters.estimate.unlikely_spreads
        self._live_seconds = parameters.listing.live_seconds
        self._few_visits_bonus = p.few_visits_bonus if has_bonuses else 0.0
        self._third_bonus = p.third_bonus_at_60_per_minute * 60.0 / rate_per_minute if has_bonuses else 0.0

    def value(self, stop: StopState, now: float) -> tuple[float, float]:
        """Return what a poll is worth now, in visits, and when to compute it again; infinity for never."""
        if is_pending(stop, now, self._poll):
            return 0.0, stop.asked_at + self._poll.pending_seconds
        p, answered_at = self._p, stop.answered_at
        is_open = now - answered_at < self._poll.evidence_seconds
        prepared, again_at = 0.0, inf
        completable: list[_Completable] = []
        for visit in stop.visits.values():
            if visit.valuable_from > now:
                if visit.valuable_from < again_at:  # noqa: PLR1730 - calling min costs more than the rest
                    again_at = visit.valuable_from
                continue
            is_completable = is_open and visit.listed_at == answered_at
            if not is_completable and now - visit.mean > min(
                self._poll.pair_seconds, self._unlikely_spreads * visit.spread
            ):
                continue
            again_at = now + p.revalue_seconds
            passed = passed_probability(visit, now)
            preparation = self.first_poll_value(visit, passed, now)
            if preparation < p.least_value and not is_completable:
                continue
            weight = self.weight(visit)
            prepared += weight * preparation
            if is_completable:
                completable.append((visit, weight, passed))
        if completable:
            return self._second_poll_value(stop, completable, prepared, now, again_at)
        if self._schedule is None:
            return prepared, again_at
        prepared += self._schedule.bonus(stop, prepared, now)
        return prepared, min(again_at, self._schedule.revalue_at(stop, now))

    def weight(self, visit: ExpectedVisit) -> float:
        """Return how much a visit counts: by what evidence its trip lacks, and how likely it is listed."""
        p, trip, position = self._p, visit.trip, visit.position
        calls = None if trip.pattern is None else trip.pattern.calls
        weight = 1.0
        if calls is not None:
            n_to_come, n_to_come_in_third = calls.to_come(position)
            n_wanted = p.visits_wanted - trip.n_evidenced
            if n_wanted > 0:
                weight += self._few_visits_bonus * n_wanted / (p.few_visits_stops + n_to_come)
            third = calls.third(position)
            if third is not None and third not in trip.evidenced_thirds:
                weight += self._third_bonus / (1 + n_to_come_in_third)
        if visit.listed_at > -inf:
            return weight
        if calls is not None:
            weight *= calls.probability(position)
        if not trip.is_live and trip.listed_at > trip.leaves_at - self._live_seconds:
            return weight * p.late_live_probability
        return weight * p.missing_factor**trip.n_missing

    def first_poll_value(self, visit: ExpectedVisit, passed: float, now: float) -> float:
        """Return what a poll now prepares of a visit of weight 1 that has `passed` with this probability."""
        p, pair = self._p, self._poll.pair_seconds
        passed_by_second = passed_probability(visit, now + pair)
        enclosed = passed_by_second - passed
        most_enclosed = erf(pair / (2.0 * _SQRT_2 * visit.spread))
        value = p.first_poll_weight * enclosed
        if now < visit.mean - pair / 2:
            value = max(0.0, value - p.first_poll_weight * p.early_poll_weight * (most_enclosed - enclosed))
        if most_enclosed >= p.located_probability:
            return value
        located = passed_probability(visit, now + self._poll.look_ahead_seconds) - passed_by_second
        return value + p.locating_weight * (p.located_probability - most_enclosed) * located

    def _second_poll_value(
        self, stop: StopState, visits: list[_Completable], prepared: float, now: float, again_at: float
    ) -> tuple[float, float]:
        """Return what a poll that closes an open pair is worth; nothing while it is better to wait."""
        p, answered_at = self._p, stop.answered_at
        latest = answered_at + self._poll.pair_seconds
        over_at, completed, completable = now, 0.0, 0.0
        for visit, weight, passed in visits:
            completed += weight * passed
            completable += weight * passed_probability(visit, latest)
            over_at = max(over_at, visit.mean + self._unlikely_spreads * visit.spread)
        if completable <= 2 * p.least_value:
            return prepared, again_at
        if now < latest and completed < p.enough_closed_share * completable:
            return 0.0, min(max(over_at, now + p.revalue_seconds), latest)
        return p.second_poll_weight * completed + prepared, again_at


def passed_probability(visit: ExpectedVisit, at: float) -> float:
    """Return the probability that the trip of a visit has passed by an instant: a normal distribution."""
    return 0.5 * (1.0 + erf((at - visit.mean) / (visit.spread * _SQRT_2)))

"""Spends each permit where it is likely to show a bus just before or just after it passes.

A passage is evidenced by a good poll that lists its bus live and a good poll at most a minute later that
lists it no more. So polls come in pairs. The second of a pair is worth the passages it completes; the first
is worth half of those expected within the minute after it, because it costs a second one. A passage counts
for more while its trip has few evidenced ones, or none in that third of its route.
"""

from collections.abc import Iterable
from math import erf, inf, sqrt

from transit_etl.collect.planner import PENDING_SECONDS, Observation
from transit_etl.collect.routes import Course, Routes
from transit_etl.collect.tracking import Stop, Tracker, Visit

PAIR_SECONDS = 57.0  # the rest of the minute is for the network and for the permit to come
READY_SECONDS = 49.0  # from here on the second of a pair may be sent
EXPLORE_EVERY = 16  # of so many choices one goes to the routes least known of
SWEEP_EVERY = 97  # and one to the stop longest unseen
ENOUGH_PER_TRIP = 3
FEW_BONUS = 2.0
THIRD_BONUS, SCARCITY = 16.0, 1.3  # at 60 a minute; with more, each third counts for less
FIRST_OF_PAIR, LOCATING = 0.5, 0.1
LOST_SPREAD, LOCATE_SECONDS = 35.0, 150.0
_LONGEST_UNKNOWN_SECONDS = 900.0
_LEAST_GAIN, _NOT_WORTH = 0.05, 0.01
_SURELY_GONE = 2.06  # so many spreads after the mean even FIRST_OF_PAIR times what is left is _NOT_WORTH it
_SCAN_SECONDS = 1.0
_LOOK_BACK_SECONDS, _LOOK_AHEAD_SECONDS = 75.0, 150.0
_LIVE_AHEAD_SECONDS = 240.0  # a bus not live by then before it leaves will hardly be
_LIKELY, _HARDLY = 0.95, 0.05
_SQRT_2 = sqrt(2.0)
_DEAD_AFTER, _FIRST_REST_SECONDS, _LONGEST_REST_SECONDS = 4, 300.0, 3_600.0


class Adaptive:
    """Looks at stops just before and just after their buses pass, and at each of them now and then."""

    def __init__(
        self, stop_codes: Iterable[str], courses: Iterable[Course] = (), rate_per_minute: float = 60.0
    ) -> None:
        self._third_bonus = THIRD_BONUS * (60.0 / rate_per_minute) ** SCARCITY
        self._tracker = Tracker(stop_codes, Routes(courses))
        self._gains: dict[Stop, float] = {}
        self._scanned_at = -inf
        self._n_choices = 0

    def observe(self, observation: Observation) -> None:
        """Take over what a good answer lists; a bad one changes nothing that is known of buses."""
        stop = self._tracker.stops.get(observation.stop_code)
        if stop is None:
            return
        stop.asked_at = min(stop.asked_at, observation.at)
        self._tracker.observe(observation)
        if observation.is_good or observation.is_refused:
            _rest_if_dead(stop, observation)

    def choose(self, now: float) -> str:
        """Return the stop with the highest expected gain, or in its turn one that is little known."""
        self._n_choices += 1
        if self._n_choices % SWEEP_EVERY == 0:
            stop = self._longest_unseen(now)
        elif self._n_choices % EXPLORE_EVERY == 0:
            stop = self._least_known(now)
        else:
            stop = self._most_gain(now) or self._least_known(now)
        stop.asked_at = now
        self._gains.pop(stop, None)
        return stop.code

    def _most_gain(self, now: float) -> Stop | None:
        if now - self._scanned_at >= _SCAN_SECONDS:
            self._scan(now)
        return max(self._gains, key=self._gains.__getitem__, default=None)

    def _scan(self, now: float) -> None:
        """Work out anew what a poll of each stop is worth now."""
        self._scanned_at = now
        by_stop: dict[Stop, list[Visit]] = {}
        for visit in self._tracker.due(now - _LOOK_BACK_SECONDS, now + _LOOK_AHEAD_SECONDS):
            if visit.mean - now < PAIR_SECONDS + 2 * visit.spread:
                visits = by_stop.get(visit.stop)
                if visits is None:
                    by_stop[visit.stop] = [visit]
                else:
                    visits.append(visit)
        self._gains = {
            stop: gain
            for stop, visits in by_stop.items()
            if not _is_pending(stop, now) and (gain := self._gain(stop, visits, now)) >= _LEAST_GAIN
        }

    def _gain(self, stop: Stop, visits: list[Visit], now: float) -> float:
        """Return what a poll of a stop is worth now; nothing while it is better to wait."""
        seen_at = stop.seen_at
        since = now - seen_at
        is_open = since <= PAIR_SECONDS + 2
        completed = completable = prepared = 0.0
        for visit in visits:
            is_half_done = is_open and visit.listed_at == seen_at
            if not is_half_done and now - visit.mean > _SURELY_GONE * visit.spread:
                continue
            gone = _below(now, visit)
            preparation = _preparation(visit, gone, now)
            if preparation < _NOT_WORTH and not is_half_done:
                continue
            weight = self._weight(visit)
            prepared += weight * preparation
            if is_half_done:
                completed += weight * gone
                completable += weight * _below(seen_at + PAIR_SECONDS, visit)
        if completable > 2 * _LEAST_GAIN:
            if since < READY_SECONDS and completed < 0.97 * completable:
                return 0.0
            return completed + prepared
        return prepared

    def _weight(self, visit: Visit) -> float:
        run = visit.run
        weight = 1.0
        if run.route is not None:
            if run.n_evidenced < ENOUGH_PER_TRIP:
                weight += FEW_BONUS
            if not run.thirds >> run.route.third(visit.position) & 1:
                weight += self._third_bonus
        if visit.listed_at > -inf:
            return weight
        weight *= self._tracker.routes.is_served(run.service, visit.stop.code)
        is_still_unseen = not run.is_live and run.seen_at > run.origin_at - _LIVE_AHEAD_SECONDS
        return weight * (_HARDLY if is_still_unseen else _LIKELY)

    def _least_known(self, now: float) -> Stop:
        """Return the stop whose routes have gone longest without a look, taken together."""
        routes = self._tracker.routes
        oldest = min(routes.all, key=lambda route: route.seen_at, default=None)
        if oldest is None:
            return self._longest_unseen(now)
        stops = [self._tracker.stops[code] for code in oldest.stop_codes if code in self._tracker.stops]
        awake = [stop for stop in stops if stop.rests_until <= now and not _is_pending(stop, now)]
        if not awake:
            oldest.seen_at = now
            return self._longest_unseen(now)
        return max(awake, key=lambda stop: (self._unknown_seconds(stop, now), -_looked_at(stop)))

    def _unknown_seconds(self, stop: Stop, now: float) -> float:
        """Return for how long nobody has looked at the routes through a stop, taken together."""
        routes = self._tracker.routes.through[stop.code]
        return sum(min(_LONGEST_UNKNOWN_SECONDS, now - route.seen_at) for route in routes)

    def _longest_unseen(self, now: float) -> Stop:
        stops = self._tracker.stops.values()
        rested = [stop for stop in stops if stop.rests_until <= now] or list(stops)
        return min(rested, key=lambda stop: (_looked_at(stop), stop.code))


def _rest_if_dead(stop: Stop, observation: Observation) -> None:
    """Let a stop that names no bus again and again be, for longer each time; one bus brings it back."""
    stop.n_nothing = 0 if observation.listings else stop.n_nothing + 1
    if stop.n_nothing >= _DEAD_AFTER:
        rest = _FIRST_REST_SECONDS * 2 ** min(8, stop.n_nothing - _DEAD_AFTER)
        stop.rests_until = observation.at + min(_LONGEST_REST_SECONDS, rest)
    else:
        stop.rests_until = observation.at


def _preparation(visit: Visit, gone: float, now: float) -> float:
    """Return what a poll now is worth to a visit that it may come before."""
    pair = FIRST_OF_PAIR * (_below(now + PAIR_SECONDS, visit) - gone)
    if visit.listed_at > -inf or visit.spread < LOST_SPREAD:
        return pair
    return max(pair, LOCATING * (_below(now + LOCATE_SECONDS, visit) - gone))


def _looked_at(stop: Stop) -> float:
    return max(stop.seen_at, stop.asked_at)


def _is_pending(stop: Stop, now: float) -> bool:
    return stop.asked_at > stop.seen_at and now - stop.asked_at < PENDING_SECONDS


def _below(instant: float, visit: Visit) -> float:
    """Return how likely it is that a visit is over by an instant."""
    return 0.5 * (1.0 + erf((instant - visit.mean) / (visit.spread * _SQRT_2)))

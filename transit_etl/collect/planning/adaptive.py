"""Spends each permit where it is likely to show a bus just before or just after it passes.

`valuing` says what a poll is worth. Here each stop is valued again when its value may have changed: when an
answer changed what is expected there, when a bus comes near, and every few seconds while one is near.
Beside that there is a floor: no stop and no line-direction goes unseen for longer than a set time.
"""

from collections.abc import Iterable
from math import inf

from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.planner import Observation
from transit_etl.collect.planning.poll_value import (
    LEAST_VALUE,
    REVALUE_SECONDS,
    PollValuer,
    is_pending,
    note_answer,
)
from transit_etl.collect.planning.state import StopState
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern, StopPatterns
from transit_etl.collect.planning.tracking import Tracker

LONGEST_STOP_UNSEEN_SECONDS = 86_400.0
LONGEST_ROUTE_UNSEEN_SECONDS = 1_800.0
FLOOR_EVERY = 3  # of so many choices at most one goes to what has been unseen for that long
EXPLORE_EVERY = 48  # of so many choices one goes to the routes least known of
_LONGEST_UNKNOWN_SECONDS = 900.0
_MOST_REVALUED = 4
_FAR_BEHIND, _UNHURRIED = 0.4, 4  # a stop worth so much less than the best is valued so much less often
_DEAD_AFTER, _FIRST_REST_SECONDS, _LONGEST_REST_SECONDS = 4, 300.0, 3_600.0


class Adaptive:
    """Looks at stops just before and just after their buses pass, and at each of them now and then."""

    def __init__(
        self, stop_codes: Iterable[str], courses: Iterable[LineStops] = (), rate_per_minute: float = 60.0
    ) -> None:
        self._tracker = Tracker(stop_codes, StopPatterns(courses))
        self._valuer = PollValuer(rate_per_minute)
        self._values: dict[StopState, float] = {}
        self._to_value: DueQueue[StopState] = DueQueue()
        self._stop_floor: DueQueue[StopState] = DueQueue()
        self._route_floor: DueQueue[StopPattern] = DueQueue()
        self._last_value = 0.0
        self._n_choices = 0

    def observe(self, observation: Observation) -> None:
        """Take over what a good answer lists; a bad one changes nothing that is known of buses."""
        stop = self._tracker.stops.get(observation.stop_code)
        if stop is None:
            return
        stop.asked_at = min(stop.asked_at, observation.at)
        note_answer(stop, observation.at, is_good=observation.is_good)
        for changed in self._tracker.observe(observation):
            self._to_value.put_by(changed.stop, max(observation.at, changed.worth_from))
        self._to_value.put_by(stop, observation.at)
        if observation.is_good or observation.is_refused:
            _rest_if_dead(stop, observation)

    def choose(self, now: float) -> str:
        """Return the stop with the highest value, or in its turn one that is little known."""
        if not self._n_choices:
            self._lay_floor(now)
        self._n_choices += 1
        stop = self._chosen(now)
        stop.asked_at = now
        self._values.pop(stop, None)
        self._to_value.put(stop, now)
        self._stop_floor.put(stop, now + LONGEST_STOP_UNSEEN_SECONDS)
        return stop.code

    def _chosen(self, now: float) -> StopState:
        unseen = self._unseen_too_long(now) if self._n_choices % FLOOR_EVERY == 0 else None
        if unseen is not None:
            return unseen
        if self._n_choices % EXPLORE_EVERY == 0:
            return self._least_known(now)
        return self._most_valuable(now) or self._least_known(now)

    def _most_valuable(self, now: float) -> StopState | None:
        """Return the best stop; a value worked out a moment ago is checked before it decides."""
        for stop in self._to_value.take(now):
            self._revalue(stop, now)
        best = None
        for _ in range(_MOST_REVALUED):
            candidate = max(self._values, key=self._values.__getitem__, default=None)
            if candidate is None or candidate is best:
                return candidate
            best = candidate
            self._revalue(best, now)
            self._last_value = self._values.get(best, 0.0)
        return best if best in self._values else None

    def _revalue(self, stop: StopState, now: float) -> None:
        value, again_at = self._valuer.value(stop, now)
        if 0 < value < _FAR_BEHIND * self._last_value and again_at == now + REVALUE_SECONDS:
            again_at = now + _UNHURRIED * REVALUE_SECONDS
        if value >= LEAST_VALUE:
            self._values[stop] = value
        else:
            self._values.pop(stop, None)
        if again_at < inf:
            self._to_value.put(stop, again_at)
        else:
            self._to_value.remove(stop)

    def _lay_floor(self, now: float) -> None:
        """Spread what has never been seen evenly over the time in which it must be."""
        stops, routes = list(self._tracker.stops.values()), self._tracker.routes.all
        for n, stop in enumerate(stops, start=1):
            unseen_since = max(_looked_at(stop), now - LONGEST_STOP_UNSEEN_SECONDS * (1 - n / len(stops)))
            self._stop_floor.put(stop, unseen_since + LONGEST_STOP_UNSEEN_SECONDS)
        for n, route in enumerate(routes, start=1):
            unseen_since = max(route.seen_at, now - LONGEST_ROUTE_UNSEEN_SECONDS * (1 - n / len(routes)))
            self._route_floor.put(route, unseen_since + LONGEST_ROUTE_UNSEEN_SECONDS)

    def _unseen_too_long(self, now: float) -> StopState | None:
        """Return a stop that has been unseen for too long, or one of such a line-direction."""
        while (route := self._route_floor.earliest(now)) is not None:
            due_at = route.seen_at + LONGEST_ROUTE_UNSEEN_SECONDS
            self._route_floor.put(route, due_at if due_at > now else now + LONGEST_ROUTE_UNSEEN_SECONDS / 10)
            if due_at <= now and (stop := self._best_known_of(route, now)) is not None:
                return stop
        return self._stop_floor.earliest(now)

    def _least_known(self, now: float) -> StopState:
        """Return the stop whose routes have gone longest without a look, taken together."""
        oldest = min(self._tracker.routes.all, key=lambda route: route.seen_at, default=None)
        stop = None if oldest is None else self._best_known_of(oldest, now)
        if oldest is not None and stop is None:
            oldest.seen_at = max(oldest.seen_at, now - _LONGEST_UNKNOWN_SECONDS / 2)  # others come first
        return stop or self._longest_unseen(now)

    def _best_known_of(self, route: StopPattern, now: float) -> StopState | None:
        """Return the stop of a route that tells most of others too; None while all of them are let be."""
        stops = [self._tracker.stops[code] for code in route.stop_codes if code in self._tracker.stops]
        awake = [stop for stop in stops if stop.rests_until <= now and not is_pending(stop, now)]
        return max(
            awake, key=lambda stop: (self._unknown_seconds(stop, now), -_looked_at(stop)), default=None
        )

    def _unknown_seconds(self, stop: StopState, now: float) -> float:
        """Return for how long nobody has looked at the routes through a stop, taken together."""
        routes = self._tracker.routes.through[stop.code]
        return sum(min(_LONGEST_UNKNOWN_SECONDS, now - route.seen_at) for route in routes)

    def _longest_unseen(self, now: float) -> StopState:
        stops = self._tracker.stops.values()
        rested = [stop for stop in stops if stop.rests_until <= now] or list(stops)
        return min(rested, key=lambda stop: (_looked_at(stop), stop.code))


def _rest_if_dead(stop: StopState, observation: Observation) -> None:
    """Let a stop that names no bus again and again be, for longer each time; one bus brings it back."""
    stop.n_nothing = 0 if observation.listings else stop.n_nothing + 1
    if stop.n_nothing >= _DEAD_AFTER:
        rest = _FIRST_REST_SECONDS * 2 ** min(8, stop.n_nothing - _DEAD_AFTER)
        stop.rests_until = observation.at + min(_LONGEST_REST_SECONDS, rest)
    else:
        stop.rests_until = observation.at


def _looked_at(stop: StopState) -> float:
    return max(stop.seen_at, stop.asked_at)

"""Spends permits knowing the truth: what the planner could reach if it knew when each trip will pass.

It values polls as the adaptive policy does, by the same formula with the same bonuses, but each visit is
expected when it really happens, and nothing has to be found first. So the difference between the two is one
of knowledge, not of aims. With `has_bonuses=False` it maximises visits alone. It is greedy as well: a
reference, not a proof of a limit.
"""

from collections import deque
from collections.abc import Sequence
from datetime import date
from math import inf

import numpy as np

from transit_emulator.world import World
from transit_etl.collect.planning.calls import Calls
from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.policy import Observation
from transit_etl.collect.planning.poll_value import PollValuer
from transit_etl.collect.planning.polls import record_answer
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern

_SPREAD_SECONDS = 0.5
_AHEAD_SECONDS = 120.0


class _ExactCalls(Calls):
    """The calls of a pattern, whose thirds are exact."""

    def third(self, position: int) -> int | None:
        return min(2, 3 * position // len(self._thirds))


class Clairvoyant:
    """Knows when each tracked trip of a service date passes each stop."""

    def __init__(
        self,
        world: World,
        day: date,
        rate_per_minute: float,
        parameters: PlannerParameters,
        *,
        has_bonuses: bool = True,
    ) -> None:
        self._p = parameters
        self._stops = {stop.code: StopState(stop.code) for stop in world.network.stops}
        self._turn = deque(self._stops.values())
        self._visits = self._true_visits(world, day)
        self._valuer = PollValuer(rate_per_minute, parameters, has_bonuses=has_bonuses)
        self._values: dict[StopState, float] = {}
        self._to_value: DueQueue[StopState] = DueQueue()
        self._n_entered = 0

    def observe(self, observation: Observation) -> None:
        """Note which passages this answer and the one before it enclose."""
        stop, at = self._stops[observation.stop_code], observation.at
        record_answer(stop, observation, self._p)
        self._to_value.put_at_latest(stop, at)
        if not observation.is_good:
            return
        answered_before, stop.answered_at = stop.answered_at, at
        for visit in list(stop.visits.values()):
            if visit.mean > at:
                visit.listed_at = at
                continue
            del stop.visits[visit.trip]
            is_within_pair = at - answered_before <= self._p.poll.evidence_seconds
            if visit.listed_at == answered_before and is_within_pair:
                self._count(visit)

    def choose(self, now: float) -> str:
        """Return the stop most worth a poll."""
        self._enter(now)
        for due in self._to_value.pop_due(now):
            self._revalue(due, now)
        top = max(self._values, key=self._values.__getitem__, default=None)
        if top is None:
            self._turn.rotate(-1)
        stop = top or self._turn[-1]
        stop.asked_at = now
        self._values.pop(stop, None)
        self._to_value.put(stop, now)
        return stop.code

    def count_as_asked(self, stop_code: str, now: float) -> None:
        """Expect an answer of a stop that somebody else chose."""
        self._stops[stop_code].asked_at = now

    def running_seconds(self, stop_codes: Sequence[str]) -> None:
        """Return nothing: it knows passages, not running times."""

    def _count(self, visit: ExpectedVisit) -> None:
        visit.trip.n_evidenced += 1
        third = visit.trip.pattern.calls.third(visit.position) if visit.trip.pattern else None
        if third is not None:
            visit.trip.evidenced_thirds.add(third)

    def _enter(self, now: float) -> None:
        """Let the stops expect the trips that come within the next two minutes."""
        while self._n_entered < len(self._visits):
            visit = self._visits[self._n_entered]
            if visit.mean > now + _AHEAD_SECONDS:
                return
            self._n_entered += 1
            visit.stop.visits[visit.trip] = visit
            visit.listed_at = visit.stop.answered_at
            self._to_value.put_at_latest(visit.stop, visit.valuable_from)

    def _revalue(self, stop: StopState, now: float) -> None:
        value, again_at = self._valuer.value(stop, now)
        self._values.pop(stop, None)
        if value > 0:
            self._values[stop] = value
        if again_at < inf:
            self._to_value.put(stop, again_at)

    def _true_visits(self, world: World, day: date) -> list[ExpectedVisit]:
        """Return the passages of the trips tracked to the end and not diverted, soonest first."""
        board, network = world.board(day), world.network
        schedule, motion = board.schedule, board.motion
        found = []
        patterns: dict[int, StopPattern] = {}
        for row in np.flatnonzero(motion.is_complete).tolist():
            codes = tuple(network.stops[place].code for place in schedule.stops[row][schedule.is_call[row]])
            number = int(network.trip_pattern[schedule.trips[row]])
            pattern = patterns.get(number) or patterns.setdefault(number, _exact_pattern(codes, self._p))
            trip = TrackedTrip("", str(row), pattern, 0.0, is_live=True)
            passed = motion.passed_at[row][schedule.is_call[row]].tolist()
            for position, (code, at) in enumerate(zip(codes, passed, strict=True)):
                if at > motion.live_from[row]:
                    visit = ExpectedVisit(trip, self._stops[code], position)
                    visit.expect(Estimate(float(at), _SPREAD_SECONDS), self._p)
                    found.append(visit)
        return sorted(found, key=lambda visit: visit.mean)


def _exact_pattern(stop_codes: tuple[str, ...], parameters: PlannerParameters) -> StopPattern:
    pattern = StopPattern(LineStops("", stop_codes), parameters)
    pattern.calls = _ExactCalls(len(stop_codes), parameters)
    return pattern

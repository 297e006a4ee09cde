"""Spends permits with the truth in hand: what the planner could reach if it knew when each bus will pass.

It values polls exactly as the adaptive policy does, by the same formula with the same bonuses, but each visit
is expected when it really happens, and nothing has to be looked for. So the difference between the two is one
of knowledge and not of aims. With `has_bonuses=False` it wants as many visits as it can get and nothing else.
It is greedy as well, so a reference and no proof of a limit.
"""

from collections import deque
from datetime import date
from math import inf

import numpy as np

from transit_emulator.world import World
from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.planner import Observation
from transit_etl.collect.planning.poll_value import PollValuer, note_answer
from transit_etl.collect.planning.state import EVIDENCE_SECONDS, ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPattern

_SURE_SPREAD = 0.5
_AHEAD_SECONDS = 120.0


class _ExactPattern(StopPattern):
    """The stops of one pattern, whose thirds are exact."""

    def third(self, position: int) -> int | None:
        return min(2, 3 * position // len(self.stop_codes))


class Clairvoyant:
    """Knows when each tracked bus of a service date passes each stop."""

    def __init__(self, world: World, day: date, rate_per_minute: float, *, has_bonuses: bool = True) -> None:
        self._stops = {stop.code: StopState(stop.code) for stop in world.network.stops}
        self._turn = deque(self._stops.values())
        self._visits = self._true_visits(world, day)
        self._valuer = PollValuer(rate_per_minute, has_bonuses=has_bonuses)
        self._values: dict[StopState, float] = {}
        self._to_value: DueQueue[StopState] = DueQueue()
        self._n_entered = 0

    def observe(self, observation: Observation) -> None:
        """Note which passages this answer and the one before it enclose."""
        stop, at = self._stops[observation.stop_code], observation.at
        stop.asked_at = min(stop.asked_at, at)
        note_answer(stop, at, is_good=observation.is_good)
        self._to_value.put_by(stop, at)
        if not observation.is_good:
            return
        seen_before, stop.seen_at = stop.seen_at, at
        for visit in list(stop.visits.values()):
            if visit.mean > at:
                visit.listed_at = at
                continue
            del stop.visits[visit.run]
            if visit.listed_at == seen_before and at - seen_before <= EVIDENCE_SECONDS:
                self._count(visit)

    def choose(self, now: float) -> str:
        """Return the stop most worth a poll."""
        self._enter(now)
        for due in self._to_value.take(now):
            self._revalue(due, now)
        top = max(self._values, key=self._values.__getitem__, default=None)
        if top is None:
            self._turn.rotate(-1)
        stop = top or self._turn[-1]
        stop.asked_at = now
        self._values.pop(stop, None)
        self._to_value.put(stop, now)
        return stop.code

    def _count(self, visit: ExpectedVisit) -> None:
        visit.run.n_evidenced += 1
        third = visit.run.route.third(visit.position) if visit.run.route else None
        visit.run.thirds |= 0 if third is None else 1 << third

    def _enter(self, now: float) -> None:
        """Let the stops expect the buses that come within the next two minutes."""
        while self._n_entered < len(self._visits):
            visit = self._visits[self._n_entered]
            if visit.mean > now + _AHEAD_SECONDS:
                return
            self._n_entered += 1
            visit.stop.visits[visit.run] = visit
            visit.listed_at = visit.stop.seen_at
            self._to_value.put_by(visit.stop, visit.worth_from)

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
        routes: dict[int, StopPattern] = {}
        for row in np.flatnonzero(motion.is_complete).tolist():
            pattern = int(network.trip_pattern[schedule.trips[row]])
            codes = tuple(network.stops[place].code for place in schedule.stops[row][schedule.is_call[row]])
            route = routes.setdefault(pattern, _ExactPattern("", codes))
            run = TrackedTrip(("", ""), str(row), route, 0.0, is_live=True)
            passed = motion.passed_at[row][schedule.is_call[row]].tolist()
            for place, (code, at) in enumerate(zip(codes, passed, strict=True)):
                if at > motion.live_from[row]:
                    found.append(ExpectedVisit(run, self._stops[code], place))
                    found[-1].expect(float(at), _SURE_SPREAD)
        return sorted(found, key=lambda visit: visit.mean)

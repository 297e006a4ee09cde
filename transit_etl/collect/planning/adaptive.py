"""The adaptive policy: asks a stop just before and just after a trip passes, and no stop too rarely.

Most choices go to the stop most worth a poll (`ranking`, `poll_value`), by what `tracking` knows of trips.
Some go to what has been unseen for long (`floor`). `docs/planning.md` explains the whole.
"""

from collections.abc import Iterable, Sequence

from transit_etl.collect.planning.floor import Floor
from transit_etl.collect.planning.parameters import DEFAULTS, PlannerParameters
from transit_etl.collect.planning.policy import Observation
from transit_etl.collect.planning.poll_value import PollValuer
from transit_etl.collect.planning.polls import record_answer
from transit_etl.collect.planning.ranking import Ranking
from transit_etl.collect.planning.schedule_reading import ScheduleReading, Schedules
from transit_etl.collect.planning.state import StopState
from transit_etl.collect.planning.stop_patterns import LineStops, StopPatterns
from transit_etl.collect.planning.tracking import Tracker


class Adaptive:
    """Chooses stops for a permit rate; knows of the network only its stops and the stops of each line."""

    def __init__(
        self,
        stop_codes: Iterable[str],
        all_line_stops: Iterable[LineStops] = (),
        rate_per_minute: float = 60.0,
        parameters: PlannerParameters = DEFAULTS,
        *,
        schedules: Schedules | None = None,
    ) -> None:
        patterns = StopPatterns(all_line_stops, parameters)
        self.schedule = schedule = ScheduleReading(schedules or {}, patterns, parameters)
        self._p = parameters
        self._patterns = patterns
        self._tracker = Tracker(stop_codes, patterns, schedule, parameters)
        self._ranking = Ranking(PollValuer(rate_per_minute, parameters, schedule), parameters)
        self._floor = Floor(self._tracker.stops, patterns, parameters)
        self._n_choices = 0

    def observe(self, observation: Observation) -> None:
        """Learn from an answer; a failed one only sets when its stop can be asked again."""
        stop = self._tracker.stops.get(observation.stop_code)
        if stop is None:
            return
        record_answer(stop, observation, self._p)
        for visit in self._tracker.observe(observation):
            self._ranking.revalue_at_latest(visit.stop, max(observation.at, visit.valuable_from))
        self._ranking.revalue_at_latest(stop, observation.at)

    def choose(self, now: float) -> str:
        """Return the stop to ask now, and count it as asked."""
        if not self._n_choices:
            self._floor.begin(now)
            for each in self._tracker.stops.values():
                self._ranking.revalue_at_latest(each, self.schedule.revalue_at(each, now))
        self._n_choices += 1
        stop = self._next(now)
        self._record_choice(stop, now)
        return stop.code

    def count_as_asked(self, stop_code: str, now: float) -> None:
        """Expect an answer of a stop as if it had been chosen here."""
        stop = self._tracker.stops.get(stop_code)
        if stop is not None:
            self._record_choice(stop, now)

    def running_seconds(self, stop_codes: Sequence[str]) -> float | None:
        """Return how long a bus takes along some stops, as far as that was learned."""
        return self._patterns.running_seconds(stop_codes)

    def _record_choice(self, stop: StopState, now: float) -> None:
        stop.asked_at = now
        self._ranking.record_choice(stop, now)
        self._floor.record_choice(stop, now)

    def _next(self, now: float) -> StopState:
        floor, parameters = self._floor, self._p.floor
        if self._n_choices % parameters.floor_every_choices == 0:
            unseen = floor.unseen_too_long(now)
            if unseen is not None:
                return unseen
        if self._n_choices % parameters.explore_every_choices == 0:
            return floor.to_explore(now)
        best = self._ranking.best(now)
        if best is None:
            return floor.to_explore(now)
        self.schedule.record_choice(best)
        return best

"""Ranks stops by the value of a poll, computing a value again only when it may have changed."""

from math import inf

from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.poll_value import PollValuer
from transit_etl.collect.planning.state import StopState


class Ranking:
    """The stops whose poll has a value, with the value computed last and when to compute it again."""

    def __init__(self, valuer: PollValuer, parameters: PlannerParameters) -> None:
        self._valuer = valuer
        self._p = parameters.ranking
        self._least_value = parameters.poll_value.least_value
        self._revalue_seconds = parameters.poll_value.revalue_seconds
        self._values: dict[StopState, float] = {}
        self._to_value: DueQueue[StopState] = DueQueue()
        self._best_value = 0.0  # of the last candidate that was valued again

    def revalue_at_latest(self, stop: StopState, at: float) -> None:
        """Have the value of a stop computed again by an instant."""
        self._to_value.put_at_latest(stop, at)

    def record_choice(self, stop: StopState, now: float) -> None:
        """Drop the value of a stop that is being asked."""
        self._values.pop(stop, None)
        self._to_value.put(stop, now)

    def best(self, now: float) -> StopState | None:
        """Return the stop most worth a poll, None if no poll has a value.

        The values of the best candidates are computed again before one is returned.
        """
        for stop in self._to_value.pop_due(now):
            self._revalue(stop, now)
        best = None
        while (candidate := max(self._values, key=self._values.__getitem__, default=None)) is not best:
            best = candidate
            if best is not None:
                self._revalue(best, now)
                self._best_value = self._values.get(best, 0.0)
        return best

    def _revalue(self, stop: StopState, now: float) -> None:
        value, again_at = self._valuer.value(stop, now)
        is_far_behind = 0 < value < self._p.far_behind_share * self._best_value
        if is_far_behind and again_at == now + self._revalue_seconds:
            again_at = now + self._p.far_behind_factor * self._revalue_seconds
        if value >= self._least_value:
            self._values[stop] = value
        else:
            self._values.pop(stop, None)
        if again_at < inf:
            self._to_value.put(stop, again_at)
        else:
            self._to_value.remove(stop)

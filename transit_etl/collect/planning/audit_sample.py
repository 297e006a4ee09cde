"""Spends a share of the permits on the visits of the audit sample, whatever else a poll would be worth.

Which visits are watched is decided by chance alone. The share is kept by a token bucket: each permit adds the
share to it, each poll for the audit takes one. A visit for which there is no token in time goes without.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from transit_etl.collect.planning.audit_watch import AuditWatch, Draw
from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.parameters import DEFAULTS, PlannerParameters
from transit_etl.collect.planning.policy import Observation

RunningSeconds = Callable[[Sequence[str]], float | None]


class AuditSample:
    """The visits that are watched, and those that will be; every answer of their stops serves them.

    `running_seconds` says how long a bus takes along some stops, or None if that is not known.
    """

    def __init__(
        self,
        share: float,
        running_seconds: RunningSeconds,
        parameters: PlannerParameters = DEFAULTS,
    ) -> None:
        self._share = share
        self._running_seconds = running_seconds
        self._parameters = parameters
        self._tokens = 0.0
        self._known: set[tuple[object, ...]] = set()
        self._to_begin: DueQueue[AuditWatch] = DueQueue()
        self._open: dict[str, list[AuditWatch]] = defaultdict(list)
        self._unasked: list[AuditWatch] = []
        self._asked_at: dict[str, float] = {}
        self._before: dict[str, list[Observation]] | None = defaultdict(list)

    def add(self, draws: Iterable[Draw], now: float) -> None:
        """Watch visits from before they are due; those due before anybody looked are left out.

        The first ones take note of all that was observed before.
        """
        for draw in draws:
            if draw.key in self._known:
                continue
            due_at = draw.leaves_at + self._seconds_along(draw.stop_codes)
            watch = AuditWatch(draw, due_at, self._parameters)
            for observation in (self._before or {}).get(draw.stop_code, ()):
                watch.observe(observation)
            if watch.is_asked or due_at >= now:
                self._known.add(draw.key)
                self._to_begin.put(watch, watch.begins_at)
        self._before = None

    def observe(self, observation: Observation) -> None:
        """Take note of an answer, whatever it was asked for."""
        stop_code = observation.stop_code
        self._asked_at.pop(stop_code, None)
        if self._before is not None:
            self._before[stop_code].append(observation)
        self._begin(observation.at)
        for watch in self._watched(stop_code, observation.at):
            watch.observe(observation)

    def choose(self, now: float, leased: Collection[str] = ()) -> str | None:
        """Return the stop that the audit asks now, not a leased one; None if none is due or no token left."""
        self._tokens = min(self._parameters.poll.most_saved_choices, self._tokens + self._share)
        self._begin(now)
        if self._tokens < 1.0:
            return None
        free = [stop_code for stop_code in self._open if stop_code not in leased]
        due = [watch for stop_code in free for watch in self._due(stop_code, now)]
        if not due:
            return None
        self._tokens -= 1.0
        return max(due, key=lambda watch: (watch.is_urgent, -watch.next_at)).draw.stop_code

    def ask(self, stop_code: str, now: float) -> list[str]:
        """Note that a stop is being asked; return the records of the visits that its answer is about."""
        self._begin(now)
        self._asked_at[stop_code] = now
        watched = self._watched(stop_code, now)
        for watch in watched:
            watch.is_asked = True
        return [watch.record() for watch in watched]

    def take_unasked(self, now: float) -> list[AuditWatch]:
        """Return the visits that were due by now and that nobody asked about; each of them once."""
        self._begin(now)
        unasked = [watch for watch in self._unasked if not watch.is_asked]
        self._unasked = []
        return unasked

    def _seconds_along(self, stop_codes: Sequence[str]) -> float:
        learned = self._running_seconds(stop_codes)
        return (
            (len(stop_codes) - 1) * self._parameters.running_time.usual_segment_seconds
            if learned is None
            else learned
        )

    def _begin(self, now: float) -> None:
        for watch in self._to_begin.pop_due(now):
            if not watch.is_over:
                self._open[watch.draw.stop_code].append(watch)
                self._unasked.append(watch)

    def _watched(self, stop_code: str, now: float) -> list[AuditWatch]:
        """Return the visits watched at a stop, and drop those that are over."""
        watched = self._open.get(stop_code, [])
        for watch in watched:
            watch.end_if_late(now)
        kept = [watch for watch in watched if not watch.is_over]
        if kept:
            self._open[stop_code] = kept
        else:
            self._open.pop(stop_code, None)
        return kept

    def _due(self, stop_code: str, now: float) -> list[AuditWatch]:
        asked_at = self._asked_at.get(stop_code)
        if asked_at is not None and now - asked_at < self._parameters.poll.pending_seconds:
            return []
        return [watch for watch in self._watched(stop_code, now) if watch.next_at <= now]

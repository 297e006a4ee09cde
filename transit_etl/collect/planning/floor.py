"""Chooses stops that have not been polled for long, whatever the value of a poll there."""

from collections.abc import Mapping

from transit_etl.collect.planning.due_queue import DueQueue
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.polls import is_pending
from transit_etl.collect.planning.state import StopState
from transit_etl.collect.planning.stop_patterns import StopPattern, StopPatterns


class Floor:
    """How long each stop and each stop pattern has been unseen, and which stop to ask because of it."""

    def __init__(
        self, stops: Mapping[str, StopState], patterns: StopPatterns, parameters: PlannerParameters
    ) -> None:
        self._stops = stops
        self._patterns = patterns
        self._p = parameters.floor
        self._poll = parameters.poll
        self._stops_due: DueQueue[StopState] = DueQueue()
        self._patterns_due: DueQueue[StopPattern] = DueQueue()

    def begin(self, now: float) -> None:
        """Set when stops and patterns are due; those never seen are spread evenly over the longest time."""
        stops, longest = list(self._stops.values()), self._p.longest_stop_unseen_seconds
        for n, stop in enumerate(stops, start=1):
            unseen_since = max(stop.looked_at, now - longest * (1 - n / len(stops)))
            self._stops_due.put(stop, unseen_since + longest)
        patterns, longest = self._patterns.all, self._p.longest_pattern_unseen_seconds
        for n, pattern in enumerate(patterns, start=1):
            unseen_since = max(pattern.observed_at, now - longest * (1 - n / len(patterns)))
            self._patterns_due.put(pattern, unseen_since + longest)

    def record_choice(self, stop: StopState, now: float) -> None:
        """Set when a stop that is asked now is due again."""
        self._stops_due.put(stop, now + self._p.longest_stop_unseen_seconds)

    def unseen_too_long(self, now: float) -> StopState | None:
        """Return a stop of a pattern unseen for too long, or else such a stop; None if there is neither."""
        while (pattern := self._patterns_due.first_due(now)) is not None:
            due_at = pattern.observed_at + self._p.longest_pattern_unseen_seconds
            self._patterns_due.put(pattern, due_at if due_at > now else now + self._p.pattern_retry_seconds)
            if due_at <= now and (stop := self._most_informative_stop(pattern, now)) is not None:
                return stop
        return self._stops_due.first_due(now)

    def to_explore(self, now: float) -> StopState:
        """Return the most informative stop of the pattern unseen longest, or else the stop unseen longest."""
        oldest = min(self._patterns.all, key=lambda pattern: pattern.observed_at, default=None)
        if oldest is None:
            return self._longest_unseen(now)
        stop = self._most_informative_stop(oldest, now)
        if stop is None:
            nothing_until = now - self._p.pattern_retry_seconds
            oldest.observed_at = max(oldest.observed_at, nothing_until)  # so that others come first
        return stop or self._longest_unseen(now)

    def _most_informative_stop(self, pattern: StopPattern, now: float) -> StopState | None:
        """Return the stop of a pattern whose patterns, taken together, have been unseen longest.

        None while every stop is in its rest period or has been asked and not answered yet.
        """
        stops = [self._stops[code] for code in pattern.stop_codes if code in self._stops]
        can_be_asked = [
            stop for stop in stops if stop.rest_ends_at <= now and not is_pending(stop, now, self._poll)
        ]
        return max(
            can_be_asked, key=lambda stop: (self._unseen_seconds(stop, now), -stop.looked_at), default=None
        )

    def _unseen_seconds(self, stop: StopState, now: float) -> float:
        """Return for how long the patterns through a stop have been unseen, added up."""
        most = self._p.longest_pattern_unseen_seconds
        return sum(min(most, now - pattern.observed_at) for pattern in self._patterns.through[stop.code])

    def _longest_unseen(self, now: float) -> StopState:
        stops = list(self._stops.values())
        awake = [stop for stop in stops if stop.rest_ends_at <= now] or stops
        return min(awake, key=lambda stop: (stop.looked_at, stop.code))

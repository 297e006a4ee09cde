"""Keeps a mistake in reading or planning from costing more than the one answer or choice it happened at."""

import logging
import threading
from collections.abc import Iterable
from zoneinfo import ZoneInfo

from transit_etl.api.exchange import Answer
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.planner import Observation, Policy, Rotation

_log = logging.getLogger(__name__)


class FailureLog:
    """Logs each mistake once, with its stack; the same one again, at the same line, is only counted."""

    def __init__(self) -> None:
        self.n_errors = 0
        self._known: set[tuple[str, str, int]] = set()

    def add(self, doing: str, error: Exception) -> bool:
        """Take note of an error met while `doing` something; say whether it is a new one."""
        self.n_errors += 1
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        kind = (type(error).__name__, doing.split(" ", 1)[0], trace.tb_lineno if trace else 0)
        if kind in self._known:
            return False
        self._known.add(kind)
        _log.error("%s failed; going on without it", doing, exc_info=error)
        return True


class IsolatedParser(PassageParser):
    """An parser for whom an answer that breaks the reading says only that its stop was asked."""

    def __init__(self, zone: ZoneInfo, failures: FailureLog) -> None:
        super().__init__(zone)
        self._failures = failures

    def parse(self, answer: Answer) -> Observation:
        """Return what an answer says of its stop."""
        try:
            return super().parse(answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next answer is worth its permit
            self._failures.add(f"reading the answer of stop {answer.request.key}", error)
            return Observation(answer.request.key, answer.received_at.timestamp(), is_good=False)


class IsolatedPolicy:
    """A policy whose mistakes cost what one answer would have taught, or one choice.

    A choice that fails, or names a stop nobody knows, is made by rotation instead. It may be asked from
    two threads: one learns from answers while the other chooses inside the budget's transaction.
    """

    def __init__(self, policy: Policy, stop_codes: Iterable[str], failures: FailureLog) -> None:
        self._policy = policy
        self._known = frozenset(stop_codes)
        self._stand_in = Rotation(self._known)
        self._failures = failures
        self._lock = threading.Lock()

    def observe(self, observation: Observation) -> None:
        """Let the policy learn from an answer."""
        with self._lock:
            try:
                self._policy.observe(observation)
            except Exception as error:  # noqa: BLE001 - a mistake in planning must not end a window
                self._failures.add(f"learning from the answer of stop {observation.stop_code}", error)

    def choose(self, now: float) -> str:
        """Return the stop most worth a poll at this moment."""
        with self._lock:
            try:
                return self._known_stop(self._policy.choose(now))
            except Exception as error:  # noqa: BLE001 - a permit is there: somebody has to be asked
                self._failures.add("choosing a stop", error)
                return self._stand_in.choose(now)

    def _known_stop(self, stop_code: str) -> str:
        if stop_code not in self._known:
            raise LookupError(f"the policy chose {stop_code!r}, which is no known stop")
        return stop_code

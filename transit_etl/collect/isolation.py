"""Keeps a failure of learning or choosing from ending a collection: the one net around each of the two."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from transit_base.files import in_words
from transit_etl.api.exchange import Answer
from transit_etl.collect.planning.policy import Observation, Policy, Rotation

_log = logging.getLogger(__name__)


class Failures:
    """Counts failures and logs each kind once: a kind is a type of error raised at a line.

    One of the system, such as a full disk, is logged in a sentence; any other is a fault of this program, and
    is logged with its stack. `messages` has a sentence for each kind.
    """

    def __init__(self) -> None:
        self.count = 0
        self.messages: list[str] = []
        self._kinds: set[tuple[str, str, int]] = set()

    def add(self, step: str, error: Exception) -> None:
        """Count a failure met in `step` ("choosing a stop")."""
        self.count += 1
        kind = _kind(error)
        if kind not in self._kinds:
            self._kinds.add(kind)
            if isinstance(error, OSError):
                self.messages.append(f"{step} failed: {in_words(error)}")
                _log.error("%s failed, going on without it: %s", step, in_words(error))
            else:
                self.messages.append(f"{step} failed: {error!r}")
                _log.error("%s failed; going on without it", step, exc_info=error)


class Learner(Protocol):
    """Something that learns from answers, and the failures met at it."""

    failures: Failures

    def observe(self, answer: Answer) -> None:
        """Take note of an answer, good or bad."""


def learn(learner: Learner, answers: Iterable[Answer]) -> None:
    """Let a source learn from answers: received just now, landed earlier, or landed by other workers.

    An answer it fails at teaches nothing, and the next one is tried. A generator of answers that fails has
    ended.
    """
    remaining: Iterator[Answer] = iter(answers)
    while True:
        step = "reading an answer to learn from"
        try:
            answer = next(remaining, None)
            if answer is None:
                return
            step = f"learning from the answer of {answer.request.endpoint} {answer.request.key}".rstrip()
            learner.observe(answer)
        except Exception as error:  # noqa: BLE001 - whatever it is, the next answer is worth its permit
            learner.failures.add(step, error)


class IsolatedPolicy:
    """A policy whose choice is made by rotation when it fails, or names a stop that is not known."""

    def __init__(self, policy: Policy, stop_codes: Iterable[str], failures: Failures) -> None:
        self._policy = policy
        self._stop_codes = frozenset(stop_codes)
        self._fallback = Rotation(self._stop_codes)
        self._failures = failures

    def observe(self, observation: Observation) -> None:
        """Let the policy learn from an answer; a failure is caught by `learn`."""
        self._policy.observe(observation)

    def choose(self, now: float) -> str:
        """Return the stop most worth a poll at this moment."""
        try:
            return self._known_stop(self._policy.choose(now))
        except Exception as error:  # noqa: BLE001 - the permit is granted: some stop has to be asked
            self._failures.add("choosing a stop", error)
            return self._fallback.choose(now)

    def count_as_asked(self, stop_code: str, now: float) -> None:
        """Let the policy take note that a stop is being asked; a failure is caught by the audit."""
        self._policy.count_as_asked(stop_code, now)

    def running_seconds(self, stop_codes: Sequence[str]) -> float | None:
        """Return what the policy has learned of running times; a failure is caught by the audit."""
        return self._policy.running_seconds(stop_codes)

    def _known_stop(self, stop_code: str) -> str:
        if stop_code not in self._stop_codes:
            raise LookupError(f"the policy chose {stop_code!r}, which is no known stop")
        return stop_code


def _kind(error: Exception) -> tuple[str, str, int]:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ("", 0) if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
    return (type(error).__name__, *where)

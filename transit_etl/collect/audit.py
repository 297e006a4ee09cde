"""Asks for the visits of the audit sample, and notes of every request which of them it is about."""

from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from transit_etl.api import v1
from transit_etl.api.exchange import Purpose, Request
from transit_etl.collect.isolation import Failures
from transit_etl.collect.planning.audit_sample import AuditSample
from transit_etl.collect.planning.audit_watch import Draw
from transit_etl.collect.planning.policy import Observation, Policy

Draws = Callable[[datetime, datetime], list[Draw]]


class Audit:
    """The audit sample of a collection. A failure is counted, and costs the audit a choice, no more.

    `draws` returns the visits drawn whose watch may lie between two instants. It is called for the time
    `ahead`, and again when that is over.
    """

    def __init__(
        self, sample: AuditSample, draws: Draws, policy: Policy, failures: Failures, ahead: timedelta
    ) -> None:
        self._sample = sample
        self._draws = draws
        self._policy = policy
        self._failures = failures
        self._ahead = ahead
        self._drawn_until = datetime.min.replace(tzinfo=UTC)

    def draw(self, now: datetime) -> None:
        """Draw the visits to be watched in the time ahead, unless that was done."""
        if now < self._drawn_until:
            return
        self._drawn_until = now + self._ahead
        try:
            self._sample.add(self._draws(now, self._drawn_until), now.timestamp())
        except Exception as error:  # noqa: BLE001 - without a sample the rest of the collection goes on
            self._failures.add("drawing the audit sample", error)

    def observe(self, observation: Observation) -> None:
        """Take note of an answer; a failure is caught by `learn`."""
        self._sample.observe(observation)

    def choose(self, now: datetime, leased: Collection[str]) -> Request | None:
        """Return the request that the audit makes now, None if it makes none."""
        self.draw(now)
        try:
            stop_code = self._sample.choose(now.timestamp(), leased)
            if stop_code is None:
                return None
            self._policy.count_as_asked(stop_code, now.timestamp())
            return replace(v1.passages(stop_code), purpose=Purpose.AUDIT)
        except Exception as error:  # noqa: BLE001 - the permit is granted: the policy uses it
            self._failures.add("choosing a stop for the audit", error)
            return None

    def with_draws(self, request: Request, now: datetime) -> Request:
        """Return a request about to be sent with the visits of the sample that its answer is about."""
        records = self._sample.ask(request.key, now.timestamp())
        return replace(request, draws=_json_list(records)) if records else request

    def unsent(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return a request for each visit that nobody asked about, and when it was due first."""
        return [
            (
                replace(
                    v1.passages(watch.draw.stop_code),
                    purpose=Purpose.AUDIT,
                    draws=_json_list([watch.record()]),
                ),
                datetime.fromtimestamp(watch.begins_at, UTC),
            )
            for watch in self._sample.take_unasked(now.timestamp())
        ]


def _json_list(records: list[str]) -> str:
    return f"[{','.join(records)}]"

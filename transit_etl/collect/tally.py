"""Counts what a collection planned, sent and received, and reports it at the end."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from transit_etl.api.advice import advice_about
from transit_etl.api.exchange import Answer, Outcome
from transit_etl.settings import CollectSettings

MAX_WARNINGS = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a collection. `n_expected` requests or `seconds` make it complete; None if unknown."""

    dataset: str
    n_planned: int
    n_sent: int
    n_good: int
    n_expected: int | None
    elapsed_seconds: float
    seconds: float | None


@dataclass(frozen=True, slots=True)
class CollectReport:
    """What a collection did. `windows` are the raw files it finished, `recovered` those of earlier ones.

    `allowance_share` is the number of requests that left this machine, retries included, over what the
    allowance permits in the time, at least in a minute. `is_stopped` says that a signal ended it early,
    `is_given_up` that the upstream did not answer. `advice` says what the last answer that was not usable
    means, if no answer was usable.
    """

    dataset: str
    planned: int
    sent: int
    outcomes: dict[str, int]
    seconds: float
    allowance_share: float
    windows: list[Path]
    recovered: list[Path]
    warnings: list[str]
    received: int
    is_stopped: bool = False
    is_given_up: bool = False
    advice: str = ""

    @property
    def is_failure(self) -> bool:
        """Whether requests were due and not one of them got a usable answer."""
        return self.planned > 0 and not self.outcomes.get(Outcome.OK.value) and not self.is_stopped

    @property
    def outcome_text(self) -> str:
        """The outcomes as one text, such as `12 ok, 3 timeout`."""
        return ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.items()) or "nothing"

    @property
    def failure_text(self) -> str:
        """What a failure consists in, and what to do about it."""
        advice = self.advice or "`transit-etl check` may say why"
        return f"no usable answer for {self.dataset}: {self.outcome_text}; {advice}"


ProgressCallback = Callable[[Progress], None]


@dataclass(slots=True)
class Tally:
    """The counts of a collection under way."""

    dataset: str
    seconds: float | None
    planned: int = 0
    sent: int = 0
    retries: int = 0
    never_left: int = 0
    received: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    warnings: list[str] = field(default_factory=list)
    last_unusable: Answer | None = None

    def add(self, answer: Answer) -> None:
        """Count an answer; it was received if the upstream said anything at all."""
        self.retries += answer.attempts - 1
        self.never_left += answer.attempts - answer.n_sent
        self.received += answer.http_status is not None
        self.outcomes[answer.outcome.value] += 1
        if answer.outcome is not Outcome.OK:
            self.last_unusable = answer

    def add_unanswered(self, outcome: Outcome) -> None:
        """Count a request that ends without an answer."""
        self.outcomes[outcome.value] += 1

    def warn(self, warning: str) -> None:
        """Keep a warning for the report, once; only the first few of different ones."""
        if warning not in self.warnings and len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(warning)

    def progress(self, n_expected: int | None, elapsed: timedelta) -> Progress:
        """Return how far the collection is after `elapsed`."""
        return Progress(
            dataset=self.dataset,
            n_planned=self.planned,
            n_sent=self.sent,
            n_good=self.outcomes[Outcome.OK.value],
            n_expected=n_expected,
            elapsed_seconds=elapsed.total_seconds(),
            seconds=self.seconds,
        )

    def report(
        self,
        elapsed: timedelta,
        settings: CollectSettings,
        windows: list[Path],
        recovered: list[Path],
        *,
        is_stopped: bool,
        is_given_up: bool,
    ) -> CollectReport:
        """Return the final counts."""
        unusable = None if self.outcomes[Outcome.OK.value] else self.last_unusable
        allowed = settings.rate_per_minute * max(1.0, elapsed.total_seconds() / 60)
        return CollectReport(
            dataset=self.dataset,
            planned=self.planned,
            sent=self.sent,
            outcomes=dict(sorted(self.outcomes.items())),
            seconds=round(elapsed.total_seconds(), 3),
            allowance_share=round((self.sent + self.retries - self.never_left) / allowed, 4),
            windows=windows,
            recovered=recovered,
            warnings=list(self.warnings),
            received=self.received,
            is_stopped=is_stopped,
            is_given_up=is_given_up,
            advice=advice_about(settings, unusable).text if unusable else "",
        )

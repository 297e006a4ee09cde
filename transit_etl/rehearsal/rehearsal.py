"""Runs a rehearsal period by period, so that one that was killed is resumed from its last finished period.

Its lake is then that of an uninterrupted rehearsal, because all that a period begins with is in the data
folder.
"""

import time
from collections import Counter
from collections.abc import Collection
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx2

from transit_etl.collect.allowance.state_text import dumps, loads
from transit_etl.endpoints import CADENCES, ENDPOINTS, REHEARSED
from transit_etl.identity import claim, mark_rehearsed
from transit_etl.rehearsal.journal import Checkpoint, Journal, Schedule
from transit_etl.rehearsal.metering import Meter
from transit_etl.rehearsal.periods import Period
from transit_etl.rehearsal.rehearsal_report import OnProgress, RehearsalProgress, RehearsalReport
from transit_etl.rehearsal.staging import Staging, SubprocessStaging
from transit_etl.rehearsal.upstream import require_emulated_clock
from transit_etl.settings import CollectSettings, Settings

PERIOD_SECONDS = 14_400.0
# Without passages a day has few answers, and nothing learns from them: fewer and larger files are enough.
DAY_SECONDS, LISTS_WINDOW = 86_400.0, timedelta(hours=6)
# The next period reads the lake to decide what to request: what it reads is staged before it begins.
_READ_BY_SOURCES = [row.name for row in ENDPOINTS.values() if row.is_read_by_sources]
_NOT_READ = [row.name for row in ENDPOINTS.values() if not row.is_read_by_sources]


def rehearse(
    settings: Settings,
    start: datetime,
    hours: float,
    *,
    transport: httpx2.AsyncBaseTransport | None = None,
    only: Collection[str] = REHEARSED,
    period_seconds: float | None = None,
    in_two_processes: bool = False,
    on_progress: OnProgress | None = None,
) -> RehearsalReport:
    """Rehearse from `start` (aware) for `hours`, or resume the same rehearsal where it was interrupted.

    Requests carry `X-Emulated-Now`, so any server that honours it can be rehearsed against; `transport`
    replaces the network. After an interruption at most two periods are repeated. With `in_two_processes`
    a second process stages passages while the next window is collected; the lake is the same.

    `only` names the DAGs whose collections are rehearsed. The network is collected as well where others
    request what it lists. Without passages windows are hours long, and a period (`period_seconds`, four
    hours unless given) is a day.

    RehearsalError unless the data folder is new or holds the same rehearsal, and the server answers about
    the time that it is told.
    """
    rehearsed = _in_order(only)
    has_passages = "passages" in rehearsed
    schedule = Schedule(
        start.astimezone(UTC).replace(microsecond=0),  # windows are named by the second
        hours,
        settings.rate_per_minute,
        window=timedelta(seconds=settings.window_seconds) if has_passages else LISTS_WINDOW,
        period=timedelta(seconds=period_seconds or (PERIOD_SECONDS if has_passages else DAY_SECONDS)),
        policy=settings.policy.value,
        only=rehearsed,
    )
    claim(settings)
    if transport is None:
        require_emulated_clock(settings)
    journal = Journal(settings, schedule)
    mark_rehearsed(settings, schedule.start, schedule.end)
    journal.begin()
    with closing(SubprocessStaging(settings) if in_two_processes else Staging(settings)) as staging:
        return _Rehearsal(settings, schedule, journal, staging, transport, on_progress).run()


def _in_order(only: Collection[str]) -> tuple[str, ...]:
    """Return the DAGs named, and those whose answers say what they request, in order of priority."""
    needed = {ahead for dag in only if (ahead := CADENCES[dag].runs_after)}
    if "passages" in only:
        needed.add("network")
    return tuple(dag for dag in REHEARSED if dag in needed or dag in only)


@dataclass(slots=True)
class _Rehearsal:
    """What has been rehearsed since it was started or resumed."""

    settings: CollectSettings
    schedule: Schedule
    journal: Journal
    staging: Staging
    transport: httpx2.AsyncBaseTransport | None
    on_progress: OnProgress | None
    meter: Meter = field(default_factory=Meter)
    outcomes: Counter[str] = field(default_factory=Counter)
    n_sent: int = 0
    n_answers: int = 0
    checkpoint: Checkpoint | None = None

    def run(self) -> RehearsalReport:
        """Run the periods that are left; passages are staged while the next period is collected."""
        began, checkpoint = time.perf_counter(), self.journal.checkpoint
        resumed_at = checkpoint.done_until
        try:
            while checkpoint.done_until < self.schedule.end:
                checkpoint = self._run_period(checkpoint)
        finally:
            self._write_checkpoint()
        if self.n_answers:
            with self.meter.part("staging"):
                self.staging.build_pages()
        return self._report(resumed_at, time.perf_counter() - began)

    def _run_period(self, before: Checkpoint) -> Checkpoint:
        period = Period(
            self.settings,
            self.schedule,
            before.done_until,
            loads(before.budget),
            transport=self.transport,
            meter=self.meter,
            begin_staging=self._begin_staging,
            wait_for_staging=self._wait_for_staging,
            on_window_end=partial(self._begin_staging, *_NOT_READ),
            on_answer=self._count_answer,
        )
        period.run()
        self.outcomes.update(period.outcomes)
        self.n_sent += period.n_sent
        self._write_checkpoint()
        self._begin_staging(*_READ_BY_SOURCES)
        self._wait_for_staging()
        self._begin_staging(*_NOT_READ)
        self.checkpoint = Checkpoint(period.end, dumps(period.budget), before.n_refused + period.n_refused)
        return self.checkpoint

    def _begin_staging(self, *endpoints: str) -> None:
        with self.meter.part("staging"):
            self.staging.begin(endpoints)

    def _wait_for_staging(self) -> None:
        with self.meter.part("staging"):
            self.staging.wait()

    def _write_checkpoint(self) -> None:
        """Wait until everything is staged, and write the last checkpoint to the journal."""
        self._wait_for_staging()
        if self.checkpoint is not None:
            self.journal.write(self.checkpoint)

    def _count_answer(self, now: datetime) -> None:
        """Report the progress after an answer."""
        self.n_answers += 1
        if self.on_progress is not None:
            done, total = now - self.schedule.start, self.schedule.end - self.schedule.start
            self.on_progress(
                RehearsalProgress(now, done.total_seconds(), total.total_seconds(), self.n_answers)
            )

    def _report(self, resumed_at: datetime, real_seconds: float) -> RehearsalReport:
        virtual_seconds = max(0.0, (self.schedule.end - resumed_at).total_seconds())
        spent = dict(self.meter.seconds)
        spent["everything else"] = max(0.0, real_seconds - sum(spent.values()))
        return RehearsalReport(
            start=resumed_at,
            end=self.schedule.end,
            virtual_seconds=virtual_seconds,
            real_seconds=real_seconds,
            seconds_spent=spent,
            outcomes=dict(sorted(self.outcomes.items())),
            allowance_share=self.n_sent / max(1.0, self.schedule.rate_per_minute * virtual_seconds / 60),
            n_refused=self.journal.checkpoint.n_refused,
            rejected=self.staging.problems.rejected,
            errors=self.staging.problems.errors,
        )

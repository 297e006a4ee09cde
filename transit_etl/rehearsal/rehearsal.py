"""Runs a rehearsal period by period, so that one that was killed goes on from its last finished period.

Its lake is then the one of an uninterrupted rehearsal: what a period begins with is in the data folder.
"""

import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx

from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.endpoints import ENDPOINTS
from transit_etl.rehearsal.journal import Journal, Reached, Schedule
from transit_etl.rehearsal.metering import Meter
from transit_etl.rehearsal.periods import Period
from transit_etl.rehearsal.report import OnProgress, RehearsalProgress, RehearsalReport
from transit_etl.rehearsal.staging import LocalStaging, Staging, SubprocessStaging
from transit_etl.rehearsal.upstream import require_emulated_clock
from transit_etl.settings import Settings

PERIOD_SECONDS = 14_400.0
# The next period reads the lake to decide what to request: what it reads is staged first, the rest meanwhile.
_READ_BY_SOURCES = [row.name for row in ENDPOINTS.values() if row.is_read_by_sources]
_NOT_READ = [row.name for row in ENDPOINTS.values() if not row.is_read_by_sources]


def rehearse(
    settings: Settings,
    start: datetime,
    hours: float,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    period_seconds: float = PERIOD_SECONDS,
    in_two_processes: bool = False,
    on_progress: OnProgress | None = None,
) -> RehearsalReport:
    """Rehearse from `start` (aware) for `hours`, or take up where the same rehearsal was interrupted.

    Requests carry `X-Emulated-Now`, so any server that honours it can be rehearsed against; `transport`
    replaces the network. An interruption costs two periods at most. With `in_two_processes` a second
    process stages passages while the next window is collected; the lake is the same.

    RehearsalError unless the data folder is new or holds this very rehearsal, and the server lives in the
    time that it is told.
    """
    schedule = Schedule(
        start.astimezone(UTC).replace(microsecond=0),  # windows are named by the second
        hours,
        settings.rate_per_minute,
        window=timedelta(seconds=settings.window_seconds),
        period=timedelta(seconds=period_seconds),
        policy=settings.policy.value,
    )
    if transport is None:
        require_emulated_clock(settings)
    journal = Journal(settings, schedule)
    journal.begin()
    with closing(SubprocessStaging(settings) if in_two_processes else LocalStaging(settings)) as staging:
        rehearsal = _Rehearsal(
            settings, schedule, journal, staging, transport=transport, on_progress=on_progress
        )
        return rehearsal.run()


class _Rehearsal:
    def __init__(
        self,
        settings: Settings,
        schedule: Schedule,
        journal: Journal,
        staging: Staging,
        *,
        transport: httpx.AsyncBaseTransport | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._settings = settings
        self._schedule = schedule
        self._journal = journal
        self._staging = staging
        self._transport = transport
        self._on_progress = on_progress
        self._meter = Meter()
        self._outcomes: Counter[str] = Counter()
        self._n_sent = 0
        self._n_ticks = 0
        self._reached: Reached | None = None

    def run(self) -> RehearsalReport:
        """Go through the periods that are left; passages are staged while the next ones are collected."""
        began, reached = time.perf_counter(), self._journal.reached
        taken_up_at = reached.done_until
        try:
            while reached.done_until < self._schedule.end:
                reached = self._run_period(reached)
        finally:
            self._keep_reached()
        return self._report(taken_up_at, time.perf_counter() - began)

    def _run_period(self, before: Reached) -> Reached:
        period = Period(
            self._settings,
            self._schedule,
            before.done_until,
            BudgetState.loads(before.budget),
            transport=self._transport,
            meter=self._meter,
            stage=self._stage,
            window_done=partial(self._begin_staging, *_NOT_READ),
            tick=self._tick,
        )
        period.run()
        self._outcomes.update(period.outcomes)
        self._n_sent += period.n_sent
        self._keep_reached()
        self._stage(*_READ_BY_SOURCES)
        self._begin_staging(*_NOT_READ)
        self._reached = Reached(period.end, period.budget.dumps(), before.n_refused + period.n_refused)
        return self._reached

    def _begin_staging(self, *endpoints: str) -> None:
        with self._meter.part("staging"):
            self._staging.begin(endpoints)

    def _stage(self, *endpoints: str) -> None:
        self._begin_staging(*endpoints)
        with self._meter.part("staging"):
            self._staging.wait()

    def _keep_reached(self) -> None:
        """Wait for what is being staged, and keep that everything up to there is done."""
        with self._meter.part("staging"):
            self._staging.wait()
        if self._reached is not None:
            self._journal.keep(self._reached)

    def _tick(self, now: datetime) -> None:
        """Tell how far it is, after each answer."""
        self._n_ticks += 1
        if self._on_progress is not None:
            done, total = now - self._schedule.start, self._schedule.end - self._schedule.start
            self._on_progress(
                RehearsalProgress(now, done.total_seconds(), total.total_seconds(), self._n_ticks)
            )

    def _report(self, taken_up_at: datetime, real_seconds: float) -> RehearsalReport:
        virtual_seconds = max(0.0, (self._schedule.end - taken_up_at).total_seconds())
        spent = dict(self._meter.seconds)
        spent["everything else"] = max(0.0, real_seconds - sum(spent.values()))
        return RehearsalReport(
            start=taken_up_at,
            end=self._schedule.end,
            virtual_seconds=virtual_seconds,
            real_seconds=real_seconds,
            seconds_spent=spent,
            outcomes=dict(sorted(self._outcomes.items())),
            allowance_share=self._n_sent / max(1.0, self._schedule.rate_per_minute * virtual_seconds / 60),
            n_refused=self._journal.reached.n_refused,
            rejected=self._staging.found.rejected,
            errors=self._staging.found.errors,
        )

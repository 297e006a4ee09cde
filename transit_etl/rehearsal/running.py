"""Runs a rehearsal leg by leg, of one window each.

Everything that a leg needs to know lies in the data folder when it begins, as in production: the planner
replays the last hour, the budget the last minute. So a rehearsal that was killed takes up its last
unfinished leg, and its lake is the one of an uninterrupted one.
"""

import time
from collections import Counter
from datetime import UTC, datetime

import httpx

from transit_etl.rehearsal.journal import Journal, Plan
from transit_etl.rehearsal.legs import Leg
from transit_etl.rehearsal.metering import Meter
from transit_etl.rehearsal.report import OnProgress, RehearsalProgress, RehearsalReport
from transit_etl.rehearsal.upstream import require_emulated_clock
from transit_etl.settings import Settings
from transit_etl.stage import stage


def rehearse(
    settings: Settings,
    start: datetime,
    hours: float,
    *,
    transport: httpx.AsyncBaseTransport | None = None,
    on_progress: OnProgress | None = None,
) -> RehearsalReport:
    """Rehearse from `start` (aware) for `hours`, or take up where the same rehearsal was interrupted.

    Requests carry `X-Emulated-Now`, so any server that honours it can be rehearsed against; `transport`
    replaces the network. RehearsalError unless the data folder is new or holds this very rehearsal, and the
    server lives in the time that it is told.
    """
    plan = Plan(
        start.astimezone(UTC), hours, settings.rate_per_minute, settings.window_seconds, settings.policy.value
    )
    if transport is None:
        require_emulated_clock(settings)
    return _Rehearsal(settings, plan, transport, on_progress).run()


class _Rehearsal:
    def __init__(
        self,
        settings: Settings,
        plan: Plan,
        transport: httpx.AsyncBaseTransport | None,
        on_progress: OnProgress | None,
    ) -> None:
        self._settings = settings
        self._plan = plan
        self._transport = transport
        self._on_progress = on_progress
        self._journal = Journal(settings, plan)
        self._meter = Meter()
        self._outcomes: Counter[str] = Counter()
        self._n_sent = 0
        self._n_ticks = 0
        self._rejected: list[str] = []
        self._errors: list[str] = []

    def run(self) -> RehearsalReport:
        """Go through the legs that are left."""
        began, taken_up_at = time.perf_counter(), self._journal.done_until
        self._journal.begin()
        while self._journal.done_until < self._plan.end:
            self._run_leg(self._journal.done_until)
        return self._report(taken_up_at, time.perf_counter() - began)

    def _run_leg(self, start: datetime) -> None:
        leg = Leg(
            self._settings,
            self._plan,
            start,
            transport=self._transport,
            meter=self._meter,
            stage=self._stage,
            tick=self._tick,
        )
        leg.run()
        self._stage()
        self._outcomes.update(leg.outcomes)
        self._n_sent += leg.n_sent
        self._journal.mark_done(leg.end, self._journal.n_refused + leg.n_refused)

    def _stage(self, endpoint: str | None = None) -> None:
        with self._meter.part("staging"):
            report = stage(self._settings, endpoints=[endpoint] if endpoint else None)
        self._rejected += report.rejected
        self._errors += [error for error in report.errors if error not in self._errors]

    def _tick(self, now: datetime) -> None:
        """Tell how far it is, after each answer."""
        self._n_ticks += 1
        if self._on_progress is not None:
            done, total = now - self._plan.start, self._plan.end - self._plan.start
            self._on_progress(
                RehearsalProgress(now, done.total_seconds(), total.total_seconds(), self._n_ticks)
            )

    def _report(self, taken_up_at: datetime, real_seconds: float) -> RehearsalReport:
        virtual_seconds = max(0.0, (self._plan.end - taken_up_at).total_seconds())
        spent = dict(self._meter.seconds)
        spent["everything else"] = max(0.0, real_seconds - sum(spent.values()))
        return RehearsalReport(
            start=taken_up_at,
            end=self._plan.end,
            virtual_seconds=virtual_seconds,
            real_seconds=real_seconds,
            seconds_spent=spent,
            outcomes=dict(sorted(self._outcomes.items())),
            allowance_share=self._n_sent / max(1.0, self._plan.rate_per_minute * virtual_seconds / 60),
            n_refused=self._journal.n_refused,
            rejected=self._rejected,
            errors=self._errors,
        )

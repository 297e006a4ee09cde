"""Collects one period of a rehearsal: window after window, everything that is due side by side.

Status and passages are polled in windows without a pause, lists when their time has come, as their DAGs do.
A period ends with the first window, from its planned end on, in which no list is under way: then the data
folder and the state of the budget hold everything that the next period needs to know. As with a window of
production, what passages are polled by is learned again from the answers of the last hour when one begins;
within it, what has been learned stays in memory.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import httpx

from transit_etl.api.exchange import Outcome
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.collection import Session
from transit_etl.collect.datasets import source_of
from transit_etl.collect.report import Tally
from transit_etl.collect.sources import Source
from transit_etl.endpoints import CADENCES, Cadence, collections_of, is_polled
from transit_etl.rehearsal.journal import WORKER, RehearsalError, Schedule
from transit_etl.rehearsal.metering import Meter, MeteredClient, MeteredStore
from transit_etl.settings import Settings

LISTS = [cadence for cadence in CADENCES.values() if cadence.every and not cadence.is_paused]
LIST_RETRY_SECONDS, PATIENCE = 60.0, 4  # so many times without any answer for the lines, then it is over


class Period:
    """A period from `start`, with the budget as the period before left it.

    `stage` is called once a dataset is collected that others ask the lake about, `window_done` once a window
    of passages is that is not the last, `tick` after each answer.
    """

    def __init__(
        self,
        settings: Settings,
        schedule: Schedule,
        start: datetime,
        budget: BudgetState,
        *,
        transport: httpx.AsyncBaseTransport | None,
        meter: Meter,
        stage: Callable[[str], None],
        window_done: Callable[[], None],
        tick: Callable[[datetime], None],
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.n_sent = 0
        self.end = start
        self._settings = settings
        self._schedule = schedule
        self._start = start
        self._stage = stage
        self._window_done = window_done
        self._tick = tick
        self._meter = meter
        self._clock = VirtualClock(start)
        self._client = MeteredClient(settings, self._clock, transport, meter)
        self._store = MeteredStore(budget, meter)
        self._session = Session(
            settings, self._clock, client=self._client, store=self._store, measure=meter.part
        )
        self._known: asyncio.Task[None] | None = None
        self._lists: dict[str, asyncio.Task[None]] = {}
        self._polled: Source | None = None
        self._n_silent = 0

    @property
    def n_refused(self) -> int:
        """How many requests were refused with a 429 that is no fault of the upstream's making."""
        return self._client.n_refused

    @property
    def budget(self) -> BudgetState:
        """The state of the budget."""
        return self._store.state

    def run(self) -> None:
        """Collect until the end of the period."""
        try:
            self._clock.run(self._run())
        except ExceptionGroup as failures:
            raise _first(failures) from None

    async def _run(self) -> None:
        async with self._session, asyncio.TaskGroup() as group:
            while (
                self.end < min(self._start + self._schedule.period, self._schedule.end) or self._is_listing()
            ):
                if self.end > self._start:
                    self._window_done()
                window_start, self.end = self.end, self._schedule.window_after(self.end)
                self._begin_lists(group, window_start)
                async with asyncio.TaskGroup() as window:
                    window.create_task(self._collect("status", self.end))
                    window.create_task(self._passages(self.end))

    def _is_listing(self) -> bool:
        is_on = any(not task.done() for task in self._lists.values())
        return is_on and self.end < self._schedule.end

    def _begin_lists(self, group: asyncio.TaskGroup, window_start: datetime) -> None:
        """Begin the lists that are due in a window, unless they are still under way."""
        for cadence in LISTS:
            is_on = cadence.dag in self._lists and not self._lists[cadence.dag].done()
            if cadence.every and self._schedule.is_due(cadence.every, window_start) and not is_on:
                self._lists[cadence.dag] = group.create_task(self._list(cadence))
        if window_start == self._schedule.start:
            self._known = self._lists["network"]

    async def _list(self, cadence: Cadence) -> None:
        if cadence.runs_after and self._known:
            await self._known
            if self._clock.now() >= self._schedule.end:
                return
        for dataset in collections_of(cadence.dag):
            while not await self._collect(dataset, self._schedule.end) and dataset == "lines":
                await self._clock.sleep(LIST_RETRY_SECONDS)  # without the lines nothing else can be asked for
                if self._clock.now() >= self._schedule.end:
                    return
            if cadence.dag == "network":
                self._stage(dataset)  # stops can only be asked for once their lines are staged
                self._polled = None  # the next window knows the new ones

    async def _passages(self, end: datetime) -> None:
        """Poll passages for the rest of a window, from when it is known which stops there are."""
        while self._known and not self._known.done():
            if self._clock.now() >= end:
                return
            await self._clock.sleep(1.0)
        await self._collect("passages", end)

    async def _collect(self, dataset: str, end: datetime) -> bool:
        """Collect a dataset until `end`, or until its list is done; tell whether any answer was good."""
        start = self._clock.now()
        source = self._source(dataset, start)
        tally = Tally(dataset, (end - start).total_seconds() if is_polled(dataset) else None)
        with self._session.landing(WORKER) as landing:
            collector = self._session.collector(
                source, landing, tally, end, lambda _: self._tick(self._clock.now())
            )
            await collector.run()
        self.outcomes.update(tally.outcomes)
        self.n_sent += tally.sent + tally.retries
        if dataset == "lines":
            self._n_silent = 0 if tally.received else self._n_silent + 1
        if self._n_silent > PATIENCE:
            raise RehearsalError(f"{self._settings.base_url} does not answer: {'; '.join(tally.warnings)}")
        return bool(tally.outcomes.get(Outcome.OK.value))

    def _source(self, dataset: str, start: datetime) -> Source:
        """Return where requests come from; for passages it stays the same as long as the stops do."""
        if dataset == "passages" and self._polled is not None:
            return self._polled
        with self._meter.part("planning"):
            source = source_of(dataset, self._settings, start)
        if dataset == "passages":
            self._polled = source
        return source


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """Return the failure of collections side by side that ended the others."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first

"""Collects one period of a rehearsal: one window after another, with everything that is due in parallel.

Status and passages are polled in windows without a pause, lists at their intervals, as the DAGs do; what the
schedule leaves out is not asked for.
A period ends with the first window, from its planned end on, in which no list is being collected: then the
data folder and the state of the budget hold everything that the next period begins with. What passages are
polled by is learned again from the answers of the last hour when a period begins, as at the beginning of a
window in production; within a period it stays in memory.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import datetime

import httpx2

from transit_etl.api.exchange import Outcome
from transit_etl.clock import SteadyInstant, VirtualClock
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.collector import Collector
from transit_etl.collect.datasets import source_of
from transit_etl.collect.known_network import NothingKnownError
from transit_etl.collect.session import landing_of, session_of
from transit_etl.collect.sources import Source
from transit_etl.collect.tally import Tally
from transit_etl.endpoints import CADENCES, Cadence, collections_of, endpoints_of, is_polled
from transit_etl.paths import REHEARSAL_WORKER
from transit_etl.rehearsal.journal import RehearsalError, Schedule
from transit_etl.rehearsal.metering import Meter, MeteredClient, MeteredStore
from transit_etl.settings import CollectSettings

LISTS = [cadence for cadence in CADENCES.values() if cadence.every and not cadence.is_paused]
# Stops are requested per staged line, the audit draws visits from staged timetables, and a news item is not
# asked for again once its text is staged.
_STAGED_AT_ONCE = ("network", "timetables", "news")
LINES_RETRY_SECONDS = 60.0
MAX_LINES_RETRIES = 4  # after so many without any answer the rehearsal fails


class Period:
    """A period from `start`, with the state of the budget at the end of the period before.

    `begin_staging` is called with the endpoints of a collection whose answers decide what is requested later,
    and `wait_for_staging` before that is decided; `on_window_end` after each window of passages except the
    last, `on_answer` after each answer.
    """

    def __init__(
        self,
        settings: CollectSettings,
        schedule: Schedule,
        start: datetime,
        budget: BudgetState,
        *,
        transport: httpx2.AsyncBaseTransport | None,
        meter: Meter,
        begin_staging: Callable[..., None],
        wait_for_staging: Callable[[], None],
        on_window_end: Callable[[], None],
        on_answer: Callable[[datetime], None],
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.n_sent = 0
        self.budget = budget
        self.end = start
        self._settings = settings
        self._schedule = schedule
        self._start = start
        self._begin_staging = begin_staging
        self._wait_for_staging = wait_for_staging
        self._is_being_staged = False  # whether what decides on requests may not be in the lake yet
        self._on_window_end = on_window_end
        self._on_answer = on_answer
        self._meter = meter
        self._clock = VirtualClock(start)
        self._client = MeteredClient(settings, self._clock, transport, meter)
        store = MeteredStore(budget, meter)
        self._session = session_of(
            settings, self._clock, client=self._client, store=store, measure=meter.part
        )
        self._first_network: asyncio.Task[None] | None = None
        self._lists: dict[str, list[asyncio.Task[None]]] = {}  # begun or due in this window, by DAG
        self._passages_source: Source | None = None
        self._n_lines_unanswered = 0

    @property
    def n_refused(self) -> int:
        """How many requests were refused with a 429 that was not an injected fault."""
        return self._client.n_refused

    def run(self) -> None:
        """Collect until the end of the period."""
        try:
            self._clock.run(self._run())
        except ExceptionGroup as failures:
            raise _first(failures) from None

    async def _run(self) -> None:
        async with self._session.client, self._session.budget, asyncio.TaskGroup() as group:
            while not self._is_over():
                if self.end > self._start:
                    self._on_window_end()
                window_start, self.end = self.end, self._schedule.window_after(self.end)
                self._begin_lists(group, window_start)
                async with asyncio.TaskGroup() as window:
                    if "status" in self._schedule.only:
                        window.create_task(self._collect("status", self.end))
                    if "passages" in self._schedule.only:
                        window.create_task(self._collect_passages(self.end))
                    window.create_task(self._sleep_until(self.end))

    def _is_over(self) -> bool:
        """Return whether the planned end is reached and no list is being collected."""
        if self.end >= self._schedule.end:
            return True
        return self.end >= self._start + self._schedule.period and not any(map(self._is_on, self._lists))

    def _is_on(self, dag: str) -> bool:
        """Return whether a list is being collected."""
        return any(not task.done() for task in self._lists.get(dag, []))

    def _begin_lists(self, group: asyncio.TaskGroup, window_start: datetime) -> None:
        """Begin the lists that are due in a window, each at its instants."""
        for cadence in LISTS:
            if cadence.every is None or cadence.dag not in self._schedule.only:
                continue
            before = [task for task in self._lists.get(cadence.dag, []) if not task.done()]
            due = self._schedule.due_between(cadence.every, window_start, self.end)
            self._lists[cadence.dag] = before
            for due_at in due:
                before = [group.create_task(self._collect_when_due(cadence, due_at, list(before)))]
                self._lists[cadence.dag] += before
        if window_start == self._schedule.start and "network" in self._lists:
            self._first_network = self._lists["network"][0]

    async def _collect_when_due(
        self, cadence: Cadence, due_at: datetime, before: list[asyncio.Task[None]]
    ) -> None:
        """Collect lists from an instant on, unless those due before are still being collected then."""
        await self._sleep_until(due_at)
        if all(task.done() for task in before):
            await self._collect_lists(cadence)

    async def _sleep_until(self, instant: datetime) -> None:
        while self._clock.now() < instant:
            await self._clock.sleep((instant - self._clock.now()).total_seconds())

    async def _collect_lists(self, cadence: Cadence) -> None:
        if cadence.runs_after and self._first_network:
            await self._first_network
            if self._clock.now() >= self._schedule.end:
                return
        for dataset in collections_of(cadence.dag):
            while not await self._collect_and_stage(dataset, cadence) and dataset == "lines":
                await self._clock.sleep(LINES_RETRY_SECONDS)  # without lines nothing else can be requested
                if self._clock.now() >= self._schedule.end:
                    return
            if cadence.dag == "network":
                self._passages_source = None  # the next window polls the new stops too

    async def _collect_and_stage(self, dataset: str, cadence: Cadence) -> bool:
        """Collect a dataset; return whether any answer was good and, if it is of lines, a line is known."""
        is_answered = await self._collect(dataset, self._schedule.end)
        if cadence.dag in _STAGED_AT_ONCE:
            self._begin_staging(*(endpoint.name for endpoint in endpoints_of(dataset)))
            self._is_being_staged = True
        return is_answered and (dataset != "lines" or self._knows_lines())

    def _knows_lines(self) -> bool:
        """Tell whether any list of lines had one: a good answer may be an empty list."""
        try:
            self._source("stops", self._clock.now())
        except NothingKnownError:
            return False
        return True

    async def _collect_passages(self, end: datetime) -> None:
        """Poll passages for the rest of a window, once the first list of stops is staged."""
        while self._first_network and not self._first_network.done():
            if self._clock.now() >= end:
                return
            await self._clock.sleep(1.0)
        await self._collect("passages", end)

    async def _collect(self, dataset: str, end: datetime) -> bool:
        """Collect a dataset until `end`, or until its list is done; return whether any answer was good."""
        start = self._clock.now()
        source = self._source(dataset, start)
        tally = Tally(dataset, (end - start).total_seconds() if is_polled(dataset) else None)
        with landing_of(self._settings, self._clock, REHEARSAL_WORKER) as landing:
            collector = Collector(
                self._session, landing, source, tally,
                deadline=end, on_progress=lambda _: self._on_answer(self._clock.now()),
            )  # fmt: skip
            await collector.run()
        self.outcomes.update(tally.outcomes)
        self.n_sent += tally.sent + tally.retries
        if dataset == "lines":
            self._n_lines_unanswered = 0 if tally.received else self._n_lines_unanswered + 1
        if self._n_lines_unanswered > MAX_LINES_RETRIES:
            raise RehearsalError(f"{self._settings.base_url} does not answer: {'; '.join(tally.warnings)}")
        return bool(tally.outcomes.get(Outcome.OK.value))

    def _source(self, dataset: str, start: datetime) -> Source:
        """Return the source of a dataset's requests; that of passages is kept until the stops may change."""
        if dataset == "passages" and self._passages_source is not None:
            return self._passages_source
        if self._is_being_staged:
            self._wait_for_staging()
            self._is_being_staged = False
        with self._meter.part("planning"):
            source = source_of(dataset, self._settings, SteadyInstant(self._clock, start))
        if dataset == "passages":
            self._passages_source = source
        return source


def _first(failures: ExceptionGroup[Exception]) -> Exception:
    """Return the failure that ended all collections."""
    first = failures.exceptions[0]
    return _first(first) if isinstance(first, ExceptionGroup) else first

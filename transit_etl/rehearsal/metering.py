"""Measures where the time of a rehearsal goes, part by part, without changing what the parts do."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

import httpx

from transit_etl.api.client import BeforeRetry, Client
from transit_etl.api.exchange import Answer, Request
from transit_etl.clock import Clock
from transit_etl.collect.budget_state import BudgetState
from transit_etl.collect.budget_store import MemoryStore, Work
from transit_etl.collect.landing import Landing
from transit_etl.collect.ledger import Planned
from transit_etl.collect.sources import Source
from transit_etl.rehearsal.journal import WORKER
from transit_etl.settings import Settings

T = TypeVar("T")
FAULT_HEADER = "X-Emulated-Fault"


class Meter:
    """Seconds of real time by part. What runs within a part counts for that part alone."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._n_asking = 0
        self._asking_since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what runs meanwhile for a part; it must not wait for anything."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - began

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Count the time in which at least one request is under way."""
        if not self._n_asking:
            self._asking_since = time.perf_counter()
        self._n_asking += 1
        try:
            yield
        finally:
            self._n_asking -= 1
            if not self._n_asking:
                self.seconds["asking"] += time.perf_counter() - self._asking_since


class MeteredClient(Client):
    """A client whose requests are measured.

    `n_refused` counts the 429s that the upstream does not mark as a fault of its own making.
    """

    def __init__(
        self, settings: Settings, clock: Clock, transport: httpx.AsyncBaseTransport | None, meter: Meter
    ) -> None:
        super().__init__(settings, clock, transport, sends_clock=True)
        self.n_refused = 0
        self._meter = meter
        self._http.event_hooks = {"response": [self._look_at]}

    async def _look_at(self, response: httpx.Response) -> None:
        if response.status_code == httpx.codes.TOO_MANY_REQUESTS and FAULT_HEADER not in response.headers:
            self.n_refused += 1

    async def send(self, request: Request, before_retry: BeforeRetry | None = None) -> Answer:
        """Make one GET."""
        with self._meter.asking():
            return await super().send(request, before_retry)


class MeteredStore(MemoryStore):
    """A budget whose decisions are measured."""

    def __init__(self, state: BudgetState, meter: Meter) -> None:
        super().__init__(state)
        self._meter = meter

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state."""
        with self._meter.part("budget"):
            return await super().transact(work, now)


class MeteredLanding(Landing):
    """A landing whose writing is measured."""

    def __init__(self, settings: Settings, clock: Clock, meter: Meter) -> None:
        super().__init__(settings.data_dir, settings.operator, clock, WORKER)
        self._meter = meter

    def plan(self, request: Request, planned_at: datetime | None = None) -> Planned:
        """Write an intent down."""
        with self._meter.part("landing"):
            return super().plan(request, planned_at)

    def land(self, intent: Planned, answer: Answer) -> None:
        """Keep an answer."""
        with self._meter.part("landing"):
            super().land(intent, answer)


class MeteredSource:
    """A source whose choices, and what it learns from answers, are measured."""

    def __init__(self, source: Source, meter: Meter) -> None:
        self.kind = source.kind
        self._source = source
        self._meter = meter

    @property
    def total(self) -> int | None:
        """How many requests there will be, where that is known."""
        return self._source.total

    @total.setter
    def total(self, total: int | None) -> None:
        self._source.total = total

    def due_at(self, now: datetime) -> datetime | None:
        """Return when the next request is worth a permit."""
        return self._source.due_at(now)

    def choose(self, now: datetime) -> Request:
        """Return the most valuable request."""
        with self._meter.part("planning"):
            return self._source.choose(now)

    def observe(self, answer: Answer) -> None:
        """Take note of an answer."""
        with self._meter.part("planning"):
            self._source.observe(answer)

    def unasked(self, now: datetime) -> list[tuple[Request, datetime]]:
        """Return what was due and never asked."""
        return self._source.unasked(now)

"""Measures where the time of a rehearsal goes, part by part, without changing what the parts do."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx

from transit_etl.api.client import BeforeRetry, Client
from transit_etl.api.exchange import Answer, Request
from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.allowance.budget_store import MemoryStore, Work
from transit_etl.settings import Settings

T = TypeVar("T")
FAULT_HEADER = "X-Emulated-Fault"


class Meter:
    """Seconds of real time by part. What runs within a part counts for that part alone."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._within: list[float] = []  # of each part under way, what parts within it took
        self._n_asking = 0
        self._asking_since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what runs meanwhile for a part; it must not wait for anything."""
        began = time.perf_counter()
        self._within.append(0.0)
        try:
            yield
        finally:
            elapsed = time.perf_counter() - began
            self.seconds[name] += elapsed - self._within.pop()
            if self._within:
                self._within[-1] += elapsed

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
        super().__init__(settings, clock, transport)
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
        self.state = state
        self._meter = meter

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state."""
        with self._meter.part("budget"):
            return await super().transact(work, now)

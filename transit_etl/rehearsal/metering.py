"""Measures where the time of a rehearsal goes, part by part, without changing what the parts do."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import httpx2

from transit_etl.api.client import BeforeRetry, Client
from transit_etl.api.exchange import Answer, Request
from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.allowance.budget_store import MemoryStore, Work
from transit_etl.settings import CollectSettings

T = TypeVar("T")
FAULT_HEADER = "X-Emulated-Fault"


class Meter:
    """Seconds of real time by part. The time of a part within another one counts only for the inner one."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._inner_seconds: list[float] = []  # per part under way, outermost first
        self._n_requests = 0
        self._requests_since = 0.0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time until the context ends for a part; nothing in it may await."""
        began = time.perf_counter()
        self._inner_seconds.append(0.0)
        try:
            yield
        finally:
            elapsed = time.perf_counter() - began
            self.seconds[name] += elapsed - self._inner_seconds.pop()
            if self._inner_seconds:
                self._inner_seconds[-1] += elapsed

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count the time in which at least one request is in flight, as the part "asking"."""
        if not self._n_requests:
            self._requests_since = time.perf_counter()
        self._n_requests += 1
        try:
            yield
        finally:
            self._n_requests -= 1
            if not self._n_requests:
                self.seconds["asking"] += time.perf_counter() - self._requests_since


class MeteredClient(Client):
    """A client whose requests are measured; `n_refused` counts the 429s that were not injected as a fault."""

    def __init__(
        self,
        settings: CollectSettings,
        clock: Clock,
        transport: httpx2.AsyncBaseTransport | None,
        meter: Meter,
    ) -> None:
        super().__init__(settings, clock, transport)
        self.n_refused = 0
        self._meter = meter
        self._http.event_hooks = {"response": [self._look_at]}

    async def _look_at(self, response: httpx2.Response) -> None:
        if response.status_code == httpx2.codes.TOO_MANY_REQUESTS and FAULT_HEADER not in response.headers:
            self.n_refused += 1

    async def send(self, request: Request, before_retry: BeforeRetry | None = None) -> Answer:
        """Make one GET."""
        with self._meter.request():
            return await super().send(request, before_retry)


class MeteredStore(MemoryStore):
    """A store of the budget whose transactions are measured."""

    def __init__(self, state: BudgetState, meter: Meter) -> None:
        super().__init__(state)
        self._meter = meter

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:
        """Change the state."""
        with self._meter.part("budget"):
            return await super().transact(work, now)

"""Collects everything that is due in one leg of a rehearsal, side by side, as separate processes would."""

import asyncio
import json
from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import httpx

from transit_etl.clock import VirtualClock
from transit_etl.collect.budget import Budget
from transit_etl.collect.budget_state import BudgetState, Limits
from transit_etl.collect.collector import Collector, Tools
from transit_etl.collect.datasets import MOMENTARY, source_of
from transit_etl.collect.priorities import Kind
from transit_etl.collect.rawfile import read_lines
from transit_etl.collect.report import Tally
from transit_etl.paths import RAW_SUFFIX
from transit_etl.rehearsal.journal import WORKER, Plan
from transit_etl.rehearsal.metering import Meter, MeteredClient, MeteredLanding, MeteredSource, MeteredStore
from transit_etl.settings import Settings

NETWORK_EVERY, TIMETABLES_EVERY, NEWS_EVERY = timedelta(days=1), timedelta(hours=4), timedelta(hours=1)


class Leg:
    """The collections of one leg; each lands in windows of its own. `tick` is called after each answer."""

    def __init__(
        self,
        settings: Settings,
        plan: Plan,
        start: datetime,
        *,
        transport: httpx.AsyncBaseTransport | None,
        meter: Meter,
        stage: Callable[[str], None],
        tick: Callable[[datetime], None],
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.n_sent = 0
        self.n_refused = 0
        self.end = min(start + timedelta(seconds=plan.leg_seconds), plan.end)
        self._settings = settings
        self._plan = plan
        self._start = start
        self._transport = transport
        self._meter = meter
        self._stage = stage
        self._tick = tick

    def run(self) -> None:
        """Collect until the end of the leg."""
        clock = VirtualClock(self._start)
        try:
            clock.run(self._run(clock))
        except ExceptionGroup as failures:  # of collections side by side; the first ended the others
            raise failures.exceptions[0] from failures

    async def _run(self, clock: VirtualClock) -> None:
        limits = Limits(self._plan.rate_per_minute)
        store = MeteredStore(_last_minute(self._settings, self._start, limits), self._meter)
        client = MeteredClient(self._settings, clock, self._transport, self._meter)
        async with client, Budget(limits, store, clock) as budget:
            await self._collect_all(client, budget, clock)
        self.n_refused = client.n_refused

    async def _collect_all(self, client: MeteredClient, budget: Budget, clock: VirtualClock) -> None:
        async def collect(*datasets: str) -> None:
            for dataset in datasets:
                await self._collect(dataset, client, budget, clock)

        async with asyncio.TaskGroup() as group:
            group.create_task(collect("status"))
            if self._is_due(NEWS_EVERY):
                group.create_task(collect("news"))
            if self._start == self._plan.start:
                await collect("lines", "stops")
            elif self._is_due(NETWORK_EVERY):
                group.create_task(collect("lines", "stops"))
            if self._is_due(TIMETABLES_EVERY):
                group.create_task(collect("timetables"))
            group.create_task(collect("passages"))

    async def _collect(
        self, dataset: str, client: MeteredClient, budget: Budget, clock: VirtualClock
    ) -> None:
        """Collect a dataset until its list, or the leg, is over."""
        start = clock.now()
        with self._meter.part("planning"):
            source = MeteredSource(source_of(dataset, self._settings, start), self._meter)
        tally = Tally(dataset, (self.end - start).total_seconds() if dataset in MOMENTARY else None)
        with MeteredLanding(self._settings, clock, self._meter) as landing:
            tools = Tools(client, budget, landing, clock)
            await Collector(tools, source, tally, self.end, lambda _: self._tick(clock.now())).run()
        self.outcomes.update(tally.outcomes)
        self.n_sent += tally.sent + tally.retries
        if dataset in ("lines", "stops"):
            self._stage(dataset)  # stops can only be asked for once their lines are staged

    def _is_due(self, every: timedelta) -> bool:
        """Tell whether this leg is the first of its period, counted from the beginning of the rehearsal."""
        return (self._start - self._plan.start) % every < timedelta(seconds=self._plan.leg_seconds)


def _last_minute(settings: Settings, start: datetime, limits: Limits) -> BudgetState:
    """Return the budget as the permits of the last minute left it, read from the ledger."""
    since = start - timedelta(seconds=limits.span)
    permits = sorted(
        (sent_at.timestamp(), Kind.of(endpoint))
        for endpoint, sent_at in _sent(settings, start)
        if sent_at > since
    )
    last = permits[-1][0] if permits else 0.0
    return BudgetState(
        permits=deque(permits), counts=Counter(kind for _, kind in permits), granted_at=last, paced_at=last
    )


def _sent(settings: Settings, start: datetime) -> Iterator[tuple[str, datetime]]:
    """Yield endpoint and instant of what was sent in the windows of the leg before."""
    first = f"{start - timedelta(seconds=settings.window_seconds):%Y%m%dT%H%M%SZ}"
    folder = settings.data_dir / "raw" / f"operator={settings.operator}"
    for path in sorted(folder.glob(f"endpoint=*/date=*/*-{WORKER}*{RAW_SUFFIX}")):
        if path.name >= first:
            for row in map(json.loads, read_lines(path)):
                if row["sent_at"]:
                    yield row["endpoint"], datetime.fromisoformat(row["sent_at"])

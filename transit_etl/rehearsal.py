"""Makes days pass in minutes: the real collectors, budget, landing and staging, on a virtual clock.

A rehearsal goes in legs of one window each. Everything that a leg needs to know lies in the data folder
when it begins, as in production: the planner replays the last hour, the budget the last minute. So a
rehearsal that was killed takes up its last unfinished leg, and its lake is the one of an uninterrupted one.
"""

import asyncio
import json
import re
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import httpx

from transit_etl.api.client import Client
from transit_etl.api.exchange import Outcome
from transit_etl.clock import VirtualClock
from transit_etl.collect.budget import Budget
from transit_etl.collect.budget_state import BudgetState, Limits
from transit_etl.collect.budget_store import MemoryStore
from transit_etl.collect.collector import Collector, Tools
from transit_etl.collect.datasets import MOMENTARY, source_of
from transit_etl.collect.landing import Landing
from transit_etl.collect.priorities import Kind
from transit_etl.collect.rawfile import read_lines
from transit_etl.collect.report import Tally
from transit_etl.paths import RAW_SUFFIX, state_dir
from transit_etl.settings import Settings
from transit_etl.stage import stage

WORKER = "rehearsal"
_WINDOW = re.compile(r"\d{8}T\d{6}Z-")
NETWORK_EVERY, TIMETABLES_EVERY, NEWS_EVERY = timedelta(days=1), timedelta(hours=4), timedelta(hours=1)


class RehearsalError(Exception):
    """A rehearsal cannot begin or go on in this data folder; the message says why."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is rehearsed. A leg is as long as a window of the settings."""

    start: datetime
    hours: float
    rate_per_minute: int
    leg_seconds: float

    @property
    def end(self) -> datetime:
        """The instant at which the rehearsal is over."""
        return self.start + timedelta(hours=self.hours)


@dataclass(frozen=True, slots=True)
class RehearsalProgress:
    """How far a rehearsal is: `now` is virtual, `n_requests` counts from where it was taken up."""

    now: datetime
    seconds_done: float
    seconds_total: float
    n_requests: int


@dataclass(frozen=True, slots=True)
class RehearsalReport:
    """What was rehearsed since it was taken up: virtual and real seconds, and requests by outcome."""

    virtual_seconds: float
    collecting_seconds: float
    staging_seconds: float
    outcomes: dict[str, int]
    allowance_share: float

    @property
    def times_real_time(self) -> float:
        """How many times faster than the clock on the wall it went."""
        return self.virtual_seconds / max(1e-9, self.collecting_seconds + self.staging_seconds)

    @property
    def n_rate_limited(self) -> int:
        """How often the upstream refused a request as one too many: never, if the budget is right."""
        return self.outcomes.get(Outcome.RATE_LIMITED.value, 0)


OnProgress = Callable[[RehearsalProgress], None]


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
    replaces the network. The data folder must be new or hold this very rehearsal (RehearsalError).
    """
    plan = Plan(start.astimezone(UTC), hours, settings.rate_per_minute, settings.window_seconds)
    rehearsal = _Rehearsal(settings, plan, transport, on_progress)
    return rehearsal.run()


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
        self._journal = _Journal(settings, plan)
        self._outcomes: Counter[str] = Counter()
        self._n_sent = 0
        self._n_ticks = 0
        self._staging_seconds = 0.0

    def run(self) -> RehearsalReport:
        """Go through the legs that are left."""
        began, taken_up_at = time.monotonic(), self._journal.done_until
        self._journal.begin()
        while (start := self._journal.done_until) < self._plan.end:
            end = min(start + timedelta(seconds=self._plan.leg_seconds), self._plan.end)
            clock = VirtualClock(start)
            clock.run(self._leg(clock, end))
            self._stage()
            self._journal.mark_done(end)
        virtual_seconds = (self._plan.end - taken_up_at).total_seconds()
        return RehearsalReport(
            virtual_seconds=virtual_seconds,
            collecting_seconds=time.monotonic() - began - self._staging_seconds,
            staging_seconds=self._staging_seconds,
            outcomes=dict(sorted(self._outcomes.items())),
            allowance_share=self._n_sent / max(1.0, self._plan.rate_per_minute * virtual_seconds / 60),
        )

    async def _leg(self, clock: VirtualClock, end: datetime) -> None:
        """Collect everything that is due in a leg, side by side, as separate processes would."""
        start = clock.now()
        limits = Limits(self._plan.rate_per_minute)
        budget = Budget(limits, MemoryStore(_last_minute(self._settings, start, limits)), clock)
        async with Client(self._settings, clock, self._transport, sends_clock=True) as client, budget:
            leg = _Leg(self._settings, client, budget, clock, end=end, tick=self._tick)
            await self._collect_all(leg, start)
        self._outcomes.update(leg.outcomes)
        self._n_sent += leg.n_sent

    async def _collect_all(self, leg: "_Leg", start: datetime) -> None:
        is_first = start == self._plan.start
        async with asyncio.TaskGroup() as group:
            group.create_task(leg.collect("status"))
            if _is_due(NEWS_EVERY, start, self._plan):
                group.create_task(leg.collect("news"))
            if is_first:
                await self._network(leg)
            elif _is_due(NETWORK_EVERY, start, self._plan):
                group.create_task(self._network(leg))
            if _is_due(TIMETABLES_EVERY, start, self._plan):
                group.create_task(leg.collect("timetables"))
            group.create_task(leg.collect("passages"))

    async def _network(self, leg: "_Leg") -> None:
        """Collect the lines, and then the stops of each, which can only be asked for once staged."""
        for dataset in ("lines", "stops"):
            await leg.collect(dataset)
            self._stage(dataset)

    def _stage(self, endpoint: str | None = None) -> None:
        began = time.monotonic()
        stage(self._settings, endpoints=[endpoint] if endpoint else None)
        self._staging_seconds += time.monotonic() - began

    def _tick(self, now: datetime) -> None:
        """Tell how far it is, after each answer."""
        self._n_ticks += 1
        if self._on_progress is not None:
            done, total = now - self._plan.start, self._plan.end - self._plan.start
            self._on_progress(
                RehearsalProgress(now, done.total_seconds(), total.total_seconds(), self._n_ticks)
            )


class _Leg:
    """The collections of one leg; each lands in windows of its own."""

    def __init__(
        self,
        settings: Settings,
        client: Client,
        budget: Budget,
        clock: VirtualClock,
        *,
        end: datetime,
        tick: Callable[[datetime], None],
    ) -> None:
        self.outcomes: Counter[str] = Counter()
        self.n_sent = 0
        self._settings = settings
        self._client = client
        self._budget = budget
        self._clock = clock
        self._end = end
        self._tick = tick

    async def collect(self, dataset: str) -> None:
        """Collect a dataset until its list, or the leg, is over."""
        start = self._clock.now()
        source = source_of(dataset, self._settings, start)
        tally = Tally(dataset, (self._end - start).total_seconds() if dataset in MOMENTARY else None)
        with Landing(self._settings.data_dir, self._settings.operator, self._clock, WORKER) as landing:
            tools = Tools(self._client, self._budget, landing, self._clock)
            await Collector(tools, source, tally, self._end, lambda _: self._tick(self._clock.now())).run()
        self.outcomes.update(tally.outcomes)
        self.n_sent += tally.sent + tally.retries


class _Journal:
    """Which rehearsal the data folder holds, and until when it is done."""

    def __init__(self, settings: Settings, plan: Plan) -> None:
        self._data_dir = settings.data_dir
        self._path = state_dir(settings.data_dir) / "rehearsal.json"
        self._identity = {
            "start": plan.start.isoformat(),
            "rate_per_minute": plan.rate_per_minute,
            "leg_seconds": plan.leg_seconds,
            "operator": settings.operator,
        }
        self.done_until = self._read() or plan.start

    def mark_done(self, until: datetime) -> None:
        """Keep that everything before `until` is in the lake."""
        self.done_until = until
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix(".new")
        beside.write_text(json.dumps({**self._identity, "done_until": until.isoformat()}, indent=1))
        beside.replace(self._path)

    def begin(self) -> None:
        """Claim the folder, and remove what an interrupted leg left behind: it is rehearsed again."""
        self.mark_done(self.done_until)
        first = f"{self.done_until:%Y%m%dT%H%M%SZ}"
        for folder in ("raw", "lake", "quarantine"):
            for path in (self._data_dir / folder).rglob("*"):
                if path.is_file() and _WINDOW.match(path.name) and path.name >= first:
                    path.unlink()

    def _read(self) -> datetime | None:
        try:
            kept = json.loads(self._path.read_text())
        except FileNotFoundError:
            if (self._data_dir / "raw").exists():
                raise RehearsalError(
                    f"{self._data_dir} holds answers of a real collection: rehearse in a folder of its own "
                    "(TRANSIT_DATA_DIR)"
                ) from None
            return None
        until = datetime.fromisoformat(kept.pop("done_until"))
        if kept != self._identity:
            raise RehearsalError(f"{self._data_dir} holds another rehearsal: {kept}")
        return until


def _is_due(every: timedelta, start: datetime, plan: Plan) -> bool:
    """Tell whether a leg is the first of its period, counted from the beginning of the rehearsal."""
    elapsed = start - plan.start
    return elapsed % every < timedelta(seconds=plan.leg_seconds)


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
    for path in sorted(folder.glob(f"endpoint=*/date=*/*{RAW_SUFFIX}")):
        if path.name >= first:
            for row in map(json.loads, read_lines(path)):
                if row["sent_at"]:
                    yield row["endpoint"], datetime.fromisoformat(row["sent_at"])

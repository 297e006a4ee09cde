"""What the tests of the budget share: an upstream in virtual time, and workers that never stop asking."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError, Permit
from transit_etl.collect.allowance.budget_state import LONGEST_BLOCK_SECONDS, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.allowance.state_text import DamagedStateError, OtherVersionError, dumps, loads
from transit_etl.endpoints import Kind

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
# Windows of two seconds instead of sixty, so that a short run holds several of them.
FAST = Limits(20, window=2.0, margin=0.06, catch_up=0.2)


def fullest_window(instants: Sequence[float], seconds: float = 60.0) -> int:
    """Return the largest number of the instants within any window of so many seconds, both ends included."""
    return max(sum(0 <= later - first <= seconds for later in instants) for first in instants)


@dataclass
class Upstream:
    """Requests take a while to arrive and a while to be answered; it notes when each arrived."""

    clock: VirtualClock
    delays: Callable[[], tuple[float, float]] = lambda: (0.05, 0.05)
    arrivals: list[tuple[float, Kind]] = field(default_factory=list)

    async def serve(self, kind: Kind) -> None:
        """Receive a request and answer it."""
        there, back = self.delays()
        await self.clock.sleep(there)
        self.arrivals.append(((self.clock.now() - START).total_seconds(), kind))
        await self.clock.sleep(back)

    def instants(self) -> list[float]:
        """When requests arrived, in seconds since the start."""
        return [instant for instant, _ in self.arrivals]


async def keep_asking(budget: Budget, kind: Kind, upstream: Upstream, until: datetime) -> None:
    """A worker that always has something to ask for and does not wait for one answer to ask again."""
    running: set[asyncio.Task[None]] = set()

    async def request(permit: Permit) -> None:
        await upstream.serve(kind)
        await budget.settle(permit)

    while True:
        try:
            permit = await budget.acquire(kind, until)
        except BudgetClosedError:
            break
        task = asyncio.create_task(request(permit))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)


def simulate(
    kinds: Sequence[Kind],
    *,
    allowance: int = 60,
    minutes: float = 10,
    delays: Callable[[], tuple[float, float]] | None = None,
) -> Upstream:
    clock = VirtualClock(START)
    upstream = Upstream(clock, delays) if delays else Upstream(clock)
    store, limits = MemoryStore(), Limits(allowance)

    async def main() -> None:
        until = START + minutes * MINUTE
        budgets = [Budget(limits, store, clock) for _ in kinds]
        workers = zip(budgets, kinds, strict=True)
        await asyncio.gather(*(keep_asking(budget, kind, upstream, until) for budget, kind in workers))

    clock.run(main())
    return upstream


def in_virtual_time(main: Callable[[Budget, VirtualClock], Awaitable[None]], allowance: int = 60) -> None:
    clock = VirtualClock(START)

    async def run() -> None:
        await main(Budget(Limits(allowance), MemoryStore(), clock), clock)

    clock.run(run())


_LIMITS, _NOW = Limits(60), 1_772_000_000.0


def refused_or_safe(text: str) -> None:
    """Check that a state is refused, or permits no more than a sound one and is written as it was read."""
    try:
        state = loads(text)
    except (DamagedStateError, OtherVersionError):
        return
    granted = 0
    state.advance(_NOW + 30, _LIMITS, None)
    while state.ask(_NOW + 30, "someone", Kind.PASSAGES, _LIMITS).is_granted:
        granted += 1
    state.advance(_NOW + 30, _LIMITS, 1.2)
    decision = state.ask(_NOW + 30, "someone", Kind.PASSAGES, _LIMITS)

    assert granted <= _LIMITS.allowance
    assert 0 <= decision.slot_in <= LONGEST_BLOCK_SECONDS + 2 * _LIMITS.span
    assert loads(dumps(state)) == state

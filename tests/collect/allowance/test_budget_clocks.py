"""Clocks that are late, set back or shifted neither exceed the allowance nor block it for long."""

import asyncio
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from tests.collect.allowance.budgets import (
    MINUTE,
    START,
    Upstream,
    fullest_window,
    keep_asking,
)
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.endpoints import Kind


class LateClock(VirtualClock):
    """The clock of a busy machine: every sleeper wakes late, now and then by a whole second."""

    def __init__(self, start: datetime, lateness: Callable[[], float]) -> None:
        super().__init__(start)
        self._lateness = lateness

    async def sleep(self, seconds: float) -> None:
        """Sleep too long."""
        await super().sleep(seconds + self._lateness())


@pytest.mark.parametrize("n_workers", [1, 4])
def test_a_busy_machine_that_wakes_late_catches_up_without_a_burst(n_workers: int) -> None:
    chance = random.Random(3)  # noqa: S311 - repeatable, not secret
    clock = LateClock(START, lambda: 1.0 if chance.random() < 0.002 else chance.uniform(0, 0.02))
    granted: list[float] = []

    async def worker(budget: Budget) -> None:
        while clock.now() < START + 20 * MINUTE:
            await budget.acquire(Kind.PASSAGES)
            granted.append((clock.now() - START).total_seconds())

    async def main() -> None:
        store = MemoryStore()
        await asyncio.gather(*(worker(Budget(Limits(300), store, clock)) for _ in range(n_workers)))

    clock.run(main())
    gaps = [after - before for before, after in pairwise(granted)]

    assert fullest_window(granted) <= 300
    assert len(granted) >= 0.95 * 20 * 300
    assert min(gaps) >= 0.9 * 60 / 300


def test_a_clock_that_is_set_back_neither_blocks_for_long_nor_frees_permits_early() -> None:
    store = MemoryStore()
    later, earlier = VirtualClock(START + 60 * MINUTE), VirtualClock(START)
    upstream = Upstream(earlier)

    async def fill() -> None:
        budget = Budget(Limits(60), store, later)
        for _ in range(60):
            await budget.acquire(Kind.PASSAGES)

    async def go_on() -> tuple[float, int]:
        budget = Budget(Limits(60), store, earlier)
        used = sum((await budget.snapshot()).granted.values())
        await budget.acquire(Kind.PASSAGES)
        first = (earlier.now() - START).total_seconds()
        await keep_asking(budget, Kind.PASSAGES, upstream, START + 3 * MINUTE)
        return first, used

    later.run(fill())
    first, used = earlier.run(go_on())

    assert 60 == used
    assert first <= 2
    assert fullest_window(upstream.instants()) <= 60
    assert len(upstream.arrivals) >= 0.95 * 180 - 2


def test_a_block_set_by_a_fast_clock_lasts_no_longer_than_retry_after() -> None:
    store = MemoryStore()
    later, earlier = VirtualClock(START + 1000 * MINUTE), VirtualClock(START)

    async def block() -> None:
        budget = Budget(Limits(60), store, later)
        await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 30)

    async def wait() -> timedelta:
        await Budget(Limits(60), store, earlier).acquire(Kind.PASSAGES)
        return earlier.now() - START

    later.run(block())

    assert timedelta(seconds=29) <= earlier.run(wait()) <= timedelta(seconds=33)


class ShiftedClock(VirtualClock):
    """A virtual clock that shows an instant of another month than the real one."""

    def to_real(self, instant: datetime) -> datetime:
        """Add a month."""
        return instant + timedelta(days=30)

    def from_real(self, instant: datetime) -> datetime:
        """Take a month off."""
        return instant - timedelta(days=30)


def test_callers_with_differently_shifted_clocks_share_one_window() -> None:
    store = MemoryStore()
    real, shifted = VirtualClock(START), ShiftedClock(START - timedelta(days=30))

    async def ask(budget: Budget) -> int:
        await budget.acquire(Kind.PASSAGES)
        return sum((await budget.snapshot()).granted.values())

    counts = [
        real.run(ask(Budget(Limits(60), store, real))),
        shifted.run(ask(Budget(Limits(60), store, shifted))),
        real.run(ask(Budget(Limits(60), store, real))),
    ]

    assert [1, 2, 3] == counts

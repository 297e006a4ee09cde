"""The budget never lets a window of the server's hold more than the allowance, and wastes little of it."""

import asyncio
import random
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collect.allowance.budgets import (
    MINUTE,
    START,
    Upstream,
    fullest_window,
    in_virtual_time,
    keep_asking,
    simulate,
)
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.endpoints import Kind
from transit_etl.settings import Settings


@pytest.mark.parametrize("allowance", [1, 7, 60, 300])
def test_the_allowance_is_used_to_more_than_95_percent_and_never_exceeded(allowance: int) -> None:
    arrivals = simulate([Kind.PASSAGES], allowance=allowance, minutes=30).instants()

    assert fullest_window(arrivals) <= allowance
    assert len(arrivals) >= 0.95 * 30 * allowance


def test_permits_are_spaced_evenly_without_bursts() -> None:
    arrivals = simulate([Kind.PASSAGES] * 3, minutes=5).instants()
    gaps = [after - before for before, after in pairwise(arrivals)]

    assert min(gaps) >= 0.9
    assert max(gaps) <= 1.2


def test_time_in_which_no_caller_waited_is_not_made_up_for() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        await clock.sleep(120)
        granted = []
        for _n in range(10):
            await budget.acquire(Kind.PASSAGES)
            granted.append((clock.now() - START).total_seconds())
        gaps = [after - before for before, after in pairwise(granted)]
        assert all(gap == pytest.approx(Limits(60).span / 60, abs=0.005) for gap in gaps)

    in_virtual_time(main)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from(list(Kind)), min_size=1, max_size=6),
    st.sampled_from([5, 60, 300]),
    st.floats(0.0, 20.0),
    st.integers(),
)
def test_no_window_of_the_server_is_over_the_allowance_whatever_the_delays(
    kinds: list[Kind], allowance: int, slowest: float, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret

    def delays() -> tuple[float, float]:
        return chance.choice([0.0, 0.01, slowest]) * chance.random(), chance.choice([0.0, slowest / 2])

    arrivals = simulate(kinds, allowance=allowance, minutes=6, delays=delays).instants()

    assert fullest_window(arrivals) <= allowance


def test_slow_answers_cost_only_the_time_they_took() -> None:
    arrivals = simulate([Kind.PASSAGES], minutes=30, delays=lambda: (1.0, 1.0)).instants()

    assert fullest_window(arrivals) <= 60
    assert len(arrivals) >= 0.95 * 30 * 60


def test_an_hour_of_changing_load_never_exceeds_the_allowance() -> None:
    clock, chance = VirtualClock(START), random.Random(7)  # noqa: S311 - repeatable, not secret
    upstream, store = Upstream(clock), MemoryStore()

    async def worker(kind: Kind) -> None:
        budget = Budget(Limits(60), store, clock)
        while clock.now() < START + 60 * MINUTE:
            await clock.sleep(chance.expovariate(1 / 40))
            busy_until = clock.now() + timedelta(seconds=chance.uniform(1, 90))
            await keep_asking(budget, kind, upstream, busy_until)

    async def main() -> None:
        await asyncio.gather(*(worker(kind) for kind in Kind))

    clock.run(main())

    assert fullest_window(upstream.instants()) <= 60
    assert len(upstream.arrivals) > 2000


def test_a_caller_with_a_smaller_allowance_keeps_to_its_own_in_the_shared_window() -> None:
    clock, store = VirtualClock(START), MemoryStore()

    async def main() -> None:
        large, small = (Budget(Limits(allowance), store, clock) for allowance in (300, 10))
        for _ in range(10):
            await large.acquire(Kind.PASSAGES)
        with pytest.raises(BudgetClosedError):
            await small.acquire(Kind.PASSAGES, START + timedelta(seconds=59))
        await large.acquire(Kind.PASSAGES, START + timedelta(seconds=59))

    clock.run(main())


@pytest.mark.parametrize(
    ("values", "other", "is_shared"),
    [
        ({}, {"rate_per_minute": 30}, True),
        ({}, {"operator": "other"}, True),
        ({}, {"token": "abcdefgh"}, False),
        ({"token": "abcdefgh"}, {"token": "ijklmnop"}, False),
        ({}, {"base_url": "http://t.test/api/v1/"}, False),
        ({"base_url": "http://T.test/api/v1"}, {"base_url": "http://t.test/api/v1/"}, True),
    ],
)
def test_an_allowance_belongs_to_an_address_and_a_token(
    values: dict[str, str], other: dict[str, str], *, is_shared: bool
) -> None:
    names = [Settings(**values).credential, Settings(**other).credential]  # type: ignore[arg-type]

    assert is_shared == (names[0] == names[1])
    assert not any("abcdefgh" in name for name in names)

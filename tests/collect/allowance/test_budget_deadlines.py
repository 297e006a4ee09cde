"""A caller that waits for a permit gives up as soon as its deadline cannot be met."""

import asyncio
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collect.allowance.budgets import (
    MINUTE,
    START,
    Upstream,
    in_virtual_time,
    keep_asking,
)
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.endpoints import Kind


def test_a_deadline_is_never_waited_past() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        for _ in range(3):
            await budget.acquire(Kind.PASSAGES)
        before = clock.now()
        with pytest.raises(BudgetClosedError, match="no permit before 08:00:02"):
            await budget.acquire(Kind.PASSAGES, START + timedelta(seconds=2.5))
        assert before == clock.now()

    in_virtual_time(main)


def test_a_deadline_in_the_past_takes_no_permit() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.PASSAGES, clock.now())
        assert 0 == sum((await budget.snapshot()).granted.values())

    in_virtual_time(main)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 200), st.integers(1, 5), st.sampled_from([3, 60]))
def test_a_caller_gives_up_or_gets_a_permit_before_its_deadline(
    seconds: float, n_rivals: int, allowance: int
) -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        deadline = START + timedelta(seconds=seconds)
        rivals = [
            asyncio.create_task(keep_asking(budget, Kind.STATUS, Upstream(clock), START + 5 * MINUTE))
            for _ in range(n_rivals)
        ]
        while clock.now() < deadline:
            try:
                await budget.acquire(Kind.LEGACY, deadline)
            except BudgetClosedError:
                break
            assert clock.now() <= deadline
        assert clock.now() <= deadline
        await asyncio.gather(*rivals)

    in_virtual_time(main, allowance)

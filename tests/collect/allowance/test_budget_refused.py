"""After a refusal (429) everybody waits as told, goes on slowly and recovers."""

from collections import Counter
from datetime import timedelta

import pytest

from tests.collect.allowance.budgets import MINUTE, START, Upstream, in_virtual_time, keep_asking
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.endpoints import Kind


def test_a_429_stops_all_callers_until_retry_after_has_passed() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        permit = await budget.acquire(Kind.PASSAGES)
        await budget.report_rate_limited(permit, 20)
        assert START + timedelta(seconds=20) == (await budget.snapshot()).blocked_until
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.STATUS, START + timedelta(seconds=19))
        assert START == clock.now()
        await budget.acquire(Kind.STATUS)
        assert timedelta(seconds=20) <= clock.now() - START <= timedelta(seconds=23)
        assert (await budget.snapshot()).blocked_until is None

    in_virtual_time(main)


def test_a_429_without_retry_after_stops_all_callers_for_some_seconds() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        permit = await budget.acquire(Kind.PASSAGES)
        await budget.report_rate_limited(permit, None)
        await budget.acquire(Kind.PASSAGES)
        assert clock.now() - START >= timedelta(seconds=5)

    in_virtual_time(main)


def test_several_429s_at_once_halve_the_rate_once() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        permits = [await budget.acquire(Kind.PASSAGES) for _ in range(5)]
        for permit in permits:
            await budget.report_rate_limited(permit, 3)
        assert 30 == pytest.approx((await budget.snapshot()).current_rate)

    in_virtual_time(main)


def test_a_429_to_a_later_request_halves_the_rate_again_but_not_below_a_tenth() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        rates = []
        for _n in range(6):
            permit = await budget.acquire(Kind.PASSAGES)
            await budget.report_rate_limited(permit, 0)
            rates.append((await budget.snapshot()).current_rate)
        assert 30 == pytest.approx(rates[0])
        assert 15 == pytest.approx(rates[1], rel=0.05)
        assert 6 == pytest.approx(rates[-1], rel=0.05)

    in_virtual_time(main)


def test_after_a_429_the_rate_recovers_slowly_and_completely() -> None:
    clock = VirtualClock(START)
    upstream = Upstream(clock)

    async def main() -> None:
        budget = Budget(Limits(60), MemoryStore(), clock)
        await keep_asking(budget, Kind.PASSAGES, upstream, START + 2 * MINUTE)
        await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 10)
        await keep_asking(budget, Kind.PASSAGES, upstream, START + 10 * MINUTE)

    clock.run(main())
    per_minute = Counter(int(instant // 60) for instant in upstream.instants())

    assert per_minute[1] >= 58
    assert 20 <= per_minute[2] <= 35
    assert per_minute[2] < per_minute[3] < per_minute[4]
    assert all(per_minute[minute] >= 57 for minute in range(6, 10))

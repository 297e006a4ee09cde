"""Who of those that wait for a permit is next: kinds have floors, callers of a kind take turns."""

import asyncio
from collections import Counter
from datetime import timedelta
from itertools import pairwise

import pytest

from tests.collect.allowance.budgets import (
    MINUTE,
    START,
    Upstream,
    in_virtual_time,
    keep_asking,
    simulate,
)
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.allowance.priorities import FLOORS
from transit_etl.endpoints import Kind


def test_every_kind_gets_its_floor_when_all_wait() -> None:
    arrivals = simulate(list(Kind), minutes=10).arrivals
    settled = Counter(kind for instant, kind in arrivals if 120 <= instant < 540)

    for kind, floor in FLOORS.items():
        assert settled[kind] >= 0.95 * floor * 60 * 7


def test_a_refresh_that_starts_after_a_quiet_minute_leaves_passages_their_turns() -> None:
    clock, store = VirtualClock(START), MemoryStore()
    upstream = Upstream(clock)

    async def refresh() -> None:
        await clock.sleep(150)
        await keep_asking(Budget(Limits(60), store, clock), Kind.TIMETABLES, upstream, START + 5 * MINUTE)

    async def main() -> None:
        passages = Budget(Limits(60), store, clock)
        await asyncio.gather(refresh(), keep_asking(passages, Kind.PASSAGES, upstream, START + 5 * MINUTE))

    clock.run(main())
    passages = [instant for instant, kind in upstream.arrivals if kind is Kind.PASSAGES]

    assert max(after - before for before, after in pairwise(passages)) <= 5


def test_passages_take_what_the_others_leave() -> None:
    clock = VirtualClock(START)
    upstream, store = Upstream(clock), MemoryStore()

    async def status() -> None:
        budget = Budget(Limits(60), store, clock)
        for _ in range(10):
            await budget.acquire(Kind.STATUS)
            await upstream.serve(Kind.STATUS)
            await clock.sleep(59)

    async def main() -> None:
        passages = Budget(Limits(60), store, clock)
        await asyncio.gather(status(), keep_asking(passages, Kind.PASSAGES, upstream, START + 10 * MINUTE))

    clock.run(main())
    counts = Counter(kind for _, kind in upstream.arrivals)

    assert 10 == counts[Kind.STATUS]
    assert counts[Kind.PASSAGES] >= 0.95 * 600 - 10


def test_a_status_request_waits_for_one_slot_only() -> None:
    clock = VirtualClock(START)
    waits: list[float] = []

    async def main() -> None:
        store = MemoryStore()
        crowd = [
            asyncio.create_task(
                keep_asking(Budget(Limits(60), store, clock), kind, Upstream(clock), START + 5 * MINUTE)
            )
            for kind in (Kind.TIMETABLES, Kind.PASSAGES, Kind.NETWORK)
        ]
        budget = Budget(Limits(60), store, clock)
        for _ in range(4):
            await clock.sleep(50)
            asked_at = clock.now()
            await budget.acquire(Kind.STATUS)
            waits.append((clock.now() - asked_at).total_seconds())
        await asyncio.gather(*crowd)

    clock.run(main())

    assert max(waits) <= 1.1


def test_a_caller_that_gave_up_no_longer_waits() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        await budget.acquire(Kind.PASSAGES)
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.STATUS, START + timedelta(seconds=0.5))
        assert 0 == (await budget.snapshot()).waiting[Kind.STATUS]

    in_virtual_time(main)


def test_a_cancelled_caller_no_longer_waits() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        await budget.acquire(Kind.PASSAGES)
        waiter = asyncio.create_task(budget.acquire(Kind.STATUS))
        await clock.sleep(0.1)
        during = (await budget.snapshot()).waiting[Kind.STATUS]
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert (1, 0) == (during, (await budget.snapshot()).waiting[Kind.STATUS])

    in_virtual_time(main)


def test_a_caller_that_has_to_wait_longer_does_not_delay_the_others() -> None:
    clock, store = VirtualClock(START), MemoryStore()

    async def main() -> float:
        large, small = (Budget(Limits(allowance), store, clock) for allowance in (300, 10))
        for _ in range(10):
            await large.acquire(Kind.PASSAGES)
        waiter = asyncio.create_task(small.acquire(Kind.PASSAGES))
        await clock.sleep(1)
        began = clock.now()
        for _ in range(100):
            await large.acquire(Kind.PASSAGES)
        seconds = (clock.now() - began).total_seconds()
        waiter.cancel()
        return seconds

    assert clock.run(main()) <= 100 * 61 / 300


def test_of_callers_that_wait_for_the_same_the_one_that_waits_longest_is_next() -> None:
    got: list[int] = []

    async def caller(budget: Budget, clock: VirtualClock, number: int) -> None:
        await clock.sleep(0.1 + number / 100)
        await budget.acquire(Kind.PASSAGES)
        got.append(number)

    async def main(budget: Budget, clock: VirtualClock) -> None:
        await budget.acquire(Kind.PASSAGES)
        await asyncio.gather(*(caller(budget, clock, number) for number in reversed(range(10))))

    in_virtual_time(main)

    assert list(range(10)) == got


def test_a_caller_that_has_not_asked_for_a_while_no_longer_waits() -> None:
    state, limits = BudgetState(), Limits(60)
    for caller in ("granted", "dead"):
        state.ask(1000.0, caller, Kind.PASSAGES, limits)
    state.advance(1001.9, limits, 2.0)
    assert {"dead"} == set(state.demands)
    state.advance(1002.0, limits, 2.0)

    assert not state.demands


def test_a_permit_that_the_next_caller_does_not_take_goes_to_another() -> None:
    state, limits = BudgetState(), Limits(60)
    state.ask(1000.0, "first", Kind.PASSAGES, limits)
    state.ask(1000.1, "dead", Kind.PASSAGES, limits)
    state.ask(1000.2, "alive", Kind.PASSAGES, limits)

    grants = [state.ask(at, "alive", Kind.PASSAGES, limits).is_granted for at in (1001.1, 1002.1)]

    assert [False, True] == grants


def test_a_snapshot_counts_granted_and_waiting_by_kind() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        for _ in range(3):
            await budget.acquire(Kind.STATUS)
        waiters = [asyncio.create_task(budget.acquire(Kind.PASSAGES)) for _ in range(2)]
        await clock.sleep(0.5)
        snapshot = await budget.snapshot()
        await asyncio.gather(*waiters)
        assert (60, 60.0) == (snapshot.allowance, snapshot.current_rate)
        assert {Kind.STATUS: 3} == {kind: n for kind, n in snapshot.granted.items() if n}
        assert {Kind.PASSAGES: 2} == {kind: n for kind, n in snapshot.waiting.items() if n}

    in_virtual_time(main)

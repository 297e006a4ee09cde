"""The budget never lets a window of the server's hold more than the allowance, and wastes little of it."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from transit_etl.clock import VirtualClock
from transit_etl.collect.budget import Budget, BudgetClosedError, Permit, credential
from transit_etl.collect.budget_state import BudgetState, Limits
from transit_etl.collect.budget_store import MemoryStore
from transit_etl.collect.priorities import FLOORS, Kind
from transit_etl.settings import Settings

START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def fullest_window(instants: Sequence[float], window: float = 60.0) -> int:
    """Return the most of the instants that any window of this length holds, both ends included."""
    ordered, fullest, start = sorted(instants), 0, 0
    for end, instant in enumerate(ordered):
        while instant - ordered[start] > window:
            start += 1
        fullest = max(fullest, end - start + 1)
    return fullest


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


async def _keep_asking(budget: Budget, kind: Kind, upstream: Upstream, until: datetime) -> None:
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


def _simulate(
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
        await asyncio.gather(*(_keep_asking(budget, kind, upstream, until) for budget, kind in workers))

    clock.run(main())
    return upstream


def _in_virtual_time(main: Callable[[Budget, VirtualClock], Awaitable[None]], allowance: int = 60) -> None:
    clock = VirtualClock(START)

    async def run() -> None:
        await main(Budget(Limits(allowance), MemoryStore(), clock), clock)

    clock.run(run())


@pytest.mark.parametrize("allowance", [1, 7, 60, 300])
def test_the_allowance_is_used_to_more_than_95_percent_and_never_passed(allowance: int) -> None:
    arrivals = _simulate([Kind.PASSAGES], allowance=allowance, minutes=30).instants()

    assert fullest_window(arrivals) <= allowance
    assert len(arrivals) >= 0.95 * 30 * allowance


def test_permits_are_spaced_evenly_so_that_no_burst_goes_out() -> None:
    arrivals = _simulate([Kind.PASSAGES] * 3, minutes=5).instants()
    gaps = [after - before for before, after in pairwise(arrivals)]

    assert min(gaps) >= 0.9
    assert max(gaps) <= 1.2


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


def test_time_in_which_nobody_waited_is_not_caught_up() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        await clock.sleep(120)
        granted = []
        for _n in range(10):
            await budget.acquire(Kind.PASSAGES)
            granted.append((clock.now() - START).total_seconds())
        gaps = [after - before for before, after in pairwise(granted)]
        assert all(gap == pytest.approx(60.9 / 60, abs=0.005) for gap in gaps)

    _in_virtual_time(main)


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

    arrivals = _simulate(kinds, allowance=allowance, minutes=6, delays=delays).instants()

    assert fullest_window(arrivals) <= allowance


def test_slow_answers_cost_only_the_time_they_took() -> None:
    arrivals = _simulate([Kind.PASSAGES], minutes=30, delays=lambda: (1.0, 1.0)).instants()

    assert fullest_window(arrivals) <= 60
    assert len(arrivals) >= 0.95 * 30 * 60


def test_an_hour_of_work_that_comes_and_goes_never_passes_the_allowance() -> None:
    clock, chance = VirtualClock(START), random.Random(7)  # noqa: S311 - repeatable, not secret
    upstream, store = Upstream(clock), MemoryStore()

    async def worker(kind: Kind) -> None:
        budget = Budget(Limits(60), store, clock)
        while clock.now() < START + 60 * MINUTE:
            await clock.sleep(chance.expovariate(1 / 40))
            busy_until = clock.now() + timedelta(seconds=chance.uniform(1, 90))
            await _keep_asking(budget, kind, upstream, busy_until)

    async def main() -> None:
        await asyncio.gather(*(worker(kind) for kind in Kind))

    clock.run(main())

    assert fullest_window(upstream.instants()) <= 60
    assert len(upstream.arrivals) > 2000


def test_every_kind_gets_its_floor_when_all_wait() -> None:
    arrivals = _simulate(list(Kind), minutes=10).arrivals
    settled = Counter(kind for instant, kind in arrivals if 120 <= instant < 540)

    for kind, floor in FLOORS.items():
        assert settled[kind] >= 0.95 * floor * 60 * 7


def test_a_refresh_that_starts_after_a_quiet_minute_leaves_passages_their_turns() -> None:
    clock, store = VirtualClock(START), MemoryStore()
    upstream = Upstream(clock)

    async def refresh() -> None:
        await clock.sleep(150)
        await _keep_asking(Budget(Limits(60), store, clock), Kind.TIMETABLES, upstream, START + 5 * MINUTE)

    async def main() -> None:
        passages = Budget(Limits(60), store, clock)
        await asyncio.gather(refresh(), _keep_asking(passages, Kind.PASSAGES, upstream, START + 5 * MINUTE))

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
        await asyncio.gather(status(), _keep_asking(passages, Kind.PASSAGES, upstream, START + 10 * MINUTE))

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
                _keep_asking(Budget(Limits(60), store, clock), kind, Upstream(clock), START + 5 * MINUTE)
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


def test_a_deadline_is_never_waited_past() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        for _ in range(3):
            await budget.acquire(Kind.PASSAGES)
        before = clock.now()
        with pytest.raises(BudgetClosedError, match="no permit before 08:00:02"):
            await budget.acquire(Kind.PASSAGES, START + timedelta(seconds=2.5))
        assert before == clock.now()

    _in_virtual_time(main)


def test_a_deadline_already_past_asks_for_nothing() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.PASSAGES, clock.now())
        assert 0 == sum((await budget.usage()).granted.values())

    _in_virtual_time(main)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.01, 200), st.integers(1, 5), st.sampled_from([3, 60]))
def test_whoever_waits_gives_up_in_time_or_gets_a_permit_in_time(
    seconds: float, n_rivals: int, allowance: int
) -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        deadline = START + timedelta(seconds=seconds)
        rivals = [
            asyncio.create_task(_keep_asking(budget, Kind.STATUS, Upstream(clock), START + 5 * MINUTE))
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

    _in_virtual_time(main, allowance)


def test_a_caller_that_gave_up_no_longer_waits() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        await budget.acquire(Kind.PASSAGES)
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.STATUS, START + timedelta(seconds=0.5))
        assert 0 == (await budget.usage()).waiting[Kind.STATUS]

    _in_virtual_time(main)


def test_a_cancelled_caller_no_longer_waits() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        await budget.acquire(Kind.PASSAGES)
        waiter = asyncio.create_task(budget.acquire(Kind.STATUS))
        await clock.sleep(0.1)
        during = (await budget.usage()).waiting[Kind.STATUS]
        waiter.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiter
        assert (1, 0) == (during, (await budget.usage()).waiting[Kind.STATUS])

    _in_virtual_time(main)


def test_a_429_stops_everybody_until_it_has_passed() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        permit = await budget.acquire(Kind.PASSAGES)
        await budget.report_rate_limited(permit, 20)
        assert START + timedelta(seconds=20) == (await budget.usage()).blocked_until
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.STATUS, START + timedelta(seconds=19))
        assert START == clock.now()
        await budget.acquire(Kind.STATUS)
        assert timedelta(seconds=20) <= clock.now() - START <= timedelta(seconds=23)
        assert (await budget.usage()).blocked_until is None

    _in_virtual_time(main)


def test_a_429_that_does_not_say_how_long_stops_everybody_for_some_seconds() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        permit = await budget.acquire(Kind.PASSAGES)
        await budget.report_rate_limited(permit, None)
        await budget.acquire(Kind.PASSAGES)
        assert clock.now() - START >= timedelta(seconds=5)

    _in_virtual_time(main)


def test_a_storm_of_429s_halves_the_rate_once() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        permits = [await budget.acquire(Kind.PASSAGES) for _ in range(5)]
        for permit in permits:
            await budget.report_rate_limited(permit, 3)
        assert 30 == pytest.approx((await budget.usage()).current_rate)

    _in_virtual_time(main)


def test_a_429_to_a_later_request_halves_the_rate_again_but_not_below_a_tenth() -> None:
    async def main(budget: Budget, _: VirtualClock) -> None:
        rates = []
        for _n in range(6):
            permit = await budget.acquire(Kind.PASSAGES)
            await budget.report_rate_limited(permit, 0)
            rates.append((await budget.usage()).current_rate)
        assert 30 == pytest.approx(rates[0])
        assert 15 == pytest.approx(rates[1], rel=0.05)
        assert 6 == pytest.approx(rates[-1], rel=0.05)

    _in_virtual_time(main)


def test_after_a_429_the_rate_recovers_slowly_and_completely() -> None:
    clock = VirtualClock(START)
    upstream = Upstream(clock)

    async def main() -> None:
        budget = Budget(Limits(60), MemoryStore(), clock)
        await _keep_asking(budget, Kind.PASSAGES, upstream, START + 2 * MINUTE)
        await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 10)
        await _keep_asking(budget, Kind.PASSAGES, upstream, START + 10 * MINUTE)

    clock.run(main())
    per_minute = Counter(int(instant // 60) for instant in upstream.instants())

    assert per_minute[1] >= 58
    assert 20 <= per_minute[2] <= 35
    assert per_minute[2] < per_minute[3] < per_minute[4]
    assert all(per_minute[minute] >= 57 for minute in range(6, 10))


def test_a_clock_that_is_set_back_neither_blocks_for_long_nor_frees_a_window() -> None:
    store = MemoryStore()
    later, earlier = VirtualClock(START + 60 * MINUTE), VirtualClock(START)
    upstream = Upstream(earlier)

    async def fill() -> None:
        budget = Budget(Limits(60), store, later)
        for _ in range(60):
            await budget.acquire(Kind.PASSAGES)

    async def go_on() -> tuple[float, int]:
        budget = Budget(Limits(60), store, earlier)
        used = sum((await budget.usage()).granted.values())
        await budget.acquire(Kind.PASSAGES)
        first = (earlier.now() - START).total_seconds()
        await _keep_asking(budget, Kind.PASSAGES, upstream, START + 3 * MINUTE)
        return first, used

    later.run(fill())
    first, used = earlier.run(go_on())

    assert 60 == used
    assert first <= 2
    assert fullest_window(upstream.instants()) <= 60
    assert len(upstream.arrivals) >= 0.95 * 180 - 2


def test_a_block_set_by_a_clock_of_the_future_lasts_no_longer_than_it_was_meant_to() -> None:
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


def test_callers_with_differently_shifted_clocks_share_one_window() -> None:
    store = MemoryStore()
    real, shifted = VirtualClock(START), VirtualClock(START - timedelta(days=30))

    async def ask(budget: Budget) -> int:
        await budget.acquire(Kind.PASSAGES)
        return sum((await budget.usage()).granted.values())

    counts = [
        real.run(ask(Budget(Limits(60), store, real))),
        shifted.run(ask(Budget(Limits(60), store, shifted, clock_shift=-30 * 86_400))),
        real.run(ask(Budget(Limits(60), store, real))),
    ]

    assert [1, 2, 3] == counts


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


def test_a_caller_that_has_to_wait_longer_holds_nobody_up() -> None:
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

    _in_virtual_time(main)

    assert list(range(10)) == got


def test_what_the_next_caller_leaves_is_had_by_another() -> None:
    state, limits = BudgetState(), Limits(60)
    state.ask(1000.0, "first", Kind.PASSAGES, limits)
    state.ask(1000.1, "dead", Kind.PASSAGES, limits)
    state.ask(1000.2, "alive", Kind.PASSAGES, limits)

    grants = [state.ask(at, "alive", Kind.PASSAGES, limits).is_granted for at in (1001.1, 1002.1)]

    assert [False, True] == grants


def test_usage_tells_who_got_and_who_waits() -> None:
    async def main(budget: Budget, clock: VirtualClock) -> None:
        for _ in range(3):
            await budget.acquire(Kind.STATUS)
        waiters = [asyncio.create_task(budget.acquire(Kind.PASSAGES)) for _ in range(2)]
        await clock.sleep(0.5)
        usage = await budget.usage()
        await asyncio.gather(*waiters)
        assert (60, 60.0) == (usage.allowance, usage.current_rate)
        assert {Kind.STATUS: 3} == {kind: n for kind, n in usage.granted.items() if n}
        assert {Kind.PASSAGES: 2} == {kind: n for kind, n in usage.waiting.items() if n}

    _in_virtual_time(main)


def test_a_virtual_permit_costs_well_under_a_tenth_of_a_millisecond_to_decide() -> None:
    seconds: list[float] = []

    async def main(budget: Budget, _: VirtualClock) -> None:
        loop = asyncio.get_running_loop()
        for _n in range(2000):
            started = loop.time()
            await budget.usage()
            seconds.append(loop.time() - started)

    _in_virtual_time(main, 300)

    assert sorted(seconds)[len(seconds) // 2] < 1e-4


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
    names = [credential(Settings(**values)), credential(Settings(**other))]  # type: ignore[arg-type]

    assert is_shared == (names[0] == names[1])
    assert not any("abcdefgh" in name for name in names)

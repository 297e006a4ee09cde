"""A stop that a worker asks for is leased to it until some seconds after the answer."""

from zoneinfo import ZoneInfo

from tests.collect.allowance.budgets import START as BEGIN
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.allowance.state_text import dumps, loads
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import Rotation
from transit_etl.collect.sources import Passages
from transit_etl.endpoints import Kind


async def next_stop(store: MemoryStore, clock: VirtualClock) -> str | None:
    """Return what a new worker asks for first, of three stops in turn, and leave it unanswered."""
    source = Passages(Rotation(["0000", "0001", "0002"]), PassageParser(ZoneInfo("UTC")))
    budget = Budget(Limits(60), store, clock)
    permit = await budget.acquire(Kind.PASSAGES)
    stop = source.choose(clock.now()).key
    while stop in permit.leased_elsewhere:
        stop = source.choose(clock.now()).key
    return stop if await budget.lease(permit, stop) else None


def test_a_permit_names_what_others_have_leased() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def main() -> list[str | None]:
        return [await next_stop(store, clock) for _ in range(3)]

    assert ["0000", "0001", "0002"] == clock.run(main())


def test_a_key_leased_since_the_permit_was_granted_is_refused() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def main() -> list[bool]:
        one, other = Budget(Limits(60), store, clock), Budget(Limits(60), store, clock)
        early, late = await one.acquire(Kind.PASSAGES), await other.acquire(Kind.PASSAGES)
        return [await other.lease(late, "0001"), await one.lease(early, "0001")]

    assert [True, False] == clock.run(main())


def test_a_settled_permit_leaves_its_key_to_the_others_some_seconds_later() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def main() -> list[bool]:
        one, other = Budget(Limits(60), store, clock), Budget(Limits(60), store, clock)
        permit = await one.acquire(Kind.PASSAGES)
        await one.lease(permit, "0001")
        await one.settle(permit)
        await one.acquire(Kind.PASSAGES)
        leased = []
        for seconds in (0, 10):
            await clock.sleep(seconds)
            leased.append(await other.lease(await other.acquire(Kind.PASSAGES), "0001"))
        return leased

    assert [False, True] == clock.run(main())


def test_a_worker_may_lease_again_what_it_has_leased() -> None:
    state = state_with_a_lease()

    assert set() == state.leased_elsewhere("one")
    assert {"0001"} == state.leased_elsewhere("two")
    assert state.lease("one", "0001", 1080.0)
    assert not state.lease("two", "0001", 1080.0)


def state_with_a_lease() -> BudgetState:
    state = BudgetState()
    state.advance(1000.0, Limits(60), None)
    state.lease("one", "0001", 1075.0)
    return state


def test_a_lease_ends_some_seconds_after_the_answer() -> None:
    state = state_with_a_lease()
    state.release("one", ["0001"], 1015.0)
    state.advance(1014.0, Limits(60), None)
    assert {"0001"} == state.leased_elsewhere("two")
    state.advance(1015.0, Limits(60), None)

    assert set() == state.leased_elsewhere("two")


def test_a_lease_of_a_worker_that_died_ends_too() -> None:
    state = state_with_a_lease()
    state.advance(1076.0, Limits(60), None)

    assert set() == state.leased_elsewhere("two")


def test_a_worker_cannot_end_the_lease_of_another() -> None:
    state = state_with_a_lease()
    state.release("two", ["0001"], 1001.0)
    state.release_all("two")

    assert {"0001"} == state.leased_elsewhere("three")


def test_leases_move_with_a_clock_that_was_set_back() -> None:
    state = state_with_a_lease()
    state.advance(500.0, Limits(60), None)
    assert {"0001"} == state.leased_elsewhere("two")
    state.advance(576.0, Limits(60), None)

    assert set() == state.leased_elsewhere("two")


def test_leases_read_back_as_they_were_written() -> None:
    state = state_with_a_lease()

    assert state == loads(dumps(state))


def test_the_leases_of_a_worker_end_with_it() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def main() -> frozenset[str]:
        async with Budget(Limits(60), store, clock) as budget:
            await budget.lease(await budget.acquire(Kind.PASSAGES), "0001")
            held = await store.transact(lambda state, _: state.leased_elsewhere("other"), lambda: 0.0)
        assert {"0001"} == held
        return await store.transact(lambda state, _: state.leased_elsewhere("other"), lambda: 0.0)

    assert set() == clock.run(main())

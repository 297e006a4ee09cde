"""A stop that a worker has in hand is leased to it for as long as the answer takes, and little longer."""

from zoneinfo import ZoneInfo

from tests.collect.budgets import START as BEGIN
from transit_etl.clock import VirtualClock
from transit_etl.collect.allowance.budget import Budget
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.planner import Rotation
from transit_etl.collect.sources import Passages
from transit_etl.endpoints import Kind


def test_what_one_worker_claimed_the_next_passes_over() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def claim() -> str | None:
        source = Passages(Rotation(["0000", "0001", "0002"]), PassageParser(ZoneInfo("UTC")))
        permit = await Budget(Limits(60), store, clock).acquire(
            Kind.PASSAGES, None, lambda taken: source.claim(clock.now(), taken)
        )
        assert f"passaggi/{permit.claimed}" == source.choose(clock.now()).path
        return permit.claimed

    async def main() -> list[str | None]:
        return [await claim() for _ in range(3)]

    assert ["0000", "0001", "0002"] == clock.run(main())


def test_a_worker_may_ask_again_for_what_is_its_own() -> None:
    assert set() == state_with_a_lease().taken("one")
    assert {"0001"} == state_with_a_lease().taken("two")


def state_with_a_lease() -> BudgetState:
    state = BudgetState()
    state.advance(1000.0, Limits(60), None)
    state.lease("one", "0001", 1075.0)
    return state


def test_a_lease_ends_some_seconds_after_the_answer() -> None:
    state = state_with_a_lease()
    state.release("one", ["0001"], 1015.0)
    state.advance(1014.0, Limits(60), None)
    assert {"0001"} == state.taken("two")
    state.advance(1015.0, Limits(60), None)

    assert set() == state.taken("two")


def test_a_lease_of_a_worker_that_died_ends_too() -> None:
    state = state_with_a_lease()
    state.advance(1076.0, Limits(60), None)

    assert set() == state.taken("two")


def test_nobody_releases_what_is_another_s() -> None:
    state = state_with_a_lease()
    state.release("two", ["0001"], 1001.0)
    state.release_all("two")

    assert {"0001"} == state.taken("three")


def test_leases_move_with_a_clock_that_was_set_back() -> None:
    state = state_with_a_lease()
    state.advance(500.0, Limits(60), None)
    assert {"0001"} == state.taken("two")
    state.advance(576.0, Limits(60), None)

    assert set() == state.taken("two")


def test_leases_read_back_as_they_were_written() -> None:
    state = state_with_a_lease()

    assert state == BudgetState.loads(state.dumps())


def test_a_worker_that_ends_lets_go_of_everything() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def main() -> set[str]:
        async with Budget(Limits(60), store, clock) as budget:
            await budget.acquire(Kind.PASSAGES, None, lambda _: "0001")
            held = await store.transact(lambda state, _: state.taken("other"), lambda: 0.0)
        assert {"0001"} == held
        return await store.transact(lambda state, _: state.taken("other"), lambda: 0.0)

    assert set() == clock.run(main())

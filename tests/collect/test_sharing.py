"""Workers that share a plan leave alone what another has in hand, and learn from each other's answers."""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.collect.helpers import NOON, answer, rows, write_network
from tests.collect.test_budget import START as BEGIN
from tests.collect.test_budget_store import url
from tests.collect.upstream import START, Upstream, settings_at
from tests.hostile import json_reply, serving
from transit_etl.api.exchange import Request
from transit_etl.clock import VirtualClock
from transit_etl.collect import collect, datasets
from transit_etl.collect.budget import Budget
from transit_etl.collect.budget_state import BudgetState, Limits
from transit_etl.collect.budget_store import MemoryStore
from transit_etl.collect.following import Follower
from transit_etl.collect.landing import Landing
from transit_etl.collect.observing import Observer
from transit_etl.collect.planner import Observation, Rotation
from transit_etl.collect.priorities import Kind
from transit_etl.collect.sources import Passages

__all__ = ["url"]

STOPS = [f"{n:04}" for n in range(23)]  # no multiple of the workers: who had one last time has another now
QUICK = Limits(20, window=2.0, margin=0.06, catch_up=0.2, lease=5.0, learning=0.4)
ANSWER_SECONDS = 0.3

WORKER = f"""
import asyncio, sys, time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo
from transit_etl.clock import SystemClock
from transit_etl.collect.budget import Budget, BudgetClosedError
from transit_etl.collect.budget_state import Limits
from transit_etl.collect.budget_store import SqlStore
from transit_etl.collect.observing import Observer
from transit_etl.collect.planner import Rotation
from transit_etl.collect.priorities import Kind
from transit_etl.collect.sources import Passages

async def main(url: str) -> None:
    source = Passages(Rotation({STOPS!r}), Observer(ZoneInfo("UTC")))
    claim = lambda taken: source.claim(datetime.now(UTC), taken)
    async with Budget({QUICK!r}, SqlStore(url, "shared"), SystemClock()) as budget:
        await budget.usage()
        print("ready", flush=True)
        until = datetime.fromtimestamp(float(sys.stdin.readline()), UTC)
        running = set()
        async def ask(permit):
            sent = time.time()
            await asyncio.sleep({ANSWER_SECONDS})
            print(permit.claimed, sent, time.time())
            await budget.settle(permit)
        while True:
            try:
                permit = await budget.acquire(Kind.PASSAGES, until, claim)
            except BudgetClosedError:
                break
            running.add(asyncio.create_task(ask(permit)))
        await asyncio.gather(*running)

asyncio.run(main(sys.argv[1]))
"""


class Poll(NamedTuple):
    """A poll of a stop by a worker, from being sent to being answered."""

    stop: str
    sent: float
    answered: float
    worker: int


def poll_together(url: str, n_workers: int, seconds: float) -> list[Poll]:
    command = [sys.executable, "-c", WORKER, url]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(n_workers)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert "ready\n" == worker.stdout.readline()
    until = time.time() + seconds
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(f"{until}\n")
        worker.stdin.flush()
    outputs = [worker.communicate(timeout=60)[0].splitlines() for worker in workers]
    assert [0] * n_workers == [worker.returncode for worker in workers]
    return [poll(line, number) for number, lines in enumerate(outputs) for line in lines]


def poll(line: str, worker: int) -> Poll:
    stop, sent, answered = line.split()
    return Poll(stop, float(sent), float(answered), worker)


def by_stop(polls: Sequence[Poll]) -> dict[str, list[Poll]]:
    return {
        stop: sorted((each for each in polls if each.stop == stop), key=lambda each: each.sent)
        for stop in {each.stop for each in polls}
    }


@pytest.mark.parametrize("n_workers", [2, 4])
def test_processes_never_have_the_same_stop_in_hand(url: str, n_workers: int) -> None:
    polls = poll_together(url, n_workers, seconds=6)
    pairs = [pair for own in by_stop(polls).values() for pair in pairwise(own)]
    others = [(before, after) for before, after in pairs if before.worker != after.worker]

    assert len(polls) >= 40
    assert n_workers == len({each.worker for each in polls})
    assert others  # they did take turns at the same stops
    assert all(after.sent > before.answered for before, after in others)


def test_what_one_worker_claimed_the_next_passes_over() -> None:
    clock, store = VirtualClock(BEGIN), MemoryStore()

    async def claim() -> str | None:
        source = Passages(Rotation(STOPS), Observer(ZoneInfo("UTC")))
        permit = await Budget(Limits(60), store, clock).acquire(
            Kind.PASSAGES, None, lambda taken: source.claim(clock.now(), taken)
        )
        assert f"passaggi/{permit.claimed}" == source.choose(clock.now()).path
        return permit.claimed

    async def main() -> list[str | None]:
        return [await claim() for _ in range(3)]

    assert STOPS[:3] == clock.run(main())


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


def test_when_others_have_every_stop_the_permit_is_used_all_the_same() -> None:
    source = Passages(Rotation(STOPS[:2]), Observer(ZoneInfo("UTC")))

    assert source.claim(NOON, {"0000", "0001"}) in {"0000", "0001"}


def land(landing: Landing, number: int, at: timedelta = timedelta()) -> None:
    request = Request("passages", f"{number:04}", f"passaggi/{number:04}")
    landing.land(landing.plan(request, NOON + at), answer(NOON + at, request=request))


def landing_of(worker: str, folder: Path) -> Landing:
    return Landing(folder, "emulated", VirtualClock(NOON), worker)


def keys(follower: Follower) -> list[str]:
    return [each.request.key for each in follower.new_answers()]


def test_a_follower_reads_what_others_land_while_they_land_it(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as landing,
        Follower(tmp_path, "emulated", "w2", VirtualClock(NOON)) as follower,
    ):
        land(landing, 1)
        assert ["0001"] == keys(follower)
        assert [] == keys(follower)
        land(landing, 2)
        land(landing, 3)
        assert ["0002", "0003"] == keys(follower)
        land(landing, 4)
        landing.close()

        assert ["0004"] == keys(follower)
        assert [] == keys(follower)


def test_a_follower_begins_an_open_window_at_its_beginning_and_leaves_finished_ones(tmp_path: Path) -> None:
    with landing_of("w1", tmp_path) as finished:
        land(finished, 1)
    with landing_of("w2", tmp_path) as still_open:
        land(still_open, 2)
        with Follower(tmp_path, "emulated", "w3", VirtualClock(NOON)) as follower:
            assert ["0002"] == keys(follower)


def test_a_follower_does_not_read_its_own_windows(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as landing,
        Follower(tmp_path, "emulated", "w1", VirtualClock(NOON)) as follower,
    ):
        land(landing, 1)

        assert [] == keys(follower)


def test_a_window_that_came_and_went_between_two_looks_is_read_too(tmp_path: Path) -> None:
    with Follower(tmp_path, "emulated", "w2", VirtualClock(NOON)) as follower:
        assert [] == keys(follower)
        with landing_of("w1", tmp_path) as landing:
            land(landing, 1)

        assert ["0001"] == keys(follower)


def test_answers_of_several_come_in_order(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as one,
        landing_of("w2", tmp_path) as two,
        Follower(tmp_path, "emulated", "w3", VirtualClock(NOON)) as follower,
    ):
        land(one, 2, timedelta(seconds=2))
        land(two, 1, timedelta(seconds=1))
        land(two, 3, timedelta(seconds=3))

        assert ["0001", "0002", "0003"] == keys(follower)


def test_a_damaged_window_is_followed_no_further_and_the_others_are(tmp_path: Path) -> None:
    with (
        landing_of("w1", tmp_path) as one,
        landing_of("w2", tmp_path) as two,
        Follower(tmp_path, "emulated", "w3", VirtualClock(NOON)) as follower,
    ):
        land(one, 1)
        assert ["0001"] == keys(follower)
        (part,) = tmp_path.rglob("*-w1.jsonl.zst.part")
        with part.open("ab") as file:
            file.write(b"no block of zstd at all" * 9)
        land(two, 2)

        assert ["0002"] == keys(follower)


class Spy(Rotation):
    """Rotates, and notes what it is shown and when it was first asked."""

    def __init__(self) -> None:
        super().__init__(["0001", "0002"])
        self.seen: list[str] = []
        self.n_seen_before_choosing: int | None = None

    def observe(self, observation: Observation) -> None:
        self.seen.append(observation.stop_code)

    def choose(self, now: float) -> str:
        if self.n_seen_before_choosing is None:
            self.n_seen_before_choosing = len(self.seen)
        return super().choose(now)


def test_a_window_that_waits_for_its_turn_learns_and_asks_nothing_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(tmp_path, {"015-00": ["0001", "0002"]})
    spy = Spy()
    monkeypatch.setattr(datasets, "policy_of", lambda *_: spy)
    begin_at = START + timedelta(seconds=50)
    with Landing(tmp_path, "emulated", VirtualClock(START), "before") as before:
        request = Request("passages", "0002", "passaggi/0002")
        before.land(before.plan(request, START), answer(START, request=request))
        report = collect(
            settings_at(tmp_path),
            "passages",
            seconds=30,
            begin_at=begin_at,
            clock=VirtualClock(START),
            transport=httpx.MockTransport(Upstream()),
        )
    sent = sorted(row["sent_at"] for row in rows(tmp_path) if row["window"] != before.finished[0].name[:-10])

    assert 1 == spy.n_seen_before_choosing
    assert "0002" == spy.seen[0]
    assert f"{begin_at:%H:%M:%S}" == sent[0][11:19]
    assert f"{begin_at + timedelta(seconds=29):%H:%M:%S}" <= sent[-1][11:19]
    assert 28 <= report.seconds < 33


PROGRAM = """
from transit_etl.collect import collect
from transit_etl.settings import load_settings
print(collect(load_settings(), "passages", seconds=8).planned)
"""


def test_two_collectors_of_one_folder_share_the_stops(tmp_path: Path) -> None:
    stops = [f"{n:04}" for n in range(60)]
    write_network(tmp_path, {"015-00": stops})
    with serving(lambda path: json_reply({"codice_fermata": path[-4:], "passaggi": []})) as base_url:
        environment = {
            **os.environ,
            "TRANSIT_BASE_URL": base_url,
            "TRANSIT_DATA_DIR": str(tmp_path),
            "TRANSIT_RATE_PER_MINUTE": "300",
            "TRANSIT_POLICY": "rotation",
        }
        command = [sys.executable, "-c", PROGRAM]
        collectors = [
            subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)
        ]
        planned = [int(each.communicate(timeout=60)[0]) for each in collectors]
    asked = Counter(row["key"] for row in rows(tmp_path))

    assert sum(planned) == asked.total()
    assert min(planned) >= 5
    assert asked.total() <= len(stops)
    # On a busy machine a lease may end before the other has read the answer; each on its own would ask alike.
    assert asked.total() - len(asked) <= asked.total() // 10

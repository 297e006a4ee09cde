"""Workers of one data folder never ask the same stop at once, and learn from each other's answers."""

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

import httpx2
import pytest

from tests.collect.helpers import answer, rows, write_network
from tests.collect.upstream import START, Upstream, settings_at
from tests.hostile import json_reply, serving
from transit_etl.api.exchange import Request
from transit_etl.clock import VirtualClock
from transit_etl.collect import collect, datasets
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.planning.policy import Observation, Rotation
from transit_etl.collect.raw.landing import Landing

STOPS = [f"{n:04}" for n in range(23)]  # no multiple of the workers: who had one last time has another now
QUICK = Limits(20, window=2.0, margin=0.06, catch_up=0.2, lease=5.0, learning=0.4)
ANSWER_SECONDS = 0.3

WORKER = f"""
import asyncio, sys, time
from datetime import UTC, datetime
from zoneinfo import ZoneInfo
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.allowance.budget_store import SqlStore
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policy import Rotation
from transit_etl.endpoints import Kind
from transit_etl.collect.sources import Passages

async def main(url: str) -> None:
    source = Passages(Rotation({STOPS!r}), PassageParser(ZoneInfo("UTC")))
    async with Budget({QUICK!r}, SqlStore(url, "shared"), SystemClock()) as budget:
        await budget.snapshot()
        print("ready", flush=True)
        until = datetime.fromtimestamp(float(sys.stdin.readline()), UTC)
        running = set()
        async def ask(permit, stop):
            sent = time.time()
            await asyncio.sleep({ANSWER_SECONDS})
            print(stop, sent, time.time())
            await budget.settle(permit)
        async def choose(permit):
            while True:
                stop = source.choose(datetime.now(UTC)).key
                if stop not in permit.leased_elsewhere and await budget.lease(permit, stop):
                    return stop
        while True:
            try:
                permit = await budget.acquire(Kind.PASSAGES, until)
            except BudgetClosedError:
                break
            running.add(asyncio.create_task(ask(permit, await choose(permit))))
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


@pytest.mark.parametrize("n_workers", [2, pytest.param(4, marks=pytest.mark.long)])
def test_processes_never_ask_the_same_stop_at_once(store_url: str, n_workers: int) -> None:
    polls = poll_together(store_url, n_workers, seconds=6)
    pairs = [pair for own in by_stop(polls).values() for pair in pairwise(own)]
    others = [(before, after) for before, after in pairs if before.worker != after.worker]

    assert len(polls) >= 40  # 60 on an idle machine
    assert n_workers == len({each.worker for each in polls})
    assert others  # they did take turns at the same stops
    assert all(after.sent > before.answered for before, after in others)


def asked_while_leased(folder: Path, leased: set[str]) -> Counter[str]:
    """Collect from three stops for 30 s while another worker holds some, and count what was asked."""
    write_network(folder, {"015-00": ["0001", "0002", "0003"]})
    state, upstream = BudgetState(), Upstream()
    for stop in leased:
        state.lease("other", stop, START.timestamp() + 60)
    collect(
        settings_at(folder, policy="rotation"),
        "passages",
        seconds=30,
        clock=VirtualClock(START),
        store=MemoryStore(state),
        transport=httpx2.MockTransport(upstream),
    )
    return Counter(path[-4:] for path in upstream.asked)


def test_a_stop_that_another_worker_has_leased_is_passed_over(tmp_path: Path) -> None:
    assert {"0001", "0003"} == set(asked_while_leased(tmp_path, {"0002"}))


def test_when_others_have_leased_every_stop_the_permits_are_used_all_the_same(tmp_path: Path) -> None:
    assert asked_while_leased(tmp_path, {"0001", "0002", "0003"}).total() >= 29


class Spy(Rotation):
    """Rotates, and notes what it is shown and when it was first asked."""

    def __init__(self) -> None:
        super().__init__(["0001", "0002"])
        self.seen: list[str] = []
        self.n_seen_before_choosing: int | None = None

    def observe(self, observation: Observation) -> None:
        """Note it."""
        self.seen.append(observation.stop_code)

    def choose(self, now: float) -> str:
        """Note how much was seen before the first choice, and rotate."""
        if self.n_seen_before_choosing is None:
            self.n_seen_before_choosing = len(self.seen)
        return super().choose(now)


def test_a_window_that_begins_later_learns_before_and_asks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_network(tmp_path, {"015-00": ["0001", "0002"]})
    spy = Spy()
    monkeypatch.setattr(datasets, "policy_of", lambda *_, **__: spy)
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
            store=MemoryStore(),
            transport=httpx2.MockTransport(Upstream()),
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

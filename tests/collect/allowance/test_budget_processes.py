"""Processes that share a store never exceed the allowance together."""

import subprocess
import sys
import time
from itertools import chain
from typing import IO

from tests.collect.allowance.budgets import FAST, fullest_window
from transit_etl.endpoints import Kind

WORKER = f"""
import asyncio, sys, time
from datetime import UTC, datetime, timedelta
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import SqlStore
from transit_etl.endpoints import Kind

async def main(url: str, kind: Kind) -> None:
    async with Budget({FAST!r}, SqlStore(url, "shared"), SystemClock()) as budget:
        await budget.snapshot()
        print("ready", flush=True)
        until = datetime.fromtimestamp(float(sys.stdin.readline()), UTC)
        while True:
            try:
                permit = await budget.acquire(kind, until)
            except BudgetClosedError:
                return
            print(time.time())
            await budget.settle(permit)

asyncio.run(main(sys.argv[1], Kind(sys.argv[2])))
"""


def _worker(url: str, kind: Kind) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WORKER, url, kind]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _input(worker: "subprocess.Popen[str]") -> IO[str]:
    assert worker.stdin is not None
    return worker.stdin


def _output(worker: "subprocess.Popen[str]") -> IO[str]:
    assert worker.stdout is not None
    return worker.stdout


def test_four_processes_together_use_the_allowance_and_never_exceed_it(store_url: str) -> None:
    kinds = [Kind.PASSAGES, Kind.PASSAGES, Kind.TIMETABLES, Kind.TIMETABLES]
    workers = [_worker(store_url, kind) for kind in kinds]
    assert ["ready\n"] * 4 == [_output(worker).readline() for worker in workers]
    until = time.time() + 10
    for worker in workers:
        _input(worker).write(f"{until}\n")
        _input(worker).flush()
    outputs = [worker.communicate(timeout=60)[0] for worker in workers]
    instants = [[float(line) for line in output.split()] for output in outputs]
    together = sorted(chain.from_iterable(instants))

    assert [0] * 4 == [worker.returncode for worker in workers]
    assert fullest_window(together, FAST.window) <= FAST.allowance
    # How much of it is used is measured in virtual time; here a busy machine may wake everybody late.
    assert len(together) - 1 >= 0.5 * FAST.allowance * (together[-1] - together[0]) / FAST.window
    for alike in (instants[:2], instants[2:]):
        assert min(map(len, alike)) >= 0.25 * sum(map(len, alike))

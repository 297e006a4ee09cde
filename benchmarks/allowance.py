"""Measure how much of the allowance several processes use together, in the emulator's own request log.

    python benchmarks/allowance.py [--seconds 180] [--processes 4] [--with-token] [--limiter-url URL]

Starts an emulator, lets the processes poll it with the real client and one shared request budget, and reads
from the emulator's log: the largest number of requests in any 60 seconds, the share of the allowance that was
used, and refusals. Fails if a window was over the allowance, or if less than 95 % was used.
"""

import argparse
import asyncio
import json
import multiprocessing
import sys
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import cycle
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import httpx2

from transit_emulator.process import emulator_process
from transit_etl.api import v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import Budget, BudgetClosedError, Permit, open_budget
from transit_etl.endpoints import Kind
from transit_etl.settings import Settings

TOKEN = "demo-token"  # noqa: S105 - the emulator's own
WINDOW_SECONDS = 60.0
LEAST_SHARE = 0.95
STARTUP_SECONDS = 60


class Measured(NamedTuple):
    """What the emulator saw."""

    n_requests: int
    n_refused: int
    seconds: float
    fullest_window: int


def main() -> int:
    """Run the measurement and print it; 1 if the allowance was exceeded or used too little."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="allowance-") as folder:
        log = Path(folder) / "requests.jsonl"
        with emulator_process("--log", str(log), "--token", TOKEN) as server:
            settings = Settings(
                base_url=server.base_url,
                data_dir=Path(folder) / "data",
                token=TOKEN if arguments.with_token else None,
                limiter_url=arguments.limiter_url or f"sqlite:///{folder}/budget.sqlite",
            )
            _poll_together(settings, arguments.processes, arguments.seconds)
        measured = _read(log)
    return _judge(measured, settings.rate_per_minute, arguments.processes)


def fullest_window(instants: Sequence[float], window: float = WINDOW_SECONDS) -> int:
    """Return the largest number of the instants within any window of so many seconds, both ends included."""
    ordered, fullest, start = sorted(instants), 0, 0
    for end, instant in enumerate(ordered):
        while instant - ordered[start] > window:
            start += 1
        fullest = max(fullest, end - start + 1)
    return fullest


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=180)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--with-token", action="store_true", help="300 a minute instead of 60")
    parser.add_argument("--limiter-url", help="share the budget in this store instead of a SQLite file")
    return parser.parse_args()


def _poll_together(settings: Settings, n_processes: int, seconds: float) -> None:
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Barrier(n_processes, timeout=STARTUP_SECONDS)
    workers = [
        spawn.Process(target=_worker, args=(settings, number, seconds, start))
        for number in range(n_processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("a polling process failed")


def _worker(settings: Settings, number: int, seconds: float, start: Barrier) -> None:
    start.wait()
    until = datetime.now(UTC) + timedelta(seconds=seconds)
    asyncio.run(_poll(settings, Kind.PASSAGES if number else Kind.TIMETABLES, until))


async def _poll(settings: Settings, kind: Kind, until: datetime) -> None:
    clock = SystemClock()
    async with Client(settings, clock) as client, open_budget(settings, clock) as budget:
        requests = cycle(await _requests(client, budget, kind, until))
        running: set[asyncio.Task[Answer]] = set()
        while True:
            try:
                permit = await budget.acquire(kind, until)
            except BudgetClosedError:
                break
            request = next(requests)
            await budget.lease(permit, request.key)  # as a collector does before each poll
            task = asyncio.create_task(_send(client, budget, permit, request))
            running.add(task)
            task.add_done_callback(running.discard)
        await asyncio.gather(*running)


async def _requests(client: Client, budget: Budget, kind: Kind, until: datetime) -> list[Request]:
    lines = await _send(client, budget, await budget.acquire(Kind.NETWORK, until), v1.all_of("lines"))
    code = json.loads(lines.body or b"[]")[0]["codice"]
    if kind is Kind.TIMETABLES:
        return [v1.timetable(code, until.date())]
    stops = await _send(client, budget, await budget.acquire(Kind.NETWORK, until), v1.of_line("stops", code))
    return [v1.passages(stop["codice_fermata"]) for stop in json.loads(stops.body or b"{}")["andata"]]


async def _send(client: Client, budget: Budget, permit: Permit, request: Request) -> Answer:
    answer = await client.send(request)
    await budget.settle(permit)
    if answer.outcome is Outcome.RATE_LIMITED:
        await budget.report_rate_limited(permit, answer.retry_after_seconds)
    return answer


def _read(log: Path) -> Measured:
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    asked = [row for row in rows if row["path"].startswith("/api/")]
    instants = sorted(datetime.fromisoformat(row["at"]).timestamp() for row in asked)
    n_refused = sum(row["status"] == httpx2.codes.TOO_MANY_REQUESTS for row in asked)
    return Measured(len(asked), n_refused, instants[-1] - instants[0], fullest_window(instants))


def _judge(measured: Measured, allowance: int, n_processes: int) -> int:
    share = (measured.n_requests - 1) / (allowance * measured.seconds / WINDOW_SECONDS)
    print(f"{n_processes} processes, {measured.n_requests} requests in {measured.seconds:.1f} s")
    print(f"fullest 60 seconds: {measured.fullest_window} of {allowance} allowed")
    print(f"share of the allowance used: {share:.1%}")
    print(f"refused with 429: {measured.n_refused}")
    is_over = measured.fullest_window > allowance or measured.n_refused > 0
    is_wasted = share < LEAST_SHARE
    print("FAILED" if is_over or is_wasted else "passed")
    return int(is_over or is_wasted)


if __name__ == "__main__":
    sys.exit(main())

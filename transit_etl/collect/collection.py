"""Runs the collection of a dataset from settings to report: recovers, collects, finalises."""

import asyncio
import logging
import signal
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import httpx

from transit_etl.api.client import Client
from transit_etl.clock import Clock, SystemClock, VirtualClock
from transit_etl.collect.allowance.budget import Budget, open_budget
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.collector import Collector, Tools
from transit_etl.collect.datasets import source_of
from transit_etl.collect.peer_windows import PeerWindows
from transit_etl.collect.raw.landing import Landing, worker_name
from transit_etl.collect.raw.rawfile import check_writable
from transit_etl.collect.raw.recovery import recover
from transit_etl.collect.report import CollectReport, ProgressCallback, Tally
from transit_etl.collect.sources import Passages, Source
from transit_etl.endpoints import is_polled
from transit_etl.settings import Settings

T = TypeVar("T")
FOLLOW_SECONDS = 2.0
_log = logging.getLogger(__name__)


def collect(
    settings: Settings,
    dataset: str,
    *,
    seconds: float | None = None,
    begin_at: datetime | None = None,
    clock: Clock | None = None,
    on_progress: ProgressCallback | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> CollectReport:
    """Collect a dataset into raw files and return what was done, also when nothing was answered.

    Passages and status are polled for `seconds`, or one window; lists until they are done, or for
    `seconds`. Windows that a killed collector left are finished first. With `begin_at`, everything is made
    ready, and the answers of other workers are learned from, but nothing is asked before that instant of
    the clock. `transport` replaces the network.

    Raises NothingKnownError when the lake does not hold yet what is needed to ask, DataFolderError when
    the data folder cannot be written, UnknownDatasetError, and MissingTokenError for version 0.
    """
    clock = clock or SystemClock(settings.clock_shift_seconds)
    check_writable(settings.data_dir)
    recovered = recover(settings.data_dir)
    if seconds is None and is_polled(dataset):
        seconds = settings.window_seconds
    job = _Job(settings, dataset, clock, seconds, begin_at, on_progress, transport)
    return _run(clock, _collect(job, recovered))


@dataclass(frozen=True, slots=True)
class _Job:
    """What is to be collected, for how long and from when on."""

    settings: Settings
    dataset: str
    clock: Clock
    seconds: float | None
    begin_at: datetime | None
    on_progress: ProgressCallback | None
    transport: httpx.AsyncBaseTransport | None


def _run(clock: Clock, main: Coroutine[Any, Any, T]) -> T:
    return clock.run(main) if isinstance(clock, VirtualClock) else asyncio.run(main)


async def _collect(job: _Job, recovered: list[Path]) -> CollectReport:
    settings, clock = job.settings, job.clock
    worker = worker_name()
    begin_at = max(job.begin_at or clock.now(), clock.now())
    landing = Landing(settings.data_dir, settings.operator, clock, worker)
    tally = Tally(job.dataset, job.seconds)
    with _stopping() as stop, PeerWindows(settings.data_dir, settings.operator, worker, clock) as peers:
        source = source_of(job.dataset, settings, begin_at)
        async with Client(settings, clock, job.transport) as client, _budget(settings, clock) as budget:
            with landing:
                tools = Tools(client, budget, landing, clock)
                deadline = _deadline(begin_at, job.seconds)
                collector = Collector(tools, source, tally, deadline, job.on_progress)
                stop.then(collector.stop)
                async with _learning(source, peers, clock):
                    await collector.run(begin_at)
    return tally.report(
        max(clock.now() - begin_at, timedelta()),
        settings.rate_per_minute,
        landing.finished,
        recovered,
        is_stopped=collector.is_stopped,
    )


@asynccontextmanager
async def _learning(source: Source, peers: PeerWindows, clock: Clock) -> AsyncIterator[None]:
    """Let a source of passages learn from the answers of other workers meanwhile."""
    if not isinstance(source, Passages):
        yield
        return

    async def follow() -> None:
        while True:
            for answer in peers.new_answers():
                source.observe(answer)
            await clock.sleep(FOLLOW_SECONDS)

    following = asyncio.create_task(follow())
    try:
        yield
    finally:
        following.cancel()
        await asyncio.wait([following])
        if not following.cancelled() and (error := following.exception()):
            _log.error("learning from other workers failed; went on without it", exc_info=error)


class _Stop:
    """A wish to stop that a signal made, perhaps before there was anything to stop."""

    def __init__(self) -> None:
        self._is_wished = False
        self._stop: Callable[[], None] | None = None

    def wish(self) -> None:
        self._is_wished = True
        if self._stop is not None:
            self._stop()

    def then(self, stop: Callable[[], None]) -> None:
        self._stop = stop
        if self._is_wished:
            stop()


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """Turn SIGTERM and SIGINT into a wish to stop meanwhile.

    Installed once a run, not by each collector: handlers belong to the process, which may run several.
    Outside the main thread signals are somebody else's.
    """
    loop, stop = asyncio.get_running_loop(), _Stop()

    def handle(_number: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(stop.wish)

    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _budget(settings: Settings, clock: Clock) -> Budget:
    """Open the budget all processes share; virtual time is shared with nobody, so its budget is its own."""
    if isinstance(clock, VirtualClock):
        return Budget(Limits(settings.rate_per_minute), MemoryStore(), clock)
    return open_budget(settings, clock)


def _deadline(start: datetime, seconds: float | None) -> datetime | None:
    return None if seconds is None else start + timedelta(seconds=seconds)

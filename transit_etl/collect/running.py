"""Runs the collection of a dataset from settings to report: recovers, collects, finalises."""

import asyncio
from collections.abc import Coroutine
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import httpx

from transit_etl.api.client import Client
from transit_etl.clock import Clock, SystemClock, VirtualClock
from transit_etl.collect.budget import Budget, open_budget
from transit_etl.collect.budget_state import Limits
from transit_etl.collect.budget_store import MemoryStore
from transit_etl.collect.collector import Collector, Tools
from transit_etl.collect.datasets import MOMENTARY, source_of
from transit_etl.collect.landing import Landing, worker_name
from transit_etl.collect.rawfile import check_writable
from transit_etl.collect.recovery import recover
from transit_etl.collect.report import CollectReport, ProgressCallback, Tally
from transit_etl.settings import Settings

T = TypeVar("T")


def collect(
    settings: Settings,
    dataset: str,
    *,
    seconds: float | None = None,
    clock: Clock | None = None,
    on_progress: ProgressCallback | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> CollectReport:
    """Collect a dataset into raw files and return what was done, also when nothing was answered.

    Passages and status are polled for `seconds`, or one window; lists until they are done, or for
    `seconds`. Windows that a killed collector left are finished first. `transport` replaces the network.

    Raises NothingKnownError when the lake does not hold yet what is needed to ask, DataFolderError when
    the data folder cannot be written, UnknownDatasetError, and MissingTokenError for version 0.
    """
    clock = clock or SystemClock(settings.clock_shift_seconds)
    check_writable(settings.data_dir)
    recovered = recover(settings.data_dir)
    collecting = _collect(
        settings,
        dataset,
        clock,
        seconds=seconds,
        on_progress=on_progress,
        transport=transport,
        recovered=recovered,
    )
    return _run(clock, collecting)


def _run(clock: Clock, main: Coroutine[Any, Any, T]) -> T:
    return clock.run(main) if isinstance(clock, VirtualClock) else asyncio.run(main)


async def _collect(
    settings: Settings,
    dataset: str,
    clock: Clock,
    *,
    seconds: float | None,
    on_progress: ProgressCallback | None,
    transport: httpx.AsyncBaseTransport | None,
    recovered: list[Path],
) -> CollectReport:
    started_at = clock.now()
    if seconds is None and dataset in MOMENTARY:
        seconds = settings.window_seconds
    source = source_of(dataset, settings, started_at)
    tally = Tally(dataset, seconds)
    landing = Landing(settings.data_dir, settings.operator, clock, worker_name())
    async with Client(settings, clock, transport) as client, _budget(settings, clock) as budget:
        with landing:
            tools = Tools(client, budget, landing, clock)
            collector = Collector(tools, source, tally, _deadline(started_at, seconds), on_progress)
            await collector.run()
    return tally.report(
        clock.now() - started_at,
        settings.rate_per_minute,
        landing.finished,
        recovered,
        is_stopped=collector.is_stopped,
    )


def _budget(settings: Settings, clock: Clock) -> Budget:
    """Open the budget all processes share; virtual time is shared with nobody, so its budget is its own."""
    if isinstance(clock, VirtualClock):
        return Budget(Limits(settings.rate_per_minute), MemoryStore(), clock)
    return open_budget(settings, clock)


def _deadline(start: datetime, seconds: float | None) -> datetime | None:
    return None if seconds is None else start + timedelta(seconds=seconds)

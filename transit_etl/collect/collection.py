"""Composes a collection, in real or virtual time, and runs that of a dataset from settings to report."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import httpx2

from transit_etl.api.client import Client
from transit_etl.clock import Clock, SteadyInstant
from transit_etl.collect.allowance.budget_store import BudgetStore
from transit_etl.collect.collector import Collector
from transit_etl.collect.datasets import source_of
from transit_etl.collect.known_network import READ_DAYS
from transit_etl.collect.peer_windows import PeerWindows, learning_from
from transit_etl.collect.raw.landing import worker_name
from transit_etl.collect.raw.rawfile import check_writable
from transit_etl.collect.raw.recovery import recover
from transit_etl.collect.raw.windows import earliest_recent
from transit_etl.collect.session import Session, landing_of, session_of
from transit_etl.collect.signals import StopRequest, stop_on_signal
from transit_etl.collect.sources import Source
from transit_etl.collect.tally import CollectReport, ProgressCallback, Tally
from transit_etl.endpoints import is_polled
from transit_etl.identity import claim
from transit_etl.service_day import DAY
from transit_etl.settings import CollectSettings, FolderSettings
from transit_etl.store.machine import machine_id
from transit_etl.store.sync import pull_to_collect, send_raw_if_possible


def collect(
    settings: CollectSettings,
    dataset: str,
    *,
    seconds: float | None = None,
    begin_at: datetime | None = None,
    patience_seconds: float = math.inf,
    clock: Clock | None = None,
    store: BudgetStore | None = None,
    on_progress: ProgressCallback | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
) -> CollectReport:
    """Collect a dataset into raw files and return what was done, also when nothing was answered.

    Passages and status are polled for `seconds`, or one window; lists until they are done, or for
    `seconds`. Windows that a killed collector left are finished first. With `begin_at`, everything is made
    ready, and the answers of other workers are learned from, but nothing is asked before that instant of
    the clock. The collection is given up when no answer was usable for `patience_seconds`. `transport`
    replaces the network, `store` the budget that all processes share. If the settings name an object store,
    what other hosts put there is taken in first, and finished raw files go there at the end; that it is away
    is no failure.

    Raises NothingKnownError when the lake does not hold yet what is needed to ask, DataFolderError when
    the data folder cannot be written, UnknownDatasetError, and MissingTokenError for version 0.
    """
    clock = clock or settings.clock
    if seconds is None and is_polled(dataset):
        seconds = settings.window_seconds
    recovered = prepare(settings, clock, [dataset])
    session = session_of(settings, clock, client=Client(settings, clock, transport), store=store)

    collection = Collection(Tally(dataset, seconds))

    async def main() -> None:
        with stop_on_signal() as stop:
            await collection.go_on(
                session, settings, stop,
                seconds=seconds, begin_at=begin_at, patience_seconds=patience_seconds,
                on_progress=on_progress,
            )  # fmt: skip

    clock.run(main())
    send_raw_if_possible(settings)
    return collection.report(settings, recovered)


def prepare(settings: FolderSettings, clock: Clock, datasets: Sequence[str]) -> list[Path]:
    """Make sure that the data folder can be written; finish the windows of killed collectors.

    What other hosts collected and staged is taken in, if the settings name an object store. Passages alone
    are planned from answers that are not staged yet.
    """
    check_writable(settings.data_dir)
    claim(settings, begins=True)
    recovered = recover(settings.data_dir)
    now = clock.now()
    passages_since = earliest_recent(now) if "passages" in datasets else None
    pull_to_collect(settings, now.date() - DAY * READ_DAYS, passages_since)
    return recovered


@dataclass(slots=True)
class Collection:
    """The collection of a dataset, which may go on in parts, and what it did so far.

    Its source is made anew for each part, unless one is given.
    """

    tally: Tally
    source: Source | None = None
    elapsed: timedelta = timedelta()
    windows: list[Path] = field(default_factory=list)
    is_stopped: bool = False
    is_given_up: bool = False

    async def go_on(
        self,
        session: Session,
        settings: CollectSettings,
        stop: StopRequest,
        *,
        seconds: float | None,
        begin_at: datetime | None = None,
        patience_seconds: float = math.inf,
        on_progress: ProgressCallback | None = None,
    ) -> None:
        """Collect for `seconds`, or until the list is done; the other arguments are those of `collect`."""
        clock = session.clock
        worker = worker_name(machine_id(settings.data_dir) if settings.lake_url else "")
        begin_at = max(begin_at or clock.now(), clock.now())
        deadline = None if seconds is None else begin_at + timedelta(seconds=seconds)
        landing = landing_of(settings, clock, worker)
        with PeerWindows(settings.data_dir, settings.operator, worker, clock) as peers:
            source = self.source or source_of(self.tally.dataset, settings, SteadyInstant(clock, begin_at))
            async with session.client, session.budget:
                with landing:
                    collector = Collector(
                        session, landing, source, self.tally,
                        deadline=deadline, patience_seconds=patience_seconds, on_progress=on_progress,
                    )  # fmt: skip
                    stop.on_made(collector.stop)
                    async with learning_from(peers, source, clock):
                        await collector.run(begin_at)
        self.elapsed += max(clock.now() - begin_at, timedelta())
        self.windows += landing.finished
        self.is_stopped, self.is_given_up = collector.is_stopped, collector.is_given_up

    def report(self, settings: CollectSettings, recovered: list[Path]) -> CollectReport:
        """Return what was done; `recovered` are windows of killed collectors, which were finished before."""
        return self.tally.report(
            self.elapsed,
            settings,
            self.windows,
            recovered,
            is_stopped=self.is_stopped,
            is_given_up=self.is_given_up,
        )

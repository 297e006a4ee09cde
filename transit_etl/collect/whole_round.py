"""Collects everything in one round: polls, and asks for the lists beside that instead of before it."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx2

from transit_etl.api.client import Client
from transit_etl.clock import Clock, SteadyInstant
from transit_etl.collect.allowance.budget_store import BudgetStore
from transit_etl.collect.collection import Collection, prepare
from transit_etl.collect.datasets import source_of
from transit_etl.collect.known_network import Catalogue, NothingKnownError
from transit_etl.collect.session import session_of
from transit_etl.collect.signals import stop_on_signal
from transit_etl.collect.sources import Listed
from transit_etl.collect.tally import CollectReport, Progress, ProgressCallback, Tally
from transit_etl.settings import CollectSettings
from transit_etl.store.sync import send_raw_if_possible

# What is asked for beside polling, and the most of the allowance that each takes: passages get half or more.
LISTS = {"stops": 1 / 6, "timetables": 1 / 6, "news": 1 / 20}
POLLED = ("status", "passages")
# Of a network of which no stop is known, stops alone are asked for so long at a time, in all at most so long.
STOPS_SECONDS, MOST_STOPS_SECONDS = 10.0, 120.0
# Passages are asked for at the stops that were known when a part began: the first parts are short.
FIRST_PART_SECONDS, PART_GROWTH = 60.0, 3


def collect_round(
    settings: CollectSettings,
    seconds: float,
    stage: Callable[[], object],
    *,
    clock: Clock | None = None,
    store: BudgetStore | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
    on_progress: ProgressCallback | None = None,
) -> list[CollectReport]:
    """Poll passages and status for `seconds`, and ask for stops, timetables and news beside them.

    The lists leave half of the allowance or more to passages. What is left of them at the end the next round
    asks for first; far dates of timetables come last. `stage` is called between parts of the round, so that
    stops that became known are polled. Where no stop is known, some are asked for before everything else.
    `on_progress` is told of passages; other arguments are those of `collect`.

    Returns a report of each dataset, or of stops alone if the round was stopped, or had no answer, before one
    was known. Raises NothingKnownError when the lake does not hold the lines, or no line has a stop.
    """
    clock = clock or settings.clock
    return _Round(settings, seconds, stage, clock, store, transport, on_progress).run()


@dataclass(frozen=True, slots=True)
class _Round:
    settings: CollectSettings
    seconds: float
    stage: Callable[[], object]
    clock: Clock
    store: BudgetStore | None
    transport: httpx2.AsyncBaseTransport | None
    on_progress: ProgressCallback | None

    def run(self) -> list[CollectReport]:
        recovered = prepare(self.settings, self.clock, [*LISTS, *POLLED])
        now = SteadyInstant(self.clock, self.clock.now())
        lists = {name: source_of(name, self.settings, now) for name in LISTS}
        of = {name: Collection(Tally(name, None), source) for name, source in lists.items()}
        of["status"] = Collection(Tally("status", self.seconds), source_of("status", self.settings, now))
        passages = of["passages"] = Collection(Tally("passages", self.seconds))
        if not self._find_stops(of["stops"]):
            return [of["stops"].report(self.settings, recovered)]
        left, length = self.seconds, FIRST_PART_SECONDS
        while left > 0 and not passages.is_stopped:
            unfinished = [each for name, each in of.items() if name in LISTS and self._is_unfinished(each)]
            part = min(left, length, self.settings.window_seconds) if unfinished else left
            self._collect([*unfinished, of["status"], passages], part)
            left, length = left - part, PART_GROWTH * length
            if left > 0 and not passages.is_stopped:
                self._stage(of.values())
        send_raw_if_possible(self.settings)
        return [each.report(self.settings, recovered) for each in of.values()]

    def _find_stops(self, stops: Collection) -> bool:
        """Ask for stops until some are known; False if that was stopped, or nothing was answered."""
        catalogue = Catalogue(self.settings.data_dir, self.settings.operator)
        while True:
            try:
                return bool(catalogue.stop_codes())
            except NothingKnownError:
                has_time = stops.elapsed.total_seconds() < MOST_STOPS_SECONDS
                if not has_time or not self._is_unfinished(stops):
                    report = stops.report(self.settings, [])
                    if report.is_failure or report.is_stopped:
                        return False
                    raise
            self._collect([stops], STOPS_SECONDS)
            self._stage([stops])

    def _stage(self, collections: Iterable[Collection]) -> None:
        """Stage what was received; an interrupt stops the round, and it is staged after that."""
        try:
            self.stage()
        except KeyboardInterrupt:
            for each in collections:
                each.is_stopped = True

    def _collect(self, collections: Sequence[Collection], seconds: float) -> None:
        """Collect for some seconds; a list that is not alone takes its share of the allowance, no more."""
        clock, settings = self.clock, self.settings
        start = SteadyInstant(clock, clock.now())
        for each in collections:
            if isinstance(each.source, Listed):
                share = LISTS[each.tally.dataset] if len(collections) > 1 else 1
                each.source.pace(start, timedelta(minutes=1) / (share * settings.rate_per_minute))

        async def main() -> None:
            with stop_on_signal() as stop:
                going_on = (
                    each.go_on(
                        session_of(
                            settings, clock, client=Client(settings, clock, self.transport), store=self.store
                        ),
                        settings,
                        stop,
                        seconds=seconds,
                        on_progress=self._show_since(each),
                    )
                    for each in collections
                )
                await asyncio.gather(*going_on)

        clock.run(main())

    def _show_since(self, collection: Collection) -> ProgressCallback | None:
        """Return what tells of the progress of passages, as one over all parts."""
        tell, before = self.on_progress, collection.elapsed.total_seconds()
        if tell is None or collection.tally.dataset != "passages":
            return None

        def show(progress: Progress) -> None:
            tell(replace(progress, elapsed_seconds=before + progress.elapsed_seconds))

        return show

    def _is_unfinished(self, collection: Collection) -> bool:
        source = collection.source
        return (
            not collection.is_stopped and source is not None and source.due_at(self.clock.now()) is not None
        )

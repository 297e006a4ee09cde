"""Builds many service dates in several processes at once.

Some models come first and some last, for all dates one after the other: what was promised and disrupted, and
whatever reads all dates. Between them is most of the work: models of which a date needs no other. Each worker
has a copy of the database that the first models made, and builds ranges of dates in it.

One model there reads what others made of the dates before, `known_times`. It, and whatever reads it, is built
once every worker is done with the models before, whose tables it is given of the other workers' dates
(`other_dates_of` in a model's meta). At the end the tables of all workers are copied into the database.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from itertools import pairwise
from math import ceil
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any

import duckdb

from transit_base.files import clear_away, copy_bytes, make_folder
from transit_base.quoting import quoted_name, sql_text
from transit_etl.service_day import DAY
from transit_etl.settings import BuildSettings, FolderSettings
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.database import open_build_database
from transit_etl.warehouse.describing.dbt_manifest import Manifest, is_demanded_at_once
from transit_etl.warehouse.describing.models import DatedBy, stages, tables_by_date
from transit_etl.warehouse.ranges import answered_until, date_ranges, days_at_once

Range = tuple[date, date]
_LAST_OF_FIRST = "status_and_news"  # the stages up to it are built first
_LAST_OF_WORKERS = "marts"  # and those after it last
_TIMES_AS_MANY_ALONE = 4  # as many dates at once of the models that need no worker: little work
_READS_ALL = "reads_all_dates"
_OTHER_DATES = "other_dates_of"


class _StoppedError(Exception):
    """Another worker failed."""


@dataclass(frozen=True)
class Groups:
    """The models and checks, as dbt selects them, by when they are built.

    `by_date` and `learned` are for workers, one after the other; `exchanged` are the models of `by_date` of
    which `learned` reads other dates than its own.
    """

    first: tuple[str, ...]
    by_date: tuple[str, ...]
    learned: tuple[str, ...]
    last: tuple[str, ...]
    exchanged: frozenset[str]


@dataclass
class _Worker:
    """A worker: where it works, and the ranges that it built."""

    place: dbt.Workplace
    ranges: list[Range] = field(default_factory=list)


def build_in_parallel(
    settings: BuildSettings,
    dates: Sequence[date],
    *,
    lock: int,
    on_progress: dbt.OnProgress | None,
) -> dbt.DbtResult:
    """Build and check sorted dates by as many workers as set; the database has the tables of earlier builds.

    BuildFailedError of the first worker that fails; the others are stopped.
    """
    groups = groups_of(manifest := dbt.parse(settings, dates[0], dates[-1], lock=lock))
    main, n_workers = dbt.Workplace.main(settings), settings.build_workers
    workers = [_Worker(main.of_worker(number, n_workers)) for number in range(n_workers)]
    ranges = _ranges(settings, dates)
    long_ranges = list(date_ranges(dates, _TIMES_AS_MANY_ALONE * days_at_once(settings)))
    n_planned = len(long_ranges) * len(groups.first + groups.last)
    n_planned += len(ranges) * len(groups.by_date + groups.learned)
    run = _Runs(settings, lock, on_progress, n_planned)
    with _workplaces(workers):
        run.each(long_ranges, groups.first, main)
        for each in workers:
            _prepare(main, each)
        _share(ranges, workers, lambda worker, dates: run.one(dates, groups.by_date, worker.place))
        _exchange(workers, tables_of(manifest, groups.exchanged))
        _again(workers, lambda worker, dates: run.one(dates, groups.learned, worker.place))
        _merge(settings, workers, tables_of(manifest, {*groups.by_date, *groups.learned}))
    run.each(long_ranges, groups.last, main)
    return dbt.DbtResult(run.n_models, run.n_checks)


def _ranges(settings: BuildSettings, dates: Sequence[date]) -> list[Range]:
    """Divide dates so that each worker has as many of those with answers; those to come are little work."""
    answered = answered_until(settings)
    past = [day for day in dates if day <= answered]
    at_once = days_at_once(settings)
    n_parts = settings.build_workers * ceil(len(past) / (at_once * settings.build_workers))
    bounds = [len(past) * number // n_parts for number in range(n_parts + 1)] if past else []
    parts = [past[begin:end] for begin, end in pairwise(bounds)]
    return [
        each
        for part in (*parts, dates[len(past) :])
        for each in date_ranges(part, at_once, answered=answered)
    ]


def groups_of(manifest: Manifest) -> Groups:
    """Divide the models, their checks and the seeds into groups."""
    nodes = {
        name: node
        for name, node in manifest["nodes"].items()
        if node["resource_type"] in ("model", "seed", "test") and not is_demanded_at_once(node)
    }
    numbers: dict[str, int] = {}
    for name in nodes:
        _number(name, nodes, numbers)
    named: tuple[list[str], ...] = ([], [], [], [])
    for name, number in numbers.items():
        if nodes[name]["config"]["materialized"] != "ephemeral":
            named[number].append(".".join(nodes[name]["fqn"]))
    first, by_date, learned, last = (tuple(sorted(names)) for names in named)
    selector_of = {node["name"]: ".".join(node["fqn"]) for node in nodes.values()}
    exchanged = {
        selector_of[model]
        for name, number in numbers.items()
        if number == _LEARNED
        for model in nodes[name]["config"]["meta"].get(_OTHER_DATES, ())
    }
    return Groups(first, by_date, learned, last, frozenset(exchanged))


_FIRST, _BY_DATE, _LEARNED, _LAST = range(4)
_order = cache(stages)


def _number(name: str, nodes: Mapping[str, Any], numbers: dict[str, int]) -> int:
    """Return the group that a node belongs to: not before those of what it reads."""
    if name not in numbers:
        node = nodes[name]
        read = [_number(each, nodes, numbers) for each in _read_by(node) if each in nodes]
        numbers[name] = max([_own_number(node), *read])
    return numbers[name]


def _read_by(node: Mapping[str, Any]) -> Sequence[str]:
    """Return what a node reads; a seed reads nothing."""
    read: Sequence[str] = node["depends_on"].get("nodes", ())
    return read


def _own_number(node: Mapping[str, Any]) -> int:
    """Return the first group that a node can be in, whatever it reads."""
    if node["resource_type"] != "model":
        return _FIRST
    order = _order()
    stage = order.index(node["path"].split("/")[0])
    if stage <= order.index(_LAST_OF_FIRST):
        return _FIRST
    kind = node["config"]["materialized"]
    if stage > order.index(_LAST_OF_WORKERS) or kind in ("table", "view"):
        return _LAST
    return _LEARNED if _READS_ALL in node["config"]["meta"] else _BY_DATE


class _Runs:
    """Runs dbt for ranges of dates and groups of models, and counts what is done."""

    def __init__(
        self, settings: BuildSettings, lock: int, on_progress: dbt.OnProgress | None, n_total: int
    ) -> None:
        self.n_models = 0
        self.n_checks = 0
        self._settings = settings
        self._lock = lock
        self._on_progress = on_progress
        self._n_total = n_total
        self._n_done = 0
        self._counting = Lock()
        self._is_stopped = Event()

    def each(self, ranges: Sequence[Range], names: Collection[str], place: dbt.Workplace) -> None:
        """Build a group for ranges of dates, one after the other."""
        for dates in ranges:
            self.one(dates, names, place)

    def one(self, dates: Range, names: Collection[str], place: dbt.Workplace) -> None:
        """Build a group for a range of dates; where that fails, whatever else runs is stopped."""
        target = dbt.BuildTarget({}, tuple(names), is_exact=True)
        try:
            result = dbt.run(
                self._settings, *dates,
                is_full=False, lock=self._lock, on_progress=self._count, target=target, place=place,
            )  # fmt: skip
        except BaseException:
            self._is_stopped.set()
            raise
        with self._counting:
            self.n_models += result.n_models
            self.n_checks += result.n_checks

    def _count(self, step: dbt.BuildProgress) -> None:
        if self._is_stopped.is_set():
            raise _StoppedError
        with self._counting:
            self._n_done += 1
            if self._on_progress is not None:
                self._on_progress(dbt.BuildProgress(step.name, self._n_done, self._n_total))


@contextmanager
def _workplaces(workers: Sequence[_Worker]) -> Iterator[None]:
    """Remove the folders of workers at the end, and at the beginning what a killed build left there."""
    root = workers[0].place.folder.parent
    clear_away(root)
    try:
        yield
    finally:
        clear_away(root)


def _prepare(main: dbt.Workplace, worker: _Worker) -> None:
    """Give a worker a copy of the database, and what dbt knows of the project."""
    make_folder(worker.place.parsed_project.parent)
    copy_bytes(main.database, worker.place.database)
    if main.parsed_project.exists():
        copy_bytes(main.parsed_project, worker.place.parsed_project)


def _share(
    ranges: Sequence[Range], workers: Sequence[_Worker], build: Callable[[_Worker, Range], None]
) -> None:
    """Let each worker take the next range until there is none."""
    waiting: SimpleQueue[Range] = SimpleQueue()
    for each in ranges:
        waiting.put(each)

    def work(worker: _Worker) -> None:
        while True:
            try:
                dates = waiting.get_nowait()
            except Empty:
                return
            build(worker, dates)
            worker.ranges.append(dates)

    _at_once(work, workers)


def _again(workers: Sequence[_Worker], build: Callable[[_Worker, Range], None]) -> None:
    """Let each worker go through its ranges once more."""

    def work(worker: _Worker) -> None:
        for dates in worker.ranges:
            build(worker, dates)

    _at_once(work, workers)


def _at_once(work: Callable[[_Worker], None], workers: Sequence[_Worker]) -> None:
    """Let all workers work; raise what the first of them raised that was not stopped by another."""
    with ThreadPoolExecutor(len(workers)) as pool:
        errors = [each.exception() for each in [pool.submit(work, worker) for worker in workers]]
    for error in sorted((each for each in errors if each), key=lambda each: isinstance(each, _StoppedError)):
        raise error


def tables_of(manifest: Manifest, selected: Collection[str]) -> dict[str, DatedBy]:
    """Return the tables by date of models, as SQL names them, with what dates their rows."""
    by_date = tables_by_date(manifest)
    found = {}
    for node in manifest["nodes"].values():
        if node["resource_type"] == "model" and ".".join(node["fqn"]) in selected:
            place = node["config"]["schema"], node["alias"]
            if place in by_date:
                found[".".join(map(quoted_name, place))] = by_date[place]
    return found


def _exchange(workers: Sequence[_Worker], tables: Mapping[str, DatedBy]) -> None:
    """Copy the rows of some tables, of the dates that each worker built, to every other worker."""
    for receiver in workers:
        with duckdb.connect(receiver.place.database) as connection:
            for sender in workers:
                if sender is not receiver:
                    _copy_dates(connection, sender, tables)


def _merge(settings: FolderSettings, workers: Sequence[_Worker], tables: Mapping[str, DatedBy]) -> None:
    """Copy the rows of the dates that workers built into the build database, in one transaction."""
    with open_build_database(settings) as connection:
        for worker in workers:
            _copy_dates(connection, worker, tables)


def _copy_dates(
    connection: duckdb.DuckDBPyConnection, worker: _Worker, tables: Mapping[str, DatedBy]
) -> None:
    """Replace the rows of the dates that a worker built; a table that is missing is made."""
    if not worker.ranges:
        return
    connection.execute(f"attach {sql_text(str(worker.place.database))} as worker (read_only)")
    try:
        connection.begin()
        for name, dated_by in tables.items():
            schema = name.partition(".")[0]
            connection.execute(f"create schema if not exists {schema}")
            connection.execute(f"create table if not exists {name} as from worker.{name} limit 0")
            column, around = quoted_name(dated_by.column), dated_by.days_around * DAY
            dates = " or ".join(
                f"{column} between date '{first - around}' and date '{last + around}'"
                for first, last in worker.ranges
            )
            connection.execute(f"delete from {name} where {dates}")
            connection.execute(f"insert into {name} by name from worker.{name} where {dates}")
        connection.commit()
    finally:
        connection.execute("detach worker")

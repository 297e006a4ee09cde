"""What benchmarks against the truth of the emulator share: rehearsed days, and figures with a goal."""

import argparse
import math
import tempfile
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import httpx2
from rich.console import Console
from rich.table import Table

from transit_emulator.app import create_app
from transit_emulator.world import World, build_world
from transit_etl import warehouse
from transit_etl.endpoints import REHEARSED
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_etl.warehouse.database import database_path

Row = dict[str, Any]
LISTED_MISSES = 8  # of a measure: so many are printed


class Span(NamedTuple):
    """A stretch of time in seconds since 1970."""

    start: float
    end: float


@dataclass
class Measure:
    """A figure: how many of how many are right, what that should be, and the first of those that are not."""

    name: str
    goal: str
    n_right: int = 0
    n: int = 0
    missed: list[str] = field(default_factory=list)

    def count(self, is_right: bool, what: object = "", n: int = 1) -> None:  # noqa: FBT001 - what is counted
        """Count one case, or `n` alike."""
        self.n += n
        self.n_right += n if is_right else 0
        if not is_right and len(self.missed) < LISTED_MISSES:
            self.missed.append(str(what))


@dataclass(frozen=True)
class Rehearsal:
    """Days that were rehearsed: the world, its first and last date, and the build."""

    world: World
    first: date
    last: date
    connection: duckdb.DuckDBPyConnection


def options_of(size: str, start: date, days: int) -> argparse.ArgumentParser:
    """Return the options of a benchmark that rehearses days, with their defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default=size)
    parser.add_argument("--start", type=date.fromisoformat, default=start)
    parser.add_argument("--days", type=int, default=days)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path)
    return parser


def starts_at(options: argparse.Namespace, settings: Settings) -> datetime:
    """Return when the rehearsal begins: at the cutoff of its first date."""
    return datetime.combine(options.start, time(4), settings.zone).astimezone(UTC)


def rehearsed(
    options: argparse.Namespace,
    settings: Settings,
    only: Collection[str] = REHEARSED,
    via: Callable[[httpx2.AsyncBaseTransport], httpx2.AsyncBaseTransport] = lambda transport: transport,
) -> Rehearsal:
    """Rehearse the days into the data folder of the settings, unless that holds them, and build.

    only: the DAGs that are rehearsed; via: what requests pass through on their way to the emulator.
    """
    world = build_world(options.size, None, options.seed, has_revisions=True)
    transport = via(httpx2.ASGITransport(create_app(world)))
    start = starts_at(options, settings)
    report = rehearse(
        settings, start, options.days * 24 + 1, transport=transport, only=only, in_two_processes=True
    )
    if report.virtual_seconds:  # none of it had been rehearsed before
        print(f"rehearsed at {report.times_real_time:,.0f} times real time, staging included")
    warehouse.build(settings)
    connection = duckdb.connect(str(database_path(settings)), read_only=True)
    connection.execute("set timezone = 'UTC'")
    last = options.start + timedelta(days=options.days)
    return Rehearsal(world, options.start, last, connection)


def measure(
    options: argparse.Namespace, measures_in: Callable[[argparse.Namespace, Path], Iterable[Measure]]
) -> None:
    """Print what is measured in the data folder of the options, or in one that is removed afterwards."""
    with tempfile.TemporaryDirectory() as temporary:
        print_measures(measures_in(options, options.data or Path(temporary) / "data"))


def print_measures(measures: Iterable[Measure]) -> None:
    """Print a table of the measures, and below it cases that are not right."""
    table = Table("measure", "right", "of", "share", "goal")
    console = Console()
    found = list(measures)
    for each in found:
        share = f"{each.n_right / each.n:.2%}" if each.n else "none"
        table.add_row(each.name, f"{each.n_right:,}", f"{each.n:,}", share, each.goal)
    console.print(table)
    for each in found:
        for missed in each.missed:
            console.print(f"missed, {each.name}: {missed}", soft_wrap=True, highlight=False)


def rows_of(connection: duckdb.DuckDBPyConnection, query: str, *values: object) -> list[Row]:
    """Return the rows of a plain query."""
    result = connection.execute(query, values)
    names = [column[0] for column in result.description or []]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


def seconds_of(at: datetime | None, if_none: float = math.inf) -> float:
    """Return an instant of a table (naive, UTC) in seconds since 1970."""
    return if_none if at is None else at.replace(tzinfo=UTC).timestamp()

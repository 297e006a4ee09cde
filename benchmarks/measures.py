"""What benchmarks against the truth of the emulator share: figures with a goal, and stretches of time."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

import duckdb
from rich.console import Console
from rich.table import Table

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


def seconds_of(at: datetime | None, if_none: float) -> float:
    """Return an instant of a table (naive, UTC) in seconds since 1970."""
    return if_none if at is None else at.replace(tzinfo=UTC).timestamp()

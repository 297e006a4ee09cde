"""Ask twelve questions of a synthetic year: by SQL, and by pandas and Polars over its exported Parquet.

    python benchmarks/queries.py [--days 365] [--copies 14] [--folder FOLDER] [--repeat 3]

The year is made as `benchmarks/exports.py` does, and exported. A question is rows of a table, grouped and
summed; each of the three answers the same one, pandas and Polars reading only the columns that it needs. The
fastest of several times counts, and the answers must be equal. Questions about a line are about that with the
most visits. Fails if SQL needs more than 0.1 s (median) or 1 s, or is not faster than pandas where that needs
0.05 s.
"""

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from statistics import median
from typing import NamedTuple

import duckdb
import pandas as pd
import polars as pl
from rich.console import Console
from rich.table import Table

from benchmarks.synthetic_year import FIRST, add_options, year_of
from transit_etl.export_settings import export_settings
from transit_etl.paths import published_database
from transit_etl.settings import Settings
from transit_exports import Request, export

MOST_MEDIAN_SECONDS, MOST_SECONDS = 0.1, 1.0
LEAST_COMPARED_SECONDS = 0.05  # what is faster with pandas depends on chance
BUSIEST_LINE = "select line_code from core.stop_visits group by 1 order by count(*) desc, 1 limit 1"


class Measured(NamedTuple):
    """The rows of an answer, and the seconds that it took in each way."""

    text: str
    n_rows: int
    sql: float
    pandas: float
    polars: float


@dataclass(frozen=True, slots=True)
class Question:
    """Sums of some columns of a table by others, of one line or all, of the last days or all."""

    text: str
    table: str
    by: tuple[str, ...]
    sums: tuple[str, ...]
    line: str | None = None
    n_last_days: int | None = None

    @property
    def name(self) -> str:
        """The table without its schema."""
        return self.table.rpartition(".")[2]

    def sql(self, last: date) -> str:
        """Return the question in SQL."""
        sums = ", ".join(f"sum({name})::double as {name}" for name in self.sums)
        conditions = ["true"]
        if self.line:
            conditions.append(f"line_code = '{self.line}'")
        if self.n_last_days:
            conditions.append(f"service_date > date '{last - timedelta(days=self.n_last_days)}'")
        keys = ", ".join(self.by)
        where = " and ".join(conditions)
        return f"select {keys}, {sums} from {self.table} where {where} group by {keys} order by {keys}"

    def columns(self) -> list[str]:
        """Return the columns that the question needs."""
        conditions = [*(["line_code"] if self.line else []), *(["service_date"] if self.n_last_days else [])]
        return list(dict.fromkeys([*self.by, *self.sums, *conditions]))


_COUNTS = ("n_scheduled", "n_early", "n_on_time", "n_late")
_WAITS = ("actual_seconds_sum", "actual_seconds_squared_sum")


def questions(line: str) -> tuple[Question, ...]:
    """Return the twelve questions, some of them about one line."""
    return (
        Question("punctuality by line over the year", "marts.punctuality", ("line_code",), _COUNTS),
        Question("punctuality by hour over the year", "marts.punctuality", ("service_hour",), _COUNTS),
        Question("punctuality of a line by date", "marts.punctuality", ("service_date",), _COUNTS, line=line),
        Question("punctuality by date", "marts.punctuality", ("service_date",), _COUNTS),
        Question("waits by line over the year", "marts.headways", ("line_code",), _WAITS),
        Question("waits at the stops of a line", "marts.headways", ("stop_code",), _WAITS, line=line),
        Question("bunching by hour of the last month", "marts.headways", ("service_hour",),
                 ("n_bunched", "n_gaps"), n_last_days=30),
        Question("travel times of a line by stretch", "marts.travel_times",
                 ("from_stop_code", "to_stop_code"), ("n_trips", "seconds_sum"), line=line),
        Question("full buses by line and hour", "marts.crowding", ("line_code", "service_hour"),
                 ("n_visits", "n_full")),
        Question("polls by stop of the last month", "marts.coverage", ("stop_code",), ("planned", "good"),
                 n_last_days=30),
        Question("delays of a line's visits by stop", "core.stop_visits", ("stop_code",),
                 ("delay_seconds", "n_polls"), line=line),
        Question("delays of all visits of the last week", "core.stop_visits", ("line_code",),
                 ("delay_seconds", "n_polls"), n_last_days=7),
    )  # fmt: skip


def main() -> None:
    """Print the seconds of each question; fail if the answers differ or SQL is slower than asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with year_of(options) as folder:
        is_fast = _compare(folder, FIRST + timedelta(days=options.days - 1), options.repeat)
    sys.exit(not is_fast)


def _compare(folder: Path, last: date, repeat: int) -> bool:
    settings = export_settings(Settings(data_dir=folder))
    rows: list[Measured] = []
    with duckdb.connect(published_database(folder), read_only=True) as connection:
        [(line,)] = connection.execute(BUSIEST_LINE).fetchall()
    asked = questions(line)
    # before the connection that is measured is opened: it would share the memory limit of an export
    folders = {
        table: export(settings, Request((table,), "parquet", allows_incomplete=True)).folder
        for table in dict.fromkeys(question.table for question in asked)
    }
    with duckdb.connect(published_database(folder), read_only=True) as connection:
        for question in asked:
            exported = folders[question.table]
            sql, by_sql = _fastest(repeat, partial(_by_sql, connection, question, last))
            pandas, by_pandas = _fastest(repeat, partial(_by_pandas, exported, question, last))
            polars, by_polars = _fastest(repeat, partial(_by_polars, exported, question, last))
            pd.testing.assert_frame_equal(by_sql, by_pandas, check_dtype=False)
            pd.testing.assert_frame_equal(by_sql, by_polars, check_dtype=False)
            rows.append(Measured(question.text, len(by_sql), sql, pandas, polars))
    _print(rows)
    slower = [row.text for row in rows if row.sql >= row.pandas > LEAST_COMPARED_SECONDS]
    for text in slower:
        print(f"not faster than pandas: {text}")
    ours = [row.sql for row in rows]
    return not slower and median(ours) <= MOST_MEDIAN_SECONDS and max(ours) <= MOST_SECONDS


def _fastest(repeat: int, ask: Callable[[], pd.DataFrame]) -> tuple[float, pd.DataFrame]:
    taken = []
    for _ in range(repeat):
        started = time.perf_counter()
        answer = ask()
        taken.append(time.perf_counter() - started)
    return min(taken), _plain(answer)


def _plain(answer: pd.DataFrame) -> pd.DataFrame:
    """Return an answer with keys as texts: the libraries have different types for dates and none for null."""
    keys = [name for name in answer.columns if answer[name].dtype.kind not in "fiu"]
    answer = answer.astype(dict.fromkeys(keys, "string"))
    for name in (key for key in keys if key.endswith("_date")):
        answer[name] = answer[name].str[:10]
    numbers = [name for name in answer.columns if name not in keys]
    return (
        answer.dropna(subset=keys).fillna(0).reset_index(drop=True).astype(dict.fromkeys(numbers, "float64"))
    )


def _by_sql(connection: duckdb.DuckDBPyConnection, question: Question, last: date) -> pd.DataFrame:
    answer: pd.DataFrame = connection.sql(question.sql(last)).to_arrow_table().to_pandas()
    return answer


def _by_pandas(folder: Path, question: Question, last: date) -> pd.DataFrame:
    filters: list[tuple[str, str, object]] = []
    if question.line:
        filters.append(("line_code", "==", question.line))
    if question.n_last_days:
        filters.append(("service_date", ">", last - timedelta(days=question.n_last_days)))
    keys, sums = list(question.by), list(question.sums)
    rows = pd.read_parquet(folder / question.name, columns=question.columns(), filters=filters or None)
    return rows.groupby(keys, as_index=False)[sums].sum().sort_values(keys)


def _by_polars(folder: Path, question: Question, last: date) -> pd.DataFrame:
    rows = pl.scan_parquet(sorted(folder.rglob("*.parquet")), hive_partitioning=False)
    if question.line:
        rows = rows.filter(pl.col("line_code") == question.line)
    if question.n_last_days:
        rows = rows.filter(pl.col("service_date") > last - timedelta(days=question.n_last_days))
    answer = rows.group_by(question.by).agg(pl.col(*question.sums).sum()).sort(question.by).collect()
    found: pd.DataFrame = answer.to_arrow().to_pandas()
    return found


def _print(rows: list[Measured]) -> None:
    table = Table("question", "rows", "SQL", "pandas", "Polars", title="milliseconds")
    for text, n_rows, *seconds in rows:
        table.add_row(text, f"{n_rows:,}", *(f"{each * 1000:,.0f}" for each in seconds))
    Console().print(table)


if __name__ == "__main__":
    main()

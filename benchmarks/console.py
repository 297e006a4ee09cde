"""Measure how fast `transit-etl sql` writes rows in each format, beside DuckDB's own CSV.

    python benchmarks/console.py

Each measurement is a process of its own, started several times in turn with the others; the fastest counts.
Processor time tells more than the clock where other programs run.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import duckdb
from rich.console import Console
from rich.table import Table

from transit_etl.cli.options import Format
from transit_etl.paths import published_database

# 36 columns, as many as core.stop_visits has, of its types.
VISITS = """
create schema core;
create table core.stop_visits as
select
    uuid() as visit_key, uuid() as trip_key, 'emulated' as operator, date '2026-03-02' as service_date,
    columns(t.* exclude (range)),
    {texts}, {instants}, {numbers}, {shares}
from (select range, '0' || range % 3000 as stop_code, range % 2 = 0 as is_lost from range({n_rows})) as t;
"""
BARE = "import duckdb, sys; duckdb.connect(sys.argv[1], read_only=True).execute(sys.argv[2])"
QUERY = "from core.stop_visits"


class Taken(NamedTuple):
    """What a command took: seconds by the clock, and of processors."""

    seconds: float
    processor_seconds: float


def main() -> None:
    """Print the seconds of each format, and how often those of DuckDB's CSV they are."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=18_000)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        commands = _commands(folder, options.rows)
        taken: dict[str, list[Taken]] = {name: [] for name in commands}
        for _ in range(options.repeat):
            for name, command in commands.items():
                taken[name].append(_taken(command, folder))
        _print({name: Taken(*map(min, zip(*each, strict=True))) for name, each in taken.items()})


def _commands(folder: Path, n_rows: int) -> dict[str, list[str]]:
    database = published_database(folder)
    database.parent.mkdir()
    with duckdb.connect(database) as connection:
        connection.execute(_visits(n_rows))
    copy = f"copy ({QUERY}) to '{folder / 'bare.csv'}' (format csv, header)"
    ours = [sys.executable, "-m", "transit_etl.cli", "sql", QUERY, "--format"]
    return {
        "DuckDB's CSV": [sys.executable, "-c", BARE, str(database), copy],
        **{form: [*ours, form] for form in Format},
        "a query of one row": [sys.executable, "-m", "transit_etl.cli", "sql", "select 1"],
    }


def _visits(n_rows: int) -> str:
    return VISITS.format(
        n_rows=n_rows,
        texts=", ".join(f"'text ' || range % 100 as text_{number}" for number in range(8)),
        instants=", ".join(
            f"timestamp '2026-03-02 05:00:00' + range * interval '{number}777 ms' as time_{number}_at"
            for number in range(8)
        ),
        numbers=", ".join(f"range % {number + 7} as n_{number}" for number in range(10)),
        shares=", ".join(f"range / {number + 1}7.0::double as share_{number}" for number in range(4)),
    )


def _taken(command: list[str], folder: Path) -> Taken:
    started_at, before = time.perf_counter(), _processor_seconds()
    with (folder / "rows").open("wb") as file:
        subprocess.run(  # noqa: S603 - our own program
            command, env={**os.environ, "TRANSIT_DATA_DIR": str(folder)}, stdout=file, check=True
        )
    return Taken(time.perf_counter() - started_at, _processor_seconds() - before)


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _print(taken: dict[str, Taken]) -> None:
    bare = taken["DuckDB's CSV"]
    table = Table("written", "seconds", "times DuckDB's CSV", "processor seconds", "times DuckDB's CSV")
    for name, each in taken.items():
        pairs = zip(each, bare, strict=True)
        table.add_row(name, *(text for own, its in pairs for text in (f"{own:.2f}", f"{own / its:.1f}")))
    Console().print(table)


if __name__ == "__main__":
    main()

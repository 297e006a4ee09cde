"""Measures a publication: of everything, and of the dates built since the last one, by size, time and memory.

    python benchmarks/publication.py [--days 30] [--copies 1] [--data FOLDER]

A day of a build is repeated as often as asked, working tables too. Copying the bytes of that build database
is measured beside it. A day is then built again, as far as a publication can see, and published, several
times. Each publication has a process of its own. Fails if one of a single date takes more processor time than
one of everything, or if the published file grows beyond the build.
"""

import argparse
import os
import shutil
import sys
import time
from datetime import timedelta
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
from rich.console import Console
from rich.table import Table

from benchmarks.synthetic_year import FIRST, add_options, rehearsed_template, repeat_day
from transit_etl import warehouse
from transit_etl.paths import build_database, dbt_dir, published_database
from transit_etl.settings import Settings

REPEATED = """
select schema_name, table_name from duckdb_columns() semi join duckdb_tables()
    using (database_name, schema_name, table_name)
where database_name = 'template' and column_name = 'service_date'
order by all
"""
MOST_OF_WHOLE = 1.2  # of few days: the descriptions take most of it
_MB = 1e6


class Measured(NamedTuple):
    """What a step took, and how large the file was that it wrote."""

    name: str
    seconds: float
    processor_seconds: float
    memory_mb: float
    size_mb: float


def make_history(template: Path, folder: Path, n_days: int, n_copies: int) -> None:
    """Make a data folder whose build database has a day of another one many times."""
    target = build_database(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    manifest_of_dbt = Path("target", "manifest.json")
    (dbt_dir(folder) / manifest_of_dbt).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(dbt_dir(template) / manifest_of_dbt, dbt_dir(folder) / manifest_of_dbt)
    shutil.copy(build_database(template), target)
    with duckdb.connect(target) as connection:
        repeat_day(connection, build_database(template), REPEATED, FIRST, n_days, n_copies)


def copied(folder: Path) -> Measured:
    """Copy the bytes of the build database durably."""
    source, target = build_database(folder), folder / "copied"
    started_at, processor_before = time.monotonic(), time.process_time()
    with source.open("rb") as reader, target.open("wb") as writer:
        while os.copy_file_range(reader.fileno(), writer.fileno(), 1 << 30):
            pass
        os.fsync(writer.fileno())
    seconds, processor_seconds = time.monotonic() - started_at, time.process_time() - processor_before
    target.unlink()
    return Measured("bytes of the build", seconds, processor_seconds, 0, source.stat().st_size / _MB)


def published(name: str, folder: Path) -> Measured:
    """Publish in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        figures = pool.apply(_publish, (folder,))
    return Measured(name, *figures, published_database(folder).stat().st_size / _MB)


def _publish(folder: Path) -> tuple[float, float, float]:
    started_at, processor_before = time.monotonic(), time.process_time()
    warehouse.publish(Settings(data_dir=folder))
    status = Path("/proc/self/status").read_text(encoding="ascii")
    memory_mb = int(status.partition("VmHWM:")[2].split()[0]) * 1024 / _MB
    return time.monotonic() - started_at, time.process_time() - processor_before, memory_mb


def build_again(folder: Path, n_days: int) -> None:
    """Record a build of the last date, which leaves its rows as they are."""
    day = FIRST + timedelta(days=n_days - 1)
    with duckdb.connect(build_database(folder)) as connection:
        connection.execute(
            "insert into quality.builds "
            "select max(build_number) + 1, 'passed', arg_max(fingerprint, build_number), $1, $1, false, [$1] "
            "from quality.builds",
            [day],
        )


def main() -> None:
    """Make the history, publish it again and again, print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.set_defaults(days=30, copies=1)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    with TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        template = options.data or rehearsed_template(folder, options.hours)
        make_history(template, folder, options.days, options.copies)
        results = [copied(folder), published("everything", folder)]
        for number in range(options.repeat):
            build_again(folder, options.days)
            results.append(published(f"one date, {number + 1}", folder))
    _print(results, f"{options.days} days")
    everything, *later = results[1:]
    if median(each.processor_seconds for each in later) > MOST_OF_WHOLE * everything.processor_seconds:
        sys.exit("publishing one date took more processor time than publishing everything")
    if max(each.size_mb for each in later) > results[0].size_mb:
        sys.exit("the published file grew beyond the build")


def _print(results: list[Measured], title: str) -> None:
    table = Table("published", "seconds", "processor seconds", "memory, MB", "file, MB", title=title)
    for each in results:
        table.add_row(each.name, *(f"{figure:,.2f}" for figure in each[1:]))
    Console(width=100).print(table)


if __name__ == "__main__":
    main()

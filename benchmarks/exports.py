"""Measure exports of a synthetic year: peak memory and rows per second, beside DuckDB's bare COPY.

    python benchmarks/exports.py [--days 365] [--copies 14] [--folder FOLDER]

The year is made of one rehearsed day of the small network, which 14 times over has about as many passages a
day as a city. Each measurement is a process of its own. Its start is not counted, and its files are deleted
before the next one. Fails if an export needs more than 1 GiB, or more than twice the processor time of the
bare COPY where that takes a second.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.synthetic_year import add_options, year_of
from transit_etl.paths import exports_dir, published_database

TABLE = "core.stop_visits"
MOST_MEMORY_MIB, MOST_TIMES = 1024, 2.0
MEASURED = """
import sys, time
def measured(work):
    started, processor_started = time.perf_counter(), time.process_time()
    n_rows = work()
    print(n_rows, time.perf_counter() - started, time.process_time() - processor_started)
"""
BARE = f"""{MEASURED}
import duckdb
connection = duckdb.connect(sys.argv[1], read_only=True)
connection.execute("set timezone = 'UTC'; set enable_progress_bar = false")
measured(lambda: connection.execute(sys.argv[2]).fetchall()[0][0])
"""
OURS = f"""{MEASURED}
from transit_etl.export_settings import export_settings
from transit_etl.settings import Settings
from transit_exports import Request, export
request = Request(tuple(sys.argv[3:]), sys.argv[2], allows_incomplete=True)
measured(lambda: export(export_settings(Settings(data_dir=sys.argv[1])), request).n_rows)
"""


class Taken(NamedTuple):
    """What a process wrote and took: seconds by the clock, and of processors, and its peak memory."""

    n_rows: int
    seconds: float
    processor_seconds: float
    peak_mib: float


def main() -> None:
    """Print the measurements; fail if memory or time is over its limit."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser)
    with year_of(parser.parse_args()) as folder:
        database = published_database(folder)
        taken: dict[str, Taken] = {}
        for name, command in _commands(folder, database):
            taken[name] = _taken(command)
            rmtree(exports_dir(folder), ignore_errors=True)
            print(name, taken[name], flush=True)  # a year takes an hour
        _print(taken)
        sys.exit(not _is_within(taken))


def _commands(folder: Path, database: Path) -> Iterator[tuple[str, list[str]]]:
    for name, options in (("parquet", "format parquet, compression zstd"), ("csv", "format csv, header")):
        target = folder / f"bare.{name}"
        query = f"copy {TABLE} to '{target}' ({options})"
        yield f"bare COPY, {name}", [sys.executable, "-c", BARE, str(database), query]
        target.unlink(missing_ok=True)
        yield f"export, {name}", [sys.executable, "-c", OURS, str(folder), name, TABLE]
    yield "export, tides", [sys.executable, "-c", OURS, str(folder), "tides"]


def _taken(command: list[str]) -> Taken:
    with tempfile.TemporaryFile("w+") as printed:
        process = subprocess.Popen(command, stdout=printed)  # noqa: S603 - our own programs
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, command
        printed.seek(0)
        n_rows, seconds, processor_seconds = printed.read().split()
    return Taken(int(n_rows), float(seconds), float(processor_seconds), usage.ru_maxrss / 1024)


def _is_within(taken: dict[str, Taken]) -> bool:
    exports = [each for name, each in taken.items() if name.startswith("export")]
    pairs = [(taken[f"export, {form}"], taken[f"bare COPY, {form}"]) for form in ("parquet", "csv")]
    times = [ours.processor_seconds / bare.processor_seconds for ours, bare in pairs if bare.seconds > 1]
    return max(each.peak_mib for each in exports) <= MOST_MEMORY_MIB and max(times, default=0) <= MOST_TIMES


def _print(taken: dict[str, Taken]) -> None:
    table = Table("", "rows", "seconds", "of processors", "rows per second", "peak MiB")
    for name, each in taken.items():
        rate = each.n_rows / each.seconds
        numbers = (each.n_rows, each.seconds, each.processor_seconds, rate, each.peak_mib)
        table.add_row(name, *(f"{number:,.0f}" if number > 100 else f"{number:.1f}" for number in numbers))
    Console().print(table)


if __name__ == "__main__":
    main()

"""Measures a publication: of everything, and of the dates built since the last one, by size, time and memory.

    python benchmarks/publication.py [--days 30] [--copies 1] [--data FOLDER]

A day of a build is repeated as often as asked, working tables too. Copying the bytes of that build database
is measured beside it. A day is then built again, as far as a publication can see, and published, several
times. Each publication has a process of its own. All that is done for one file, and once more for a file with
the older months of large tables in files beside it; of both, opening the file and questions are timed. Fails
if a publication of a single date takes more processor time than one of everything, or if the published file
grows beyond the build.
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


QUESTIONS = {
    "opening": "select 1",
    "visits of the last week": """
        select line_code, count(*), avg(delay_seconds) from core.stop_visits
        where service_date > (select max(service_date) from core.service_days) - 7 group by all
    """,
    "visits of a line": """
        select stop_code, count(*), avg(delay_seconds) from core.stop_visits
        where line_code = (select line_code from core.lines order by all limit 1) group by all
    """,
    "all visits": "select line_code, count(*), avg(delay_seconds) from core.stop_visits group by all",
}
_IN_ONE_FILE, _IN_MANY = 100_000, 0.001  # GB past which there are files of detail


class Measured(NamedTuple):
    """What a step took, how large the file was that it wrote, and the files of detail beside it."""

    name: str
    seconds: float
    processor_seconds: float
    memory_mb: float
    size_mb: float
    detail_mb: float


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
    return Measured("bytes of the build", seconds, processor_seconds, 0, source.stat().st_size / _MB, 0)


def published(name: str, folder: Path, max_gb: float) -> Measured:
    """Publish in a process of its own."""
    with get_context("spawn").Pool(1) as pool:
        figures = pool.apply(_publish, (folder, max_gb))
    with duckdb.connect(published_database(folder), read_only=True) as connection:
        statement = "select coalesce(sum(size_bytes), 0) from intermediate.detail_files"
        rows = connection.execute(statement).fetchall()
    return Measured(name, *figures, published_database(folder).stat().st_size / _MB, float(rows[0][0]) / _MB)


def _publish(folder: Path, max_gb: float) -> tuple[float, float, float]:
    started_at, processor_before = time.monotonic(), time.process_time()
    warehouse.publish(Settings(data_dir=folder, published_max_gb=max_gb))
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


def answered(folder: Path) -> dict[str, float]:
    """Return the seconds of each question, the least of several times; the file is opened each time."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(_answer, (published_database(folder),))


def _answer(path: Path) -> dict[str, float]:
    seconds = {}
    for name, question in QUESTIONS.items():
        times = []
        for _ in range(3):
            started_at = time.monotonic()
            with duckdb.connect(path, read_only=True) as connection:
                connection.execute(question).fetchall()
            times.append(time.monotonic() - started_at)
        seconds[name] = min(times)
    return seconds


def main() -> None:
    """Make the history, publish it again and again in both ways, print what that took."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser)
    parser.set_defaults(days=30, copies=1)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    answers: dict[str, dict[str, float]] = {}
    problems: list[str] = []
    with TemporaryDirectory(dir=options.folder) as place:
        folder = Path(place)
        template = options.data or rehearsed_template(folder, options.hours)
        make_history(template, folder, options.days, options.copies)
        for way, max_gb in (("one file", _IN_ONE_FILE), ("files of detail", _IN_MANY)):
            results = [copied(folder), published("everything", folder, max_gb)]
            for number in range(options.repeat):
                build_again(folder, options.days)
                results.append(published(f"one date, {number + 1}", folder, max_gb))
            answers[way] = answered(folder)
            _print(results, f"{options.days} days: {way}")
            problems += _problems(results)
    _print_answers(answers)
    if problems:
        sys.exit("\n".join(problems))


def _problems(results: list[Measured]) -> list[str]:
    build, everything, *later = results
    problems = []
    if median(each.processor_seconds for each in later) > MOST_OF_WHOLE * everything.processor_seconds:
        problems.append("publishing one date took more processor time than publishing everything")
    if max(each.size_mb for each in later) > build.size_mb:
        problems.append("the published file grew beyond the build")
    return problems


def _print(results: list[Measured], title: str) -> None:
    names = ("published", "seconds", "processor seconds", "memory, MB", "file, MB", "files of detail, MB")
    table = Table(*names, title=title)
    for each in results:
        table.add_row(each.name, *(f"{figure:,.2f}" for figure in each[1:]))
    Console(width=110).print(table)


def _print_answers(answers: dict[str, dict[str, float]]) -> None:
    table = Table("question, milliseconds", *answers, title="the file opened, and a question answered")
    for question in QUESTIONS:
        table.add_row(question, *(f"{1000 * each[question]:,.0f}" for each in answers.values()))
    Console(width=110).print(table)


if __name__ == "__main__":
    main()

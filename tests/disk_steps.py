"""The steps that write below the data folder, each on one small window, to be driven through a failing disk.

    python -m tests.disk_steps

prints how many calls on files each step makes: at each of them the tests let the disk fail.
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

from tests.collect.helpers import NOON, answer, killed_landing, landing_at, rows
from tests.faulty_files import FaultyFiles, Promises
from tests.stage.landing import DAY, OPERATOR, Folder, passage
from tests.stage.landing import answer as passages
from transit_base.files import replacement_of
from transit_etl.api.exchange import Request
from transit_etl.collect.raw.rawfile import check_writable
from transit_etl.collect.raw.recovery import recover
from transit_etl.lake_schemas import DATASETS
from transit_etl.paths import (
    DAY_STEM,
    intents_files,
    lake_file,
    lake_files,
    open_raw_files,
    published_database,
    quality_pages_dir,
    raw_files,
    restaging_dir,
)
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, compact, ensure_schemas, restage, stage
from transit_etl.stage.lake import write_table, write_window
from transit_etl.stage.pieces import Pieces
from transit_etl.stage.raw import finished_windows
from transit_etl.warehouse.database import open_build_database
from transit_etl.warehouse.describing.dbt_manifest import parsed_manifest
from transit_etl.warehouse.publishing import publisher

View = dict[str, object]  # what readers find: each place with its content


def _nothing(_folder: Path) -> View:
    return {}


@dataclass(frozen=True)
class Step:
    """A step on a data folder.

    `again` is what is run after the step was disturbed; it defaults to the step. `view` is what readers find,
    each place of it whole, before or after the step. `kept` are the promises that the data folder keeps after
    the step was repeated.
    """

    name: str
    prepare: Callable[[Path], object]
    run: Callable[[Settings, Promises], object]
    view: Callable[[Path], View] = _nothing
    kept: Callable[[Path], set[str]] = lambda _folder: set()
    again: Callable[[Settings], object] | None = None
    takes_seconds: bool = False

    def repeat(self, folder: Path) -> None:
        """Run what is run after the step was disturbed."""
        if self.again is not None:
            self.again(settings_at(folder))
        else:
            self.run(settings_at(folder), Promises())


def settings_at(folder: Path) -> Settings:
    return Settings(data_dir=folder, operator=OPERATOR)


# Landing and recovery


def _land(settings: Settings, promises: Promises) -> None:
    """Land a row of each kind in windows on both sides of midnight, and close them."""
    folder = settings.data_dir
    check_writable(folder)
    before, after = NOON.replace(hour=23, minute=59), NOON + timedelta(days=1)
    with landing_at(folder, before) as landing:
        early, late, skipped, stopped, _in_flight = (
            landing.plan(_stop(number), before) for number in range(5)
        )
        landing.land(early, answer(before, b"early"))
        promises.written.add(early.request_id)
        landing.sync()
        promises.durable |= promises.written
        landing.land(late, answer(after, b"late"))
        promises.written.add(late.request_id)
        landing.skip(skipped, "no permit came")
        landing.interrupt(stopped)
        next_day = landing.plan(_stop(5), after)
        landing.sync()
        promises.durable |= promises.written
        landing.land(next_day, answer(after, b"next day"))
        promises.written.add(next_day.request_id)
    promises.durable |= promises.written


def _stop(number: int) -> Request:
    return Request("passages", f"{number:04}", f"passaggi/{number:04}")


def _rows_kept(folder: Path) -> set[str]:
    """Return the requests whose answer is in a finished raw file; fails if one is there twice."""
    assert [] == [*open_raw_files(folder), *intents_files(folder)]
    found = [row["request_id"] for row in rows(folder)]
    assert len(found) == len(set(found))
    return {row["request_id"] for row in rows(folder) if row["outcome"] == "ok"}


def _leave_open_windows(folder: Path) -> None:
    for day in range(2):
        with killed_landing(folder, NOON + timedelta(days=day)) as landing:
            for number in range(3):
                landing.land(landing.plan(_stop(number)), answer(NOON + timedelta(days=day)))
            landing.plan(_stop(3))


def _recover(settings: Settings) -> None:
    recover(settings.data_dir)


def _raw(folder: Path) -> View:
    return {path.name: path.read_bytes() for path in raw_files(folder)}


# From raw to the lake


def _land_windows(folder: Path) -> None:
    """Land two windows that are staged alike in any order; passages are checked against the lines before."""
    landed = Folder(settings_at(folder))
    landed.land("news", [("", [])])
    landed.land("passages", [("0001", passages(passage(), passage(orario="?"))), ("0002", passages())])


def _stage_windows(folder: Path) -> None:
    _land_windows(folder)
    stage(settings_at(folder))


def _compact_and_add_a_window(folder: Path) -> None:
    """Leave a day that was compacted before, with a window that came late, and what a killed run left."""
    _stage_windows(folder)
    compact(settings_at(folder), DAY)
    Folder(settings_at(folder)).land("passages", [("0003", passages(passage(attesa="-")))], worker="late")
    stage(settings_at(folder))
    day = lake_file(folder, OPERATOR, "passages", DAY, DAY_STEM).parent
    shutil.copytree(day, replacement_of(day))


def _stage_and_change(folder: Path) -> None:
    """Leave a compacted day that lacks a window and has a dataset too much, and what a killed run left."""
    landed = Folder(settings_at(folder))
    landed.land("passages", [("0001", passages(passage(), passage(orario="?")))])
    stage(landed.settings)
    compact(landed.settings, DAY)
    write_table(lake_file(folder, OPERATOR, "status", DAY, DAY_STEM), DATASETS["status"].empty_table(), [])
    landed.land("passages", [("0003", passages(passage(attesa="-")))], worker="late")
    shutil.copytree(folder / "lake", restaging_dir(folder, OPERATOR, DAY) / "lake")


def _stage(settings: Settings, _promises: Promises) -> None:
    report = stage(settings)
    if report.errors:
        raise ReportedError(report.errors)


def _restage(settings: Settings, _promises: Promises) -> None:
    report = restage(settings, DAY, DAY)
    if report.errors:
        raise ReportedError(report.errors)


class ReportedError(Exception):
    """A step ended and named in its report what failed."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("; ".join(errors))
        self.errors = errors


def _write_tables(settings: Settings, _promises: Promises) -> None:
    """Write the tables that a window was staged to over those of an earlier staging."""
    window = next(finished_windows(settings.data_dir, ["passages"]))
    tables = {name: Pieces(table) for name, table in _tables().items()}
    write_window(settings.data_dir, window, tables, {"passages": tables["passages"]})


@cache
def _tables() -> dict[str, pa.Table]:
    with TemporaryDirectory() as scratch:
        folder = Path(scratch) / "data"
        _stage_windows(folder)
        (window,) = finished_windows(folder, ["passages"])
        return {
            dataset: pq.read_table(path, partitioning=None)
            for dataset in ("passages", "requests", "validation_results")
            for path in lake_files(folder, dataset, OPERATOR, DAY)
            if path.stem == window.name
        }


def _stage_partly(folder: Path) -> None:
    """Leave a window whose staging was killed: tables of an older version of it, and no requests."""
    _land_windows(folder)
    ensure_schemas(folder)
    (window,) = finished_windows(folder, ["passages"])
    for dataset in ("passages", "news"):
        write_table(lake_file(folder, OPERATOR, dataset, DAY, window.name), DATASETS[dataset].empty_table())


def _pages(folder: Path) -> View:
    pages = quality_pages_dir(folder)
    return {"pages": {str(path.relative_to(pages)) for path in pages.rglob("*.html")}}


def _lake_files(folder: Path) -> View:
    """Return the lake and the quarantine file by file, as staging writes them."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for top in ("lake", "quarantine")
        for path in sorted((folder / top).glob("operator=*/dataset=*/date=*/*.parquet"))
    }


def _lake_days(folder: Path) -> View:
    """Return the lake and the quarantine day by day, as compaction and staging again replace them."""
    view: dict[str, dict[str, object]] = {}
    for name, content in _lake_files(folder).items():
        day, _, file = name.rpartition("/")
        view.setdefault(day, {})[file] = content
    return dict(view)


# Publishing


def _build(folder: Path, n_rows: int, number: int) -> None:
    with open_build_database(settings_at(folder)) as connection:
        connection.execute(
            "create schema if not exists core;"
            f"create or replace table core.visits as select range as n from range({n_rows});"
            "create table if not exists core.service_days (operator varchar, service_date date);"
            "create table if not exists core.requests (operator varchar, received_at timestamp);"
            "create table if not exists core.latest_lines ("
            "operator varchar, line_code varchar, line_number varchar, line_name varchar);"
            "create table if not exists core.stop_visits ("
            "operator varchar, service_date date, line_code varchar, direction varchar, service_hour int, "
            "scheduled_at timestamp, arrival_quality varchar, delay_seconds bigint, delay_low_seconds int, "
            "delay_high_seconds int);"
            "create table if not exists core.rulesets ("
            "ruleset_version bigint, valid_from_date date, valid_to_date date)"
        )
        connection.execute(
            f"insert into quality.builds values ({number}, 'passed', 'x', null, null, {number == 1}, [])"
        )


def _publish_and_build(folder: Path) -> None:
    """Leave a published warehouse, and a newer build that passed."""
    _build(folder, 1000, 1)
    _publish(settings_at(folder), Promises())
    _build(folder, 5000, 2)


_parsed_manifest = cache(parsed_manifest)


def _publish(settings: Settings, _promises: Promises) -> None:
    """Publish; what dbt reads of the project is the same each time and lies outside the data folder."""
    with patch.object(publisher, "parsed_manifest", _parsed_manifest):
        publisher.publish(settings)


def _published(folder: Path) -> View:
    with duckdb.connect(published_database(folder), read_only=True) as connection:
        return {"warehouse": connection.execute("select count(*), sum(n) from core.visits").fetchone()}


STEPS = (
    Step(
        "landing a window",
        lambda folder: folder.mkdir(parents=True),
        _land,
        kept=_rows_kept,
        again=_recover,
    ),
    Step("recovering two windows", _leave_open_windows, lambda settings, _: _recover(settings), view=_raw),
    Step("staging two windows", _land_windows, _stage, view=_lake_files, takes_seconds=True),
    Step("writing the tables of a window", _stage_partly, _write_tables, view=_lake_files),
    Step(
        "compacting a day",
        _compact_and_add_a_window,
        lambda settings, _: compact(settings, DAY),
        view=_lake_days,
    ),
    Step(
        "staging a day again",
        _stage_and_change,
        _restage,
        view=_lake_days,
        takes_seconds=True,
    ),
    Step(
        "writing the pages about quality",
        _stage_windows,
        lambda settings, _: build_data_docs(settings),
        view=_pages,
        takes_seconds=True,
    ),
    Step(
        "publishing",
        _publish_and_build,
        _publish,
        view=_published,
        takes_seconds=True,
    ),
)


def calls_of(step: Step, folder: Path) -> list[str]:
    """Run a step undisturbed in an empty folder, and return the calls it made on files."""
    step.prepare(folder)
    settings = settings_at(folder)
    with FaultyFiles(folder) as files:
        step.run(settings, files.promises)
    return files.calls


def main() -> int:
    """Print the number of calls of each step."""
    table = Table("step", "calls")
    for step in STEPS:
        with TemporaryDirectory() as scratch:
            table.add_row(step.name, str(len(calls_of(step, Path(scratch) / "data"))))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())

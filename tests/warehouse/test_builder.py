"""Which service dates a build takes on: what changed and what an interrupted build left, if possible."""

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from tests.collect.upstream import START, Upstream, collect_from, settings_at
from tests.damages import DAMAGES, Damage
from tests.warehouse.lakes import TUESDAY, Lake, Listed
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.stage import compact, stage
from transit_etl.stage.repair import find_damaged
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.building.dbt import BuildProgress
from transit_etl.warehouse.database import WarehouseError, open_build_database
from transit_etl.warehouse.ranges import answered_until, date_ranges

MUCH_LATER = TUESDAY + timedelta(days=267)
WRONG_CLOCK = date(1970, 1, 2)


class StopHereError(Exception):
    """The process that builds ends here."""


def _interrupt(_step: BuildProgress) -> None:
    raise StopHereError


def _tell(settings: Settings, *days: date) -> None:
    """Write a lake with one poll on each day."""
    for day in days:
        lake = Lake(settings.data_dir, settings.operator, day)
        lake.poll("1001", "12:00", Listed("T1", "12:01:00"))
        for path in lake.write():
            path.rename(path.with_stem(f"{path.stem}-{day}"))


def _builds(settings: Settings) -> list[tuple[object, ...]]:
    with duckdb.connect(paths.build_database(settings.data_dir), read_only=True) as connection:
        return connection.execute(
            "select outcome, dates from quality.builds order by build_number"
        ).fetchall()


@pytest.mark.long
def test_an_interrupted_build_of_distant_dates_leaves_just_those_to_the_next(settings: Settings) -> None:
    _tell(settings, TUESDAY, MUCH_LATER)
    for _ in range(2):
        with pytest.raises(StopHereError):
            warehouse.build(settings, on_progress=_interrupt)

    assert [("running", [TUESDAY, MUCH_LATER])] * 2 == _builds(settings)


@pytest.mark.long
def test_an_interrupted_build_recorded_by_its_range_leaves_the_range_to_the_next(settings: Settings) -> None:
    _tell(settings, TUESDAY, TUESDAY + timedelta(days=2))
    for _ in range(2):
        with pytest.raises(StopHereError):
            warehouse.build(settings, on_progress=_interrupt)
        with duckdb.connect(paths.build_database(settings.data_dir)) as connection:
            connection.execute("update quality.builds set dates = null where build_number = 1")

    assert [TUESDAY + timedelta(days=number) for number in range(3)] == _builds(settings)[1][1]


@pytest.mark.long
def test_answers_of_a_wrong_clock_are_named_and_not_built(settings: Settings) -> None:
    _tell(settings, TUESDAY, WRONG_CLOCK)
    report = warehouse.build(settings)
    again = warehouse.build(settings)

    assert [("passed", [TUESDAY])] == _builds(settings)
    assert ["1970-01-02" in warning for warning in report.warnings] == [True]
    assert 0 == again.n_dates
    assert [] == again.warnings


@pytest.mark.long
def test_a_compacted_day_is_not_built_again(settings: Settings) -> None:
    _tell(settings, TUESDAY)
    warehouse.build(settings)
    assert compact(settings, TUESDAY) > 0
    again = warehouse.build(settings)

    assert (True, 0, 0) == (again.n_files > 0, again.n_dates, again.n_models)
    assert 0 == warehouse.build(settings).n_files
    assert [("passed", [TUESDAY])] == _builds(settings)


@pytest.mark.parametrize("day", [date(1, 1, 1), WRONG_CLOCK, date(2100, 1, 1), date.max])
def test_an_impossible_date_is_refused_in_one_line(settings: Settings, day: date) -> None:
    _tell(settings, TUESDAY)
    with pytest.raises(warehouse.WarehouseError, match=f"^{day} cannot be a service date: [^\n]+$"):
        warehouse.build(settings, first_date=day)


FULL_DISK = """
import resource, sys
# A longer file is refused, as on a full disk.
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
from transit_etl.cli import main
sys.argv = ["transit-etl", *sys.argv[1:]]
main()
"""


_BLOCK_BYTES = 1 << 18  # of a DuckDB file, after three headers


def _zeroed(whole: bytes, start: int, n_bytes: int = 4096) -> bytes:
    return whole[:start] + bytes(n_bytes) + whole[start + n_bytes :]


@pytest.mark.parametrize(
    "damage",
    [
        *(pytest.param(damage, id=name) for name, damage in DAMAGES.items()),
        *(
            pytest.param(lambda whole, start=start: _zeroed(whole, start), id=f"zeros from {start}")
            for start in (0, 4096, 8192, *range(12288, 12288 + 6 * _BLOCK_BYTES, _BLOCK_BYTES))
        ),
        pytest.param(
            lambda whole: _zeroed(whole, 12288, _BLOCK_BYTES) + bytes(4096), id="a block of zeros, and more"
        ),
    ],
)
def test_a_damaged_build_database_is_named_in_one_line_with_what_to_do(
    settings: Settings, damage: Damage
) -> None:
    path = paths.build_database(settings.data_dir)
    with open_build_database(settings) as connection:
        connection.execute("create table rows as select hash(n) as number from range(60_000) as each(n)")
        connection.execute("insert into quality.builds values (1, 'passed', '', null, null, false, [])")
    before = _all_rows(settings)
    path.write_bytes(damage(path.read_bytes()))

    said, after = "", before
    try:
        after = _all_rows(settings)
    except WarehouseError as error:
        said = str(error)

    assert before == after  # nothing is where the damage is, or it is said
    assert re.fullmatch(
        rf"(cannot use the build database {path}: .+ delete build\.duckdb: .+ from the lake)?", said
    )


def _all_rows(settings: Settings) -> list[list[tuple[object, ...]]]:
    with open_build_database(settings) as connection:
        tables = connection.execute("select schema_name, table_name from duckdb_tables() order by all")
        return [
            connection.execute(f"from {schema}.{table}").fetchall() for schema, table in tables.fetchall()
        ]


@pytest.mark.parametrize(
    ("message", "is_damage"),
    [
        ("Corrupt database file: computed checksum 5 does not match stored checksum 0 in block", True),
        ("Corrupted RLE segment: rle_count_offset is corrupted", True),
        ("Binder Error: no such column", False),
    ],
)
def test_damage_that_a_model_meets_is_named_with_what_to_do(
    tmp_path: Path, message: str, *, is_damage: bool
) -> None:
    node = {"status": "error", "unique_id": "model.transit.stop_visits", "message": message}
    nodes = {node["unique_id"]: {"compiled_path": "stop_visits.sql"}}
    (tmp_path / "run_results.json").write_text(json.dumps({"results": [node]}))
    (tmp_path / "manifest.json").write_text(json.dumps({"nodes": nodes}))

    said = dbt._explain(tmp_path, "")  # noqa: SLF001

    assert said.startswith(f"model stop_visits failed: {message}")
    assert is_damage == ("delete build.duckdb: the next build" in said)


@pytest.mark.parametrize("command", [pytest.param("build", marks=pytest.mark.long), "publish"])
def test_a_full_disk_ends_a_build_or_publication_in_one_line(
    built: Settings, tmp_path: Path, command: str
) -> None:
    shutil.copytree(built.data_dir, tmp_path / "data")
    settings = built.model_copy(update={"data_dir": tmp_path / "data"})
    published = paths.published_database(settings.data_dir)
    before = published.read_bytes()
    if command == "build":
        paths.build_database(settings.data_dir).unlink()
    process = subprocess.run(
        [sys.executable, "-c", FULL_DISK, command],
        env={**os.environ, "TRANSIT_DATA_DIR": str(settings.data_dir), "TRANSIT_OPERATOR": "testville"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert 1 == process.returncode
    assert re.fullmatch(r"transit-etl: [^\n]*File too large[^\n]*\n", process.stderr)
    assert before == published.read_bytes()


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "is_noticed", [pytest.param(True, id="changed"), pytest.param(False, id="unchanged by all signs")]
)
def test_a_build_makes_damaged_lake_files_again_from_raw(tmp_path: Path, *, is_noticed: bool) -> None:
    settings = settings_at(tmp_path)
    for dataset in ("lines", "stops", "passages"):
        collect_from(Upstream(), settings, dataset, seconds=20)
        stage(settings)
    warehouse.build(settings)
    for path in paths.all_lake_files(tmp_path, "emulated"):
        status = path.stat()
        path.write_bytes(b"x" * status.st_size)
        if not is_noticed:
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    report = warehouse.build(settings, first_date=START.date())

    assert (0, 0) != (report.n_models, report.n_checks)
    assert {} == find_damaged(tmp_path)


def _days(n_days: int) -> list[date]:
    return [TUESDAY + timedelta(days=number) for number in range(n_days)]


def test_dates_to_come_are_built_with_those_that_have_answers(settings: Settings) -> None:
    _tell(settings, *(days := _days(16))[:2])

    assert list(date_ranges(days, 7, answered=answered_until(settings))) == [(days[0], days[-1])]


def test_a_range_ends_at_the_bound_of_its_work_and_at_a_gap() -> None:
    days = _days(20)

    assert list(date_ranges([*days[:9], days[12]], 7)) == [
        (days[0], days[6]),
        (days[7], days[8]),
        (days[12], days[12]),
    ]
    assert list(date_ranges(days, 4, answered=days[2])) == [
        (days[0], days[6]),  # three with answers and four to come
        (days[7], days[19]),
    ]


def test_without_answers_all_dates_are_to_come(settings: Settings) -> None:
    days = _days(28)

    assert list(date_ranges(days, 7, answered=answered_until(settings))) == [(days[0], days[-1])]

"""The life of a warehouse: built, rebuilt, failed, killed, published while it is read, moved and attached."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.lakes import TUESDAY, Lake, Listed, write_rows
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.stage.lake import ensure_schemas

READER = """
import sys, duckdb
with duckdb.connect(sys.argv[1], read_only=True) as connection:
    count = lambda: connection.sql("select count(*) from core.stop_visits").fetchall()[0][0]
    print(count(), flush=True)
    sys.stdin.readline()
    print(count(), flush=True)
"""
BUILDER = """
import sys
from pathlib import Path
from transit_etl import warehouse
from transit_etl.settings import Settings
settings = Settings(data_dir=Path(sys.argv[1]), operator="testville")
warehouse.build(settings, on_progress=lambda step: print(step.name, flush=True))
"""


@pytest.fixture(scope="module")
def copy(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Give a copy of the stories' data folder, which these tests go on with in order."""
    data_dir = tmp_path_factory.mktemp("life") / "data"
    shutil.copytree(built.data_dir, data_dir)
    return built.model_copy(update={"data_dir": data_dir})


def _checksums(database: Path) -> dict[str, object]:
    """Hash the rows of every table, whatever their order."""
    with duckdb.connect(database, read_only=True) as connection:
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() "
            "where table_name not in ('builds', 'built_dates', 'built_files', 'last_publication')"
        ).fetchall()
        query = "select count(*), bit_xor(hash(rows::varchar)) from {} as rows"
        return {name: connection.execute(query.format(name)).fetchall()[0] for (name,) in sorted(tables)}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _later(settings: Settings, trip: str) -> Lake:
    """Tell of one more trip that evening, in a lake of its own."""
    lake = Lake(settings.data_dir / trip, settings.operator)
    lake.poll("1001", "25:00", Listed(trip, "25:01:00"))
    lake.poll("1001", "25:01:30")
    return lake


def _add(settings: Settings, lake: Lake, window: str) -> None:
    """Move what a lake tells into the settings' lake, as a window of that name."""
    for path in lake.write():
        target = settings.data_dir / path.relative_to(lake.data_dir)
        rows = f"select * replace ('{window}/' || request_id as request_id) from '{path}'"
        write_rows(rows, target.with_stem(window))


def test_nothing_new_in_the_lake_builds_nothing(copy: Settings) -> None:
    warehouse.build(copy)
    report = warehouse.build(copy)

    assert 0 == report.n_dates
    assert 0 == report.n_models


@pytest.mark.long
def test_a_service_date_built_again_has_the_same_rows_and_parses_no_model_again(copy: Settings) -> None:
    warehouse.build(copy)
    before = _checksums(paths.build_database(copy.data_dir))
    parsed = paths.state_dir(copy.data_dir) / "dbt" / "target" / "partial_parse.msgpack"
    parsed_at = parsed.stat().st_mtime_ns
    report = warehouse.build(copy, first_date=TUESDAY, last_date=TUESDAY)

    assert 1 == report.n_dates
    assert before == _checksums(paths.build_database(copy.data_dir))
    assert parsed_at == parsed.stat().st_mtime_ns


@pytest.fixture
def reader(copy: Settings) -> Iterator[subprocess.Popen[str]]:
    """Run an analyst's process that holds the published file open and counts visits when told to."""
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(paths.published_database(copy.data_dir))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        yield process
        process.kill()


def test_an_analyst_keeps_reading_through_a_publication(
    copy: Settings, reader: subprocess.Popen[str]
) -> None:
    assert reader.stdin is not None
    assert reader.stdout is not None
    n_before = int(reader.stdout.readline())
    inode = paths.published_database(copy.data_dir).stat().st_ino
    warehouse.publish(copy)
    reader.stdin.write("again\n")
    reader.stdin.flush()

    assert n_before == int(reader.stdout.readline())
    assert inode != paths.published_database(copy.data_dir).stat().st_ino


def test_a_failed_check_names_itself_and_publishes_nothing(copy: Settings) -> None:
    published = _sha256(paths.published_database(copy.data_dir))
    _add(copy, _later(copy, "TWICE"), "once")
    copies = [path.with_stem("twice") for path in copy.data_dir.rglob("once.parquet")]
    for path in copies:
        shutil.copy(path.with_stem("once"), path)
    with pytest.raises(
        warehouse.BuildFailedError, match=r"check core.requests failed.*: key \(.*\) \(\d+ rows\).*\.sql$"
    ) as failure:
        warehouse.build(copy)
    with pytest.raises(warehouse.UncheckedBuildError, match="failed"):
        warehouse.publish(copy)

    assert Path(str(failure.value).split("Its SQL: ")[1]).exists()
    assert published == _sha256(paths.published_database(copy.data_dir))

    for path in copies:
        path.unlink()


@pytest.mark.long
def test_a_killed_build_leaves_what_is_published_and_the_next_one_repairs(copy: Settings) -> None:
    published = _sha256(paths.published_database(copy.data_dir))
    _add(copy, _later(copy, "LATER"), "killed")
    _kill_a_build(copy, at="stop_visits")
    with pytest.raises(warehouse.UncheckedBuildError, match="running"):
        warehouse.publish(copy)

    assert published == _sha256(paths.published_database(copy.data_dir))

    warehouse.build(copy)
    warehouse.publish(copy)
    rows = warehouse.query(copy, "select trip_id from core.stop_visits where trip_id = 'LATER'").to_pylist()

    assert [{"trip_id": "LATER"}] == rows


def _kill_a_build(settings: Settings, at: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", BUILDER, str(settings.data_dir)],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.strip() == at:
            break
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    _wait_for_the_lock(settings)


def _wait_for_the_lock(settings: Settings) -> None:
    from transit_etl.warehouse.database import warehouse_lock  # noqa: PLC0415 - looks behind the surface

    for _ in range(100):
        try:
            with warehouse_lock(settings):
                return
        except warehouse.BuildRunningError:
            time.sleep(0.05)
    raise AssertionError("a killed build kept the lock")


@pytest.mark.long
def test_built_bit_by_bit_equals_built_at_once(copy: Settings, tmp_path: Path) -> None:
    warehouse.build(copy)  # makes good what another test may have left half done
    at_once = copy.model_copy(update={"data_dir": tmp_path / "at-once"})
    shutil.copytree(copy.data_dir / "lake", at_once.data_dir / "lake")
    warehouse.build(at_once)

    assert _checksums(paths.build_database(at_once.data_dir)) == _checksums(
        paths.build_database(copy.data_dir)
    )


@pytest.mark.long
def test_a_build_by_changed_models_drops_the_relations_of_models_that_are_gone(copy: Settings) -> None:
    warehouse.build(copy)
    database = paths.build_database(copy.data_dir)
    before = _checksums(database)
    with duckdb.connect(database) as connection:
        for schema in ("staging", "intermediate", "core", "marts", "headline", "quality"):
            connection.execute(f"create table {schema}.old_table as select 1 as old_column")
            connection.execute(f"create view {schema}.old_view as from {schema}.old_table")
        connection.execute("update quality.builds set fingerprint = 'of the previous models'")
    warehouse.build(copy)
    with duckdb.connect(database, read_only=True) as connection:
        views = connection.execute("select * from duckdb_views() where view_name = 'old_view'").fetchall()

    assert before == _checksums(database)
    assert [] == views


def test_one_builds_at_a_time(copy: Settings) -> None:
    from transit_etl.warehouse.database import warehouse_lock  # noqa: PLC0415 - looks behind the surface

    with warehouse_lock(copy), pytest.raises(warehouse.BuildRunningError, match="another build"):
        warehouse.build(copy)


def test_every_view_works_opened_attached_and_moved(copy: Settings, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere.duckdb"
    shutil.copy(paths.published_database(copy.data_dir), moved)
    with duckdb.connect(moved, read_only=True) as connection:
        query = "select schema_name || '.' || view_name from duckdb_views() where not internal"
        views = [name for (name,) in connection.execute(query).fetchall()]
        direct = {name: connection.execute(f"select count(*) from {name}").fetchall() for name in views}
    with duckdb.connect() as connection:
        connection.execute(f"attach '{moved}' as another (read_only)")
        attached = {
            name: connection.execute(f"select count(*) from another.{name}").fetchall() for name in views
        }

    assert {"named.stop_visits", "marts.punctuality_shares", "quality.drift"} <= set(views)
    assert direct == attached


def test_a_question_before_the_first_publication_says_so(settings: Settings) -> None:
    with pytest.raises(warehouse.NotPublishedError, match="run build and publish first"):
        warehouse.query(settings, "select 1")


def test_an_empty_lake_says_so(settings: Settings) -> None:
    for _ in range(2):
        with pytest.raises(warehouse.EmptyLakeError, match="collect and stage"):
            warehouse.build(settings)
        ensure_schemas(settings.data_dir)  # files without rows are no answers


def test_a_refused_question_says_what_the_database_says(built: Settings) -> None:
    with pytest.raises(warehouse.QueryError, match="no_such_table"):
        warehouse.query(built, "from no_such_table")
    with pytest.raises(warehouse.QueryError, match="only a query is run here"):
        warehouse.query(built, "create table core.mine as select 1")

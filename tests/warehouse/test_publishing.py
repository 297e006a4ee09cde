"""A publication continues the last one where it can, copies everything where not, and holds the same rows."""

import os
import shutil
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import duckdb
import pytest

from benchmarks.publication import REPEATED
from benchmarks.synthetic_year import FIRST, repeat_day
from tests.warehouse.lakes import TUESDAY
from tests.warehouse.test_older_clients import OLDER
from transit_base.promised import original_schema
from transit_etl import queries, warehouse
from transit_etl.operations import verify
from transit_etl.paths import build_database, dbt_manifest, detail_dir, detail_files, published_database
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.models import tables_by_date
from transit_etl.warehouse.publishing import promised_copy
from transit_exports.scope import connect


@pytest.fixture
def copy(built: Settings, tmp_path: Path) -> Settings:
    """Give a copy of the stories' data folder, built and published."""
    data_dir = tmp_path / "data"
    shutil.copytree(built.data_dir, data_dir)
    return built.model_copy(update={"data_dir": data_dir})


@pytest.fixture
def only_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a publication fail that would copy everything."""

    def refuse(*_: object) -> None:
        pytest.fail("everything was copied")

    monkeypatch.setattr(promised_copy._Copy, "write_all", refuse)  # noqa: SLF001


def _change_a_day(settings: Settings) -> None:
    """Change rows of a service date, and those of tables that are not by date, as a build of it does."""
    with duckdb.connect(build_database(settings.data_dir)) as build:
        build.execute("insert into quality.validation_results from quality.validation_results")
        build.execute("delete from core.news")
    _change_rows(settings, TUESDAY)


def _change_rows(settings: Settings, day: date) -> None:
    """Change rows of a service date, as a build of it does, and record that build."""
    with duckdb.connect(build_database(settings.data_dir)) as build:
        build.execute("insert into core.stop_visits from core.stop_visits where service_date = $1", [day])
        build.execute("delete from marts.punctuality where service_date = $1", [day])
        _record_build(build, day, day)


def _record_build(build: duckdb.DuckDBPyConnection, first: date, last: date) -> None:
    build.execute(
        "insert into quality.builds select max(build_number) + 1, 'passed', "
        "arg_max(fingerprint, build_number), $1, $2, false, range($1, $2 + 1, interval 1 day)::date[] "
        "from quality.builds",
        [first, last],
    )


def _differences(settings: Settings) -> list[str]:
    """Name the tables whose published rows are not those of the build."""
    hashed = "(select (count(*), bit_xor(hash(rows::varchar))) from {}.{} as rows)"
    with duckdb.connect() as connection:
        for name, path in (("build", build_database), ("published", published_database)):
            connection.execute(f"attach '{path(settings.data_dir)}' as {name} (read_only)")
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where database_name = 'build' "
            "intersect select schema_name || '.' || table_name from duckdb_columns() "
            "where database_name = 'published'"
        ).fetchall()
        assert len(tables) > 40
        return [
            name
            for (name,) in tables
            if connection.execute(
                f"select {hashed.format('build', name)} = {hashed.format('published', name)}"
            ).fetchone()
            != (True,)
        ]


@pytest.mark.long
@pytest.mark.usefixtures("only_continued")
def test_of_tables_by_date_only_the_dates_built_since_are_copied(copy: Settings) -> None:
    warehouse.publish(copy)
    _change_a_day(copy)
    warehouse.publish(copy)

    assert [] == _differences(copy)


def test_damage_of_the_published_file_is_not_carried_into_the_next(copy: Settings) -> None:
    path = published_database(copy.data_dir)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    damaged = verify(copy, repairs=False)
    warehouse.publish(copy)
    after = verify(copy, repairs=False)

    assert [str(path)] == [text.split(": ")[0] for text in damaged.damaged]
    assert ([], []) == (after.damaged, after.missing)
    assert [] == _differences(copy)


def test_every_table_of_many_dates_is_copied_by_date(manifest: Manifest) -> None:
    by_date = tables_by_date(manifest)

    assert {"core", "marts", "quality"} <= {original_schema(schema) for schema, _ in by_date}
    assert ("received_date", 1) == (
        by_date["quality", "validation_results"].column,
        by_date["quality", "validation_results"].days_around,
    )
    assert "service_date" == by_date["core", "stop_visits"].column
    assert ("core", "lines") not in by_date


@pytest.mark.long
def test_a_file_is_described_also_where_what_dbt_knew_is_lost(copy: Settings) -> None:
    described = published_database(copy.data_dir).with_name("dictionary.csv")
    before = described.read_text()
    described.unlink()
    dbt_manifest(copy.data_dir).unlink()
    warehouse.publish(copy)

    assert before == described.read_text()


@pytest.mark.long
def test_what_a_build_did_not_record_is_noticed_and_everything_copied(copy: Settings) -> None:
    with duckdb.connect(build_database(copy.data_dir)) as build:
        build.execute("insert into core.stop_visits from core.stop_visits limit 1")
    warehouse.publish(copy)

    assert [] == _differences(copy)


@pytest.mark.long
def test_another_build_database_is_copied_whole(copy: Settings) -> None:
    with duckdb.connect(build_database(copy.data_dir)) as build:
        build.execute("delete from main.last_publication")
        build.execute("update core.stop_visits set delay_seconds = 1234")
    warehouse.publish(copy)

    assert [] == _differences(copy)


@pytest.mark.long
def test_a_damaged_published_file_and_the_rest_of_a_killed_publication_are_replaced(copy: Settings) -> None:
    published = published_database(copy.data_dir)
    published.write_bytes(published.read_bytes()[:5000])
    unfinished = published.with_name(f"{published.name}.new")
    unfinished.write_bytes(b"a part of a file")
    unfinished.with_name(f"{unfinished.name}.wal").write_bytes(b"a part of its log")
    warehouse.publish(copy)

    assert [] == _differences(copy)
    assert [] == [path.name for path in published.parent.glob("*.new*")]


MONTHS = {date(2025, 1, 1), date(2025, 2, 1)}  # of the days from FIRST, those before the two newest
N_DAYS = 100
LAST = FIRST + timedelta(days=N_DAYS - 1)


@pytest.fixture(scope="module")
def months(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Give a data folder whose build has a hundred days, published in more than one file."""
    data_dir = tmp_path_factory.mktemp("months") / "data"
    shutil.copytree(built.data_dir, data_dir)
    with duckdb.connect(build_database(data_dir)) as connection:
        repeat_day(connection, build_database(built.data_dir), REPEATED, FIRST, N_DAYS, 1)
        connection.execute("detach template; delete from main.last_publication")
    settings = built.model_copy(update={"data_dir": data_dir, "published_max_gb": 0.001})
    warehouse.publish(settings)
    return settings


@pytest.fixture
def split(months: Settings, tmp_path: Path) -> Settings:
    """Give a copy of that folder; its views read the files of the original until it is published."""
    data_dir = tmp_path / "months"
    shutil.copytree(months.data_dir, data_dir)
    return months.model_copy(update={"data_dir": data_dir})


def _files(settings: Settings) -> dict[str, set[date]]:
    """Return the months in files of detail, by table."""
    with duckdb.connect(published_database(settings.data_dir), read_only=True) as connection:
        rows = connection.execute(
            "select schema_name || '.' || table_name, list(first_date) "
            "from intermediate.detail_files group by all"
        ).fetchall()
    return {name: set(months) for name, months in rows}


def _written(settings: Settings) -> set[tuple[str, int]]:
    return {(path.name, path.stat().st_ino) for path in detail_files(settings.data_dir)}


def test_past_the_size_older_months_of_large_tables_are_in_files_and_views_have_all_rows(
    months: Settings,
) -> None:
    assert [] == _differences(months)
    assert {"core.stop_visits", "core.scheduled_departures"} <= _files(months).keys()
    assert [MONTHS] * len(_files(months)) == list(_files(months).values())
    with duckdb.connect(published_database(months.data_dir), read_only=True) as connection:
        recent = connection.execute("select min(service_date) from recent_core.stop_visits").fetchall()
        comments = connection.execute(
            "select comment from duckdb_views() where schema_name = 'core' and view_name = 'stop_visits'"
        ).fetchall()
    assert [(date(2025, 3, 1),)] == recent
    assert [True] == [comment.startswith("One row per") for (comment,) in comments]


def test_a_table_in_two_parts_has_the_columns_of_the_build(months: Settings) -> None:
    tables = [name.removeprefix("core.") for name in _files(months) if name.startswith("core.")]
    with duckdb.connect() as connection:
        for name, path in (("build", build_database), ("published", published_database)):
            connection.execute(f"attach '{path(months.data_dir)}' as {name} (read_only)")
        found = [
            connection.execute(
                "select table_name, column_name, data_type from duckdb_columns() where schema_name = 'core' "
                "and database_name = $database and list_contains($tables, table_name) order by all",
                {"database": database, "tables": tables},
            ).fetchall()
            for database in ("build", "published")
        ]
    assert found[0] == found[1]
    assert len(found[0]) > 50


@pytest.mark.long
@pytest.mark.usefixtures("only_continued")
def test_a_publication_writes_only_the_months_that_were_built_again(split: Settings) -> None:
    warehouse.publish(split)
    before = _written(split)
    _change_rows(split, date(2025, 2, 3))
    _change_rows(split, LAST)
    warehouse.publish(split)

    assert [] == _differences(split)
    added, gone = _written(split) - before, before - _written(split)
    assert {"2025-02"} == {name[:7] for name, _ in added}
    assert set() == gone  # who has the older file open still reads them
    warehouse.publish(split)
    assert {name[:7] for name, _ in before - _written(split)} == {"2025-02"}
    assert [] == _differences(split)


@pytest.mark.long
@pytest.mark.usefixtures("only_continued")
def test_a_month_that_has_become_older_goes_into_files(split: Settings) -> None:
    n_more = 30
    with duckdb.connect(build_database(split.data_dir)) as build:
        for schema, table in build.execute(
            "select schema_name, table_name from duckdb_columns() semi join duckdb_tables() "
            "using (database_name, schema_name, table_name) where column_name = 'service_date' "
            "and schema_name in ('core', 'intermediate')"
        ).fetchall():
            build.execute(
                f"insert into {schema}.{table} "
                f"select * replace (service_date + {n_more} as service_date) "
                f"from {schema}.{table} where service_date > $1",
                [LAST - timedelta(days=n_more)],
            )
        _record_build(build, LAST + timedelta(days=1), LAST + timedelta(days=n_more))
    warehouse.publish(split)

    assert [] == _differences(split)
    assert MONTHS | {date(2025, 3, 1)} == _files(split)["core.stop_visits"]


@pytest.mark.long
def test_a_lost_file_of_detail_is_written_again(split: Settings) -> None:
    warehouse.publish(split)
    lost = detail_files(split.data_dir)[0]
    lost.unlink()
    warehouse.publish(split)

    assert [] == _differences(split)


@pytest.mark.long
def test_with_a_larger_size_all_rows_are_in_one_file_again(split: Settings) -> None:
    warehouse.publish(split)
    warehouse.publish(split.model_copy(update={"published_max_gb": 1}))
    warehouse.publish(split.model_copy(update={"published_max_gb": 1}))

    assert [] == _differences(split)
    assert {} == _files(split)
    assert not detail_dir(split.data_dir).exists()


def test_a_folder_moved_with_its_files_answers_queries(months: Settings, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    shutil.copytree(months.data_dir, moved)
    original = detail_dir(months.data_dir)
    hidden = original.rename(original.with_name("hidden"))
    try:
        settings = months.model_copy(update={"data_dir": moved})
        question = "select count(*) from core.stop_visits where service_date < date '2025-03-01'"
        found = queries.query(settings, question).to_pydict()
        with connect(published_database(moved), months.operator) as connection:
            exported = connection.execute(question).fetchall()
    finally:
        hidden.rename(original)

    with duckdb.connect(build_database(months.data_dir), read_only=True) as connection:
        expected = connection.execute(question).fetchall()
    assert expected == [tuple(column[0] for column in found.values())]
    assert expected == exported
    assert expected[0][0] > 0


@pytest.mark.parametrize("version", sorted(path.name for path in OLDER.glob("*")))
def test_an_older_client_reads_both_parts(months: Settings, version: str) -> None:
    question = "select count(*), max(service_date)::varchar from core.stop_visits"
    code = (
        "import duckdb, sys; connection = duckdb.connect(sys.argv[1], read_only=True); "
        f"print(connection.sql({question!r}).fetchall())"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(published_database(months.data_dir))],
        env={**os.environ, "PYTHONPATH": str(OLDER / version)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == answer.stderr
    with duckdb.connect(build_database(months.data_dir), read_only=True) as connection:
        assert str(connection.execute(question).fetchall()) == answer.stdout.strip()


@pytest.mark.long
def test_a_file_in_two_parts_is_compared_with_one_that_is_whole(months: Settings, tmp_path: Path) -> None:
    data_dir = tmp_path / "whole"
    shutil.copytree(months.data_dir, data_dir)
    whole = warehouse.publish(months.model_copy(update={"data_dir": data_dir, "published_max_gb": 1}))

    found = warehouse.compare(published_database(months.data_dir), whole).parts

    assert [] == found["rows"].to_pylist()
    assert [] == found["columns"].to_pylist()

"""A publication continues the last one where it can, copies everything where not, and holds the same rows."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.lakes import TUESDAY
from transit_etl import warehouse
from transit_etl.paths import build_database, dbt_manifest, published_database
from transit_etl.promised import original_schema
from transit_etl.settings import Settings
from transit_etl.warehouse import promised_copy
from transit_etl.warehouse.dbt_manifest import Manifest
from transit_etl.warehouse.models import tables_by_date

pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all


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

    monkeypatch.setattr(promised_copy, "_copy_all", refuse)


def _change_a_day(settings: Settings) -> None:
    """Change rows of a service date, as a build of it does, and record that build."""
    with duckdb.connect(build_database(settings.data_dir)) as build:
        build.execute("insert into core.stop_visits from core.stop_visits where service_date = $1", [TUESDAY])
        build.execute("delete from marts.punctuality where service_date = $1", [TUESDAY])
        build.execute("insert into quality.drift_days from quality.drift_days")
        build.execute("delete from core.news")
        build.execute(
            "insert into quality.builds "
            "select max(build_number) + 1, 'passed', arg_max(fingerprint, build_number), $1, $1, false, [$1] "
            "from quality.builds",
            [TUESDAY],
        )


def _differences(settings: Settings) -> list[str]:
    """Name the tables whose published rows are not those of the build."""
    hashed = "(select (count(*), bit_xor(hash(rows::varchar))) from {}.{} as rows)"
    with duckdb.connect() as connection:
        for name, path in (("build", build_database), ("published", published_database)):
            connection.execute(f"attach '{path(settings.data_dir)}' as {name} (read_only)")
        tables = connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where database_name = 'published' "
            "and table_name not in ('publication', 'dictionary_tables', 'dictionary_columns')"
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


@pytest.mark.usefixtures("only_continued")
def test_of_tables_by_date_only_the_dates_built_since_are_copied(copy: Settings) -> None:
    warehouse.publish(copy)
    _change_a_day(copy)
    warehouse.publish(copy)

    assert [] == _differences(copy)


def test_every_table_of_many_dates_is_copied_by_date(manifest: Manifest) -> None:
    by_date = tables_by_date(manifest)

    assert {"core", "marts", "quality"} <= {original_schema(schema) for schema, _ in by_date}
    assert ("received_date", 1) == (
        by_date["quality", "drift_days"].column,
        by_date["quality", "drift_days"].days_around,
    )
    assert "service_date" == by_date["core", "stop_visits"].column
    assert ("core", "lines") not in by_date


def test_a_file_is_described_also_where_what_dbt_knew_is_lost(copy: Settings) -> None:
    described = published_database(copy.data_dir).with_name("dictionary.csv")
    before = described.read_text()
    described.unlink()
    dbt_manifest(copy.data_dir).unlink()
    warehouse.publish(copy)

    assert before == described.read_text()


def test_what_a_build_did_not_record_is_noticed_and_everything_copied(copy: Settings) -> None:
    with duckdb.connect(build_database(copy.data_dir)) as build:
        build.execute("insert into core.stop_visits from core.stop_visits limit 1")
    warehouse.publish(copy)

    assert [] == _differences(copy)


def test_another_build_database_is_copied_whole(copy: Settings) -> None:
    with duckdb.connect(build_database(copy.data_dir)) as build:
        build.execute("delete from main.last_publication")
        build.execute("update core.stop_visits set delay_seconds = 1234")
    warehouse.publish(copy)

    assert [] == _differences(copy)


def test_a_damaged_published_file_and_the_rest_of_a_killed_publication_are_replaced(copy: Settings) -> None:
    published = published_database(copy.data_dir)
    published.write_bytes(published.read_bytes()[:5000])
    unfinished = published.with_name(f"{published.name}.new")
    unfinished.write_bytes(b"a part of a file")
    unfinished.with_name(f"{unfinished.name}.wal").write_bytes(b"a part of its log")
    warehouse.publish(copy)

    assert [] == _differences(copy)
    assert [] == [path.name for path in published.parent.glob("*.new*")]

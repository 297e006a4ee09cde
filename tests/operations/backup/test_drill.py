"""The drill: everything but the backup is lost, and all figures come back identical."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.rehearsed import Rehearsed
from transit_etl import warehouse
from transit_etl.operations.backup import back_up, restore
from transit_etl.operations.verification import verify
from transit_etl.paths import published_database
from transit_etl.settings import Settings
from transit_etl.stage import stage

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]
_TABLES = """
select concat(schema_name, '.', table_name) as name from duckdb_tables()
where database_name = 'before' and schema_name in ('staging', 'core', 'marts') order by name
"""
_DIFFERENT = """
select count(*) from (
    (from before.{table} except all from after.{table})
    union all
    (from after.{table} except all from before.{table})
)
"""


def test_after_a_loss_every_table_comes_back_identical(rehearsed: Rehearsed, tmp_path: Path) -> None:
    before, target = rehearsed.settings, tmp_path / "backup"
    target.mkdir()
    saved = back_up(before, target)
    after = Settings(data_dir=tmp_path / "data", window_seconds=before.window_seconds)
    restored = restore(after, target, tmp_path)
    judged_stops = target / "settings" / "judged_stops_file" / "judged_stops.csv"
    after = after.model_copy(update={"judged_stops_file": judged_stops})
    stage(after)
    warehouse.build(after)
    warehouse.publish(after)

    assert saved.n_new == restored.n_restored - len([*target.glob("state/*"), target / "folder.json"])
    assert not verify(after).is_failure
    assert {} == _differences(before, after)
    shutil.rmtree(target)


def _differences(before: Settings, after: Settings) -> dict[str, int]:
    """Count for each table the rows that only one of two published files has."""
    with duckdb.connect() as connection:
        for name, settings in {"before": before, "after": after}.items():
            connection.execute(f"attach '{published_database(settings.data_dir)}' as {name} (read_only)")
        tables = [row[0] for row in connection.execute(_TABLES).fetchall()]
        assert 25 < len(tables)
        counts = {
            table: connection.execute(_DIFFERENT.format(table=table)).fetchall()[0][0] for table in tables
        }
        return {table: count for table, count in counts.items() if count}

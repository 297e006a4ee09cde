"""The DAG `exports` exports what is due, each dataset in a task of its own, and nothing twice."""

from pathlib import Path

import duckdb
import pytest

from tests.dags.conftest import RunDag
from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import exports_dir, published_database
from transit_exports import damage_of_export

pytestmark = pytest.mark.long


@pytest.mark.timeout(900)
def test_what_is_due_is_exported_once(rehearsed: Rehearsed, run_dag: RunDag, tmp_path: Path) -> None:
    data = tmp_path / "data"
    published_database(data).parent.mkdir(parents=True)
    published_database(data).write_bytes(published_database(rehearsed.settings.data_dir).read_bytes())
    with duckdb.connect(published_database(data)) as connection:  # fewer tables: each takes seconds
        connection.execute("delete from quality.dictionary_tables where table_name not in ('lines', 'news')")

    first, second = run_dag("exports"), run_dag("exports")

    assert "success" == first["state"] == second["state"], first["log"] + second["log"]
    assert ("success", "skipped") == (first["tasks"]["export"], second["tasks"]["export"])
    folders = {path.name: path for path in exports_dir(data).iterdir() if path.is_dir()}
    assert {"lines-csv", "lines-parquet", "news-csv", "news-parquet"} <= folders.keys()
    assert [] == [damage for folder in folders.values() for damage in damage_of_export(folder)]

"""The task `report` of the DAG `nightly` writes the pages of the last date, its week and its month."""

from pathlib import Path

import pytest

from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import performance_dir, published_database
from transit_etl.scheduling.steps import write_standard_reports


@pytest.mark.long
def test_the_standard_reports_are_written_where_people_look(
    rehearsed: Rehearsed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published_database(tmp_path).parent.mkdir(parents=True)
    published_database(tmp_path).hardlink_to(published_database(rehearsed.settings.data_dir))
    monkeypatch.setenv("TRANSIT_DATA_DIR", str(tmp_path))

    written = write_standard_reports()

    folder = performance_dir(tmp_path)
    names = ["2026-11-18", "2026-W47", "2026-11"]
    assert [str(folder / name / "index.html") for name in names] == [*written]
    assert all(answer.endswith(".") for answer in written.values())

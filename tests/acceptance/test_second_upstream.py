"""The published tables say what is true of a second upstream, whose cases are written by hand."""

from pathlib import Path

import duckdb
import pytest

from tests.acceptance.cases import CASES, HOURS, SCRIPT, START
from tests.acceptance.upstream import at, serving
from transit_etl import paths, warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

pytestmark = [
    pytest.mark.timeout(1800),
    pytest.mark.long,
    pytest.mark.exhaustive,
]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rehearse the script over HTTP, stage, build and publish it once."""
    folder = tmp_path_factory.mktemp("acceptance") / "data"
    with serving(SCRIPT) as base_url:
        settings = Settings(data_dir=folder, operator="second", base_url=base_url, status_interval_seconds=60)
        rehearse(settings, at(START), HOURS, only=("network", "timetables", "status", "news"))
    warehouse.build(settings)
    warehouse.publish(settings)
    return paths.published_database(folder)


def test_there_are_at_least_forty_cases() -> None:
    assert len(CASES) >= 40


@pytest.mark.parametrize("name", CASES)
def test_what_is_published_is_true(published: Path, name: str) -> None:
    case = CASES[name]
    with duckdb.connect(published, read_only=True) as connection:
        found = connection.execute(case.sql).fetchall()

    assert case.expected == found

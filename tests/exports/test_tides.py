"""TIDES packages are valid by the schemas of the standard, and a broken one is not."""

import csv
import json
from pathlib import Path

import duckdb
import pytest

from benchmarks.synthetic_year import FIRST, make_year
from benchmarks.validators import TIDES_DAMAGES, TIDES_SPECIFICATION, by_frictionless, with_damaged_table
from transit_etl.exports import Request, export
from transit_etl.paths import published_database
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one rehearsal for all


@pytest.fixture
def package(published: Settings) -> Path:
    """Export the rehearsed hours as TIDES; skip without the schemas of the standard."""
    if not TIDES_SPECIFICATION.exists():
        pytest.skip(f"the schemas of TIDES are not at {TIDES_SPECIFICATION}")
    return export(published, Request((), "tides", allows_incomplete=True)).folder


def test_a_package_is_valid_by_the_schemas_of_the_standard(package: Path) -> None:
    assert {} == by_frictionless(package).errors


@pytest.mark.parametrize(("old", "new", "error"), TIDES_DAMAGES)
def test_a_broken_package_is_refused(package: Path, tmp_path: Path, old: str, new: str, error: str) -> None:
    broken = with_damaged_table(package, tmp_path / "broken", "trips_performed", old, new)

    assert error in by_frictionless(broken).errors


def test_a_package_of_one_table_alone_is_valid(package: Path, tmp_path: Path) -> None:
    whole = with_damaged_table(package, tmp_path / "whole", "trips_performed", "", "")

    assert {} == by_frictionless(whole).errors


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("CC-BY-4.0", [{"path": "https://spdx.org/licenses/CC-BY-4.0", "title": "CC-BY-4.0"}]),
        ("Open to all", [{"path": "README.md", "title": "Open to all"}]),
        (None, None),
    ],
)
def test_a_package_says_who_publishes_it_and_under_which_licence(
    published: Settings, licence: str | None, expected: object
) -> None:
    settings = published.model_copy(update={"export_licence": licence})
    folder = export(settings, Request((), "tides", allows_incomplete=True)).folder

    descriptor = json.loads((folder / "datapackage.json").read_text())
    assert expected == descriptor.get("licenses")
    assert [{"title": "City of Tests", "role": "publisher"}] == descriptor["contributors"]
    if TIDES_SPECIFICATION.exists():
        assert {} == by_frictionless(folder).errors


def test_dates_follow_each_other_in_the_file_of_their_month(published: Settings, tmp_path: Path) -> None:
    year = Settings(data_dir=tmp_path / "year")
    make_year(published_database(published.data_dir), published_database(year.data_dir), FIRST, 3, 1)

    folder = export(year, Request((), "tides", allows_incomplete=True)).folder

    with (folder / f"stop_visits_{FIRST:%Y_%m}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["service_date"], row["trip_id_performed"], int(row["trip_stop_sequence"])) for row in rows]
    with duckdb.connect(published_database(year.data_dir), read_only=True) as connection:
        expected = connection.execute(
            "select service_date::varchar, count(*) from core.stop_visits group by 1 order by 1"
        ).fetchall()
    assert 3 == len(expected)
    assert expected == [(date, sum(key[0] == date for key in keys)) for date, _ in expected]
    assert keys == sorted(set(keys))

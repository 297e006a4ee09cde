"""TIDES packages are valid by the schemas of the standard, and a broken one is not."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from frictionless import Package

from benchmarks.synthetic_year import FIRST, make_year
from benchmarks.validators import TIDES_DAMAGES, by_frictionless, with_damaged_table
from tests.exports.conftest import change, settings_in
from tests.warehouse.rehearsed import DAY
from transit_exports import ExportError, ExportSettings, Request, export, plan
from transit_exports.validation import CHECKED_ROWS, errors_in_tides


@pytest.fixture
def package(published: ExportSettings) -> Path:
    """Export the rehearsed hours as TIDES."""
    return export(published, Request((), "tides", allows_incomplete=True)).folder


def rows(package: Path, table: str) -> list[dict[str, str]]:
    [file] = package.glob(f"{table}_2*.csv")
    with file.open(newline="") as text:
        return list(csv.DictReader(text))


def test_a_package_is_valid_by_the_schemas_in_it(package: Path) -> None:
    assert {} == by_frictionless(package).errors
    assert (
        Package.from_descriptor(str(package / "datapackage.json")).validate().valid
    )  # as anyone asks, without a network
    assert "CC-BY-4.0" in (package / "schemas" / "LICENSE.txt").read_text()


def test_trips_performed_are_those_seen_and_those_that_are_canceled(
    package: Path, published: ExportSettings
) -> None:
    with duckdb.connect(published.database, read_only=True) as connection:
        expected = connection.execute(
            "select trip_id_performed, outcome = 'not_run' from core.trips "
            "where n_live > 0 or outcome = 'not_run' order by 1"
        ).fetchall()
        [(n_unseen,)] = connection.execute(
            "select count(*) from core.trips where n_live = 0 and outcome != 'not_run'"
        ).fetchall()
    trips = rows(package, "trips_performed")

    assert n_unseen > 0
    assert expected == [
        (trip["trip_id_performed"], trip["schedule_relationship"] == "Canceled") for trip in trips
    ]


def test_an_actual_time_is_of_a_passage_that_was_observed(package: Path) -> None:
    quality = {
        (row["trip_id_performed"], row["trip_stop_sequence"]): (row["arrival_quality"], row["passed_at"])
        for row in rows(package, "stop_visit_evidence")
    }
    visits = rows(package, "stop_visits")

    assert any(kind == "estimated" and passed_at for kind, passed_at in quality.values())
    for visit in visits:
        kind, passed_at = quality[visit["trip_id_performed"], visit["trip_stop_sequence"]]
        observed_at = passed_at if kind in ("evidenced", "bounded") else ""
        assert [observed_at] * 2 == [visit["actual_arrival_time"], visit["actual_departure_time"]]
        assert observed_at or visit["schedule_relationship"] in ("Missing", "")


@pytest.mark.parametrize(("old", "new", "error"), TIDES_DAMAGES)
def test_a_broken_package_is_refused(package: Path, tmp_path: Path, old: str, new: str, error: str) -> None:
    broken = with_damaged_table(package, tmp_path / "broken", "trips_performed", old, new)

    assert error in by_frictionless(broken).errors


def test_a_package_in_which_frictionless_finds_an_error_is_refused_unless_it_is_asked_for(
    published: ExportSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    change(published, "update core.stop_visits set stop_sequence = -1 where position = 1")
    asked = Request((), "tides", allows_incomplete=True)

    report = export(published, asked)

    manifest = json.loads((report.folder / "manifest.json").read_text())
    [error] = manifest["errors"]
    column = f"stop_visits_{DAY:%Y_%m}.scheduled_stop_sequence"
    assert error.startswith(f"frictionless: constraint-error in {column}, ")
    assert error in report.incomplete
    assert f"- {error}" in (report.folder / "README.md").read_text()
    monkeypatch.setattr(plan, "what_is_missing", lambda *_: [])  # the hours are too few
    with pytest.raises(ExportError, match=r"is not valid \(frictionless: .*--allow-incomplete"):
        export(published, replace(asked, allows_incomplete=False))


def test_a_package_without_errors_says_how_many_rows_of_a_file_were_checked(package: Path) -> None:
    manifest = json.loads((package / "manifest.json").read_text())

    assert [] == manifest["errors"]
    assert any(f"the first {CHECKED_ROWS:,} rows of each file" in note for note in manifest["notes"])
    assert "the first 5,000 rows of each file" in (package / "README.md").read_text()


def test_every_error_in_the_checked_rows_is_counted(package: Path) -> None:
    [file] = package.glob("passage_estimates_2*.csv")
    heading, *lines = file.read_text().splitlines()
    lines *= 1 + 1_100 // len(lines)
    file.write_text("\n".join([heading, *(f"x{line}" for line in lines)]))

    found = errors_in_tides(package, 1_100)

    assert f"frictionless: type-error in {file.stem}.service_date, 1100 times" in found


def test_rows_after_the_first_ones_are_not_checked(package: Path) -> None:
    [file] = package.glob("trips_performed_2*.csv")
    before, _, last = file.read_text().rpartition(",unknown,")
    file.write_text(f"{before},,{last}")
    n_rows = len(rows(package, "trips_performed"))

    assert [] == errors_in_tides(package, n_rows - 1)
    error = f"frictionless: constraint-error in {file.stem}.vehicle_id, 1 times"
    assert [error] == errors_in_tides(package, n_rows)


def test_a_package_of_one_table_alone_is_valid(package: Path, tmp_path: Path) -> None:
    whole = with_damaged_table(package, tmp_path / "whole", "trips_performed", "", "")

    assert {} == by_frictionless(whole).errors


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("CC-BY-4.0", [{"path": "https://spdx.org/licenses/CC-BY-4.0", "title": "CC-BY-4.0"}]),
        ("Open to all", [{"path": "README.md", "title": "Open to all"}]),
        ("not stated", None),
    ],
)
def test_a_package_says_who_publishes_it_and_under_which_licence(
    published: ExportSettings, licence: str, expected: object
) -> None:
    settings = replace(published, licence=licence)
    folder = export(settings, Request((), "tides", allows_incomplete=True)).folder

    descriptor = json.loads((folder / "datapackage.json").read_text())
    assert expected == descriptor.get("licenses")
    assert [{"title": "City of Tests", "role": "publisher"}] == descriptor["contributors"]
    assert {} == by_frictionless(folder).errors


def test_dates_follow_each_other_in_the_file_of_their_month(
    published: ExportSettings, tmp_path: Path
) -> None:
    year = settings_in(tmp_path / "year")
    make_year(published.database, year.database, FIRST, 3, 1)

    folder = export(year, Request((), "tides", allows_incomplete=True)).folder

    with (folder / f"stop_visits_{FIRST:%Y_%m}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["service_date"], row["trip_id_performed"], int(row["trip_stop_sequence"])) for row in rows]
    with duckdb.connect(year.database, read_only=True) as connection:
        expected = connection.execute(
            "select service_date::varchar, count(*) from core.stop_visits "
            "where trip_key in (select trip_key from core.trips where n_live > 0) group by 1 order by 1"
        ).fetchall()
    assert 3 == len(expected)
    assert expected == [(date, sum(key[0] == date for key in keys)) for date, _ in expected]
    assert keys == sorted(set(keys))

"""TIDES packages are valid by the schemas of the standard, and a broken one is not."""

import csv
import json
from pathlib import Path

import duckdb
import pytest
from frictionless import Package, Report, system

from transit_etl.exports import Request, export
from transit_etl.paths import published_database
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one rehearsal for all
SPECIFICATION = Path(__file__).parents[3] / "shared" / "tides" / "spec"


def validated(folder: Path) -> Report:
    """Validate a package with frictionless, by the files of the standard instead of their addresses."""
    package = json.loads((folder / "datapackage.json").read_text())
    package["profile"] = str(SPECIFICATION / "tides-datapackage-profile.json")
    for resource in package["resources"]:
        if resource["schema"].startswith("https://"):
            resource["schema"] = str(SPECIFICATION / resource["schema"].rpartition("/")[2])
    with system.use_context(trusted=True):
        report: Report = Package.from_descriptor(package, basepath=str(folder)).validate()
    return report


@pytest.fixture
def package(published: Settings) -> Path:
    """Export the rehearsed hours as TIDES; skip without the schemas of the standard."""
    if not SPECIFICATION.exists():
        pytest.skip(f"the schemas of TIDES are not at {SPECIFICATION}")
    return export(published, Request((), "tides", allows_incomplete=True)).folder


def test_a_package_is_valid_by_the_schemas_of_the_standard(package: Path) -> None:
    report = validated(package)

    assert report.valid, report.flatten(["title", "message"])
    names = {task.name.rsplit("_", 2)[0] if task.name[-1].isdigit() else task.name for task in report.tasks}
    assert {"stop_visits", "trips_performed", "stop_visit_evidence", "passage_estimates", "vehicles"} == names


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("Scheduled", "Perhaps", "constraint-error"),
        (",unknown,", ",,", "constraint-error"),
        ("Z,", "Y,", "type-error"),
        ("trip_id_performed", "trip", "incorrect-label"),
    ],
)
def test_a_broken_package_is_refused(package: Path, old: str, new: str, error: str) -> None:
    [file] = package.glob("trips_performed_*.csv")
    file.write_text(file.read_text().replace(old, new, 1))

    report = validated(package)

    assert error in {found for (found,) in report.flatten(["type"])}


def test_each_visit_belongs_to_a_trip_and_has_its_evidence(package: Path) -> None:
    visits = keys(package, "stop_visits", 3)

    assert visits == keys(package, "stop_visit_evidence", 3)
    assert {key[:2] for key in visits} == keys(package, "trips_performed", 2)


def test_each_passage_due_has_an_estimate_of_a_trip_that_was_scheduled(
    package: Path, published: Settings
) -> None:
    estimates = keys(package, "passage_estimates", 3)

    with duckdb.connect(published_database(published.data_dir), read_only=True) as connection:
        [(n_due,)] = connection.sql("select count(*) from core.trip_trajectories").fetchall()
    assert n_due == len(estimates) > 0
    [trips] = package.glob("trips_performed_2*.csv")
    with trips.open(encoding="utf-8") as file:
        performed = {row["trip_id_scheduled"] for row in csv.DictReader(file)} - {""}
    assert performed & {trip for _, trip, _ in estimates}


def keys(package: Path, table: str, n_columns: int) -> set[tuple[str, ...]]:
    lines = [line for file in package.glob(f"{table}_2*.csv") for line in file.read_text().splitlines()[1:]]
    return {tuple(line.split(",")[:n_columns]) for line in lines}

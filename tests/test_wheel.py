"""What is installed without a checkout has the rules and the models with it."""

import zipfile
from pathlib import Path

import pytest

from tests.documents.sessions import ROOT
from tests.wheels import wheel

__all__ = ["wheel"]


@pytest.fixture(scope="module")
def packed(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


@pytest.mark.parametrize(
    ("kept_in", "pattern", "packed_in"),
    [
        (ROOT, "transit_base/**/*.py", ""),
        (ROOT, "transit_estimates/**/*.py", ""),
        (ROOT, "transit_etl/**/*.py", ""),
        (ROOT, "transit_emulator/**/*.py", ""),
        (ROOT, "transit_airflow/**/*.py", ""),
        (ROOT, "transit_airflow/templates/*.*", ""),
        (ROOT, "transit_reports/**/*.py", ""),
        (ROOT, "transit_reports/sql/*.sql", ""),
        (ROOT, "transit_reports/templates/*.*", ""),
        (ROOT, "transit_exports/**/*.py", ""),
        (ROOT, "transit_exports/sql/*.sql", ""),
        (ROOT, "transit_exports/style/*.*", ""),
        (ROOT, "transit_exports/templates/*.*", ""),
        (ROOT, "transit_exports/tides_specification/*.*", ""),
        (ROOT, "transit_etl/stage/sql/*.sql", ""),
        (ROOT, "transit_etl/stage/templates/*.*", ""),
        (ROOT, "expectations/*.json", "transit_etl/"),
        (ROOT, "sql/models/**/*.*", "transit_etl/"),
        (ROOT, "sql/seeds/*.*", "transit_etl/"),
        (ROOT, "sql/*.yml", "transit_etl/"),
    ],
)
def test_a_wheel_holds_the_code_its_rules_and_its_models(
    packed: set[str], kept_in: Path, pattern: str, packed_in: str
) -> None:
    expected = {f"{packed_in}{path.relative_to(kept_in).as_posix()}" for path in kept_in.glob(pattern)}

    assert expected
    assert expected <= packed


def test_a_wheel_holds_neither_data_nor_tests(packed: set[str]) -> None:
    folders = {name.split("/")[0] for name in packed if ".dist-info/" not in name}

    assert {
        "transit_base",
        "transit_estimates",
        "transit_etl",
        "transit_exports",
        "transit_reports",
        "transit_airflow",
        "transit_emulator",
    } == folders
    assert not any("/target/" in name or "/logs/" in name for name in packed)

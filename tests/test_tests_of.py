"""Every folder of the project has tests, and every test file is about one of them."""

from pathlib import Path

import pytest

from scripts import tests_of
from scripts.tests_of import covered_by, covering, folders


def test_every_folder_has_a_test() -> None:
    assert len(folders()) > 30
    assert [] == [folder for folder in folders() if not covering(folder)]


def test_every_test_file_is_about_a_folder() -> None:
    assert len(tests_of.test_files()) > 100
    assert [] == [str(test) for test in tests_of.test_files() if not covered_by(test)]


def test_a_folder_has_the_tests_that_import_it_name_it_or_read_its_tables() -> None:
    assert "transit_etl/collect/allowance" in covered_by(Path("tests/collect/allowance/test_budget.py"))
    assert {"deploy", "dags"} <= covered_by(Path("tests/deploy/test_systemd.py"))
    assert "sql/analyses" in covered_by(Path("tests/warehouse/test_recipes.py"))
    assert "sql/models/facts" in covered_by(Path("tests/warehouse/test_visits.py"))
    assert "transit_etl" not in covered_by(Path("tests/warehouse/test_recipes.py"))


def test_the_tests_of_a_folder_are_listed_for_pytest(capsys: pytest.CaptureFixture[str]) -> None:
    tests_of.main(["transit_etl/stage/"])

    listed = capsys.readouterr().out.splitlines()
    assert "tests/stage/test_lake.py" in listed
    assert [str(test) for test in covering("transit_etl/stage")] == listed

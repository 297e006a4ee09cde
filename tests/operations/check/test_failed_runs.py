"""What `check` says of Airflow's runs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from transit_etl.operations.check import Problem, failed_runs

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)

FAILED, LATE = Problem("failed_warehouse_build", "the task failed"), Problem("late_check", "it has not ended")


def test_each_problem_is_found_until_it_is_over(tmp_path: Path) -> None:
    failed_runs.remember_failure(tmp_path, FAILED, NOW)
    failed_runs.remember_failure(tmp_path, LATE, NOW)
    failed_runs.forget_failures(tmp_path, "late_check")

    assert [FAILED] == list(failed_runs.problems(tmp_path, NOW))


def test_a_problem_that_comes_again_is_found_once_as_it_was_last(tmp_path: Path) -> None:
    failed_runs.remember_failure(tmp_path, Problem(FAILED.name, "before"), NOW)
    failed_runs.remember_failure(tmp_path, FAILED, NOW)

    assert [FAILED] == list(failed_runs.problems(tmp_path, NOW))


def test_a_damaged_file_counts_as_none(tmp_path: Path) -> None:
    failed_runs.remember_failure(tmp_path, FAILED, NOW)
    (tmp_path / "state" / "runs.json").write_text("[]")

    assert [] == list(failed_runs.problems(tmp_path, NOW))


def test_nothing_is_written_where_nothing_was_wrong(tmp_path: Path) -> None:
    failed_runs.forget_failures(tmp_path, "late_check")

    assert [] == list(tmp_path.iterdir())


def test_what_nobody_says_again_is_forgotten_as_its_dag_may_be_gone(tmp_path: Path) -> None:
    failed_runs.remember_failure(tmp_path, FAILED, NOW)
    failed_runs.remember_failure(tmp_path, LATE, NOW)
    failed_runs.remember_failure(tmp_path, FAILED, NOW + timedelta(days=5))

    assert [FAILED] == list(failed_runs.problems(tmp_path, NOW + timedelta(days=10)))

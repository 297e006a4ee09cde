"""What people are told of tasks that fail and of runs that do not end."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from scripts.local_airflow import BIN, PROGRAMS, environment, new_password, set_up
from scripts.stack import Stack, without_settings
from tests.dags.conftest import RunDag
from tests.operations.check.receivers import web_server
from transit_emulator.process import free_port
from transit_etl.operations.check import failed_runs
from transit_etl.scheduling.run_alerts import end_of_lateness, run_failed, task_failed, task_succeeded

LONGEST_SECONDS = 300
TWO_DAGS = """
from datetime import timedelta
from airflow.sdk import DeltaTriggerTimetable, dag, task
from transit_etl.scheduling.run_alerts import stopped_after

@dag(schedule=DeltaTriggerTimetable(timedelta(seconds=5)), max_active_runs=1, catchup=False,
     **stopped_after(timedelta(seconds=5)))
def hanging():
    @task
    def hang():
        import time
        time.sleep(3600)
    hang()

hanging()

@dag(schedule=DeltaTriggerTimetable(timedelta(seconds=5)), max_active_runs=1, catchup=False,
     **stopped_after(timedelta(minutes=10)))
def failing():
    @task
    def fail():
        raise ValueError
    fail()

failing()
"""


@pytest.fixture(autouse=True)
def data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return the data folder that the callbacks find."""
    monkeypatch.setenv("TRANSIT_DATA_DIR", str(tmp_path))
    monkeypatch.delenv("TRANSIT_ALERT_URLS", raising=False)
    return tmp_path


def context(task: str, part: str | None = None, error: str = "out of memory") -> dict[str, Any]:
    instance = SimpleNamespace(dag_id="exports", task_id=task, rendered_map_index=part)
    return {"ti": instance, "exception": RuntimeError(error)}


def names(data: Path) -> set[str]:
    return {problem.name for problem in failed_runs.problems(data, datetime.now(UTC))}


def late(dag: str = "exports", reason: str = "timed_out") -> None:
    run_failed({"dag": SimpleNamespace(dag_id=dag, dagrun_timeout=timedelta(minutes=3)), "reason": reason})


def test_a_failed_task_is_a_problem_in_one_line_until_it_succeeds(data: Path) -> None:
    task_failed(context("due", error="the disk\n is full"))
    (found,) = failed_runs.problems(data, datetime.now(UTC))
    task_succeeded(context("due"))

    assert "failed_exports_due" == found.name
    assert found.text.endswith("failed: the disk is full")
    assert set() == names(data)


def test_each_part_of_a_mapped_task_is_a_problem_of_its_own(data: Path) -> None:
    task_failed(context("export", "visits-csv"))
    task_failed(context("export", "visits-parquet"))
    task_succeeded(context("export", "visits-csv"))

    assert {"failed_exports_export_visits-parquet"} == names(data)


def test_a_run_that_was_stopped_is_told_at_once_and_not_again(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    with web_server() as (url, titles):
        monkeypatch.setenv("TRANSIT_ALERT_URLS", url)
        late()
        late()

    assert ["late_exports"] == titles
    (found,) = failed_runs.problems(data, datetime.now(UTC))
    assert found.text.startswith("a run of the DAG exports was stopped: it had not ended within 3 minutes")


def test_nothing_is_told_of_a_run_whose_task_failed(data: Path) -> None:
    late(reason="task_failure")  # the task has said so, or it is `check`

    assert set() == names(data)


def test_what_was_told_before_is_not_over_because_a_run_is_late(
    monkeypatch: pytest.MonkeyPatch, data: Path
) -> None:
    with web_server() as (url, titles):
        monkeypatch.setenv("TRANSIT_ALERT_URLS", url)
        late("warehouse")
        end_of_lateness("warehouse")
        late()

    assert ["late_warehouse", "late_exports"] == titles
    assert {"late_exports"} == names(data)


@pytest.mark.parametrize("ends", [task_failed, task_succeeded])
def test_a_run_of_which_a_task_ended_is_late_no_longer(data: Path, ends: Any) -> None:  # noqa: ANN401
    late()
    ends(context("due"))

    assert "late_exports" not in names(data)


@pytest.mark.long
def test_a_task_that_fails_in_airflow_is_a_problem(run_dag: RunDag, tmp_path: Path) -> None:
    run_dag("warehouse")

    (found,) = failed_runs.problems(tmp_path / "data", datetime.now(UTC))
    assert "failed_warehouse_build" == found.name
    assert "EmptyLakeError" not in found.text
    assert "the lake" in found.text


@contextmanager
def airflow_with(text: str, folder: Path, **settings: str) -> Iterator[None]:
    """Run all programs of an Airflow whose DAGs are a text."""
    dags, stack = folder / "dags", Stack(folder / "programs")
    dags.mkdir()
    (dags / "only.py").write_text(text)
    env = environment(folder / "airflow", {**without_settings(folder), **settings}, port=free_port())
    env["AIRFLOW__CORE__DAGS_FOLDER"] = str(dags)
    set_up(env)
    new_password(folder / "airflow")
    try:
        for name, words in PROGRAMS.items():
            stack.start(name, [BIN / "airflow", *words], env)
        yield
    finally:
        stack.stop(grace_seconds=10)


@pytest.mark.long
def test_airflow_tells_of_a_run_that_does_not_end_and_of_none_that_has_failed(tmp_path: Path) -> None:
    with (
        web_server() as (url, titles),
        airflow_with(TWO_DAGS, tmp_path, TRANSIT_DATA_DIR=str(tmp_path / "data"), TRANSIT_ALERT_URLS=url),
    ):
        give_up_at = time.monotonic() + LONGEST_SECONDS
        while not titles and time.monotonic() < give_up_at:
            time.sleep(1)
        time.sleep(25)  # runs fail meanwhile

    assert ["late_hanging"] == titles
    assert "late_hanging" in json.loads((tmp_path / "data" / "state" / "runs.json").read_text())

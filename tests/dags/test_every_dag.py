"""What holds for every DAG, read from the files as Airflow reads them."""

import subprocess
import sys
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from airflow.dag_processing.dagbag import DagBag
from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, Asset, TriggerRule, timezone
from airflow.serialization.encoders import coerce_to_core_timetable
from airflow.timetables.base import TimeRestriction

from tests.dags.conftest import DAGS
from tests.dags.runs import a_run
from transit_etl.endpoints import CADENCES
from transit_etl.scheduling.dag_parts import LONG_WORK, plainly_failing
from transit_etl.scheduling.polling import poll_window, window_timeout
from transit_etl.scheduling.run_alerts import run_failed
from transit_etl.scheduling.schedules import WAREHOUSE_POOL
from transit_etl.settings import load_settings

NAMES = sorted(path.stem for path in DAGS.glob("*.py"))
COLLECTING = ["legacy_v0", "network", "news", "passages", "status", "timetables"]
POLLING = ["passages", "status"]
FOR_OTHERS = {"report"}  # assets that DAGs of others may wait for
READING = {"report"}  # tasks that write neither lake nor warehouse
LISTS = [dag for dag, cadence in CADENCES.items() if cadence.every]
NEXT = {
    "legacy_v0": "warehouse",
    "network": "warehouse",
    "news": "warehouse",
    "passages": "staging",
    "staging": "warehouse",
    "status": "staging",
    "sync": "warehouse",
    "timetables": "warehouse",
    "warehouse": "exports",
}


@pytest.fixture(scope="module")
def bag() -> DagBag:
    return DagBag(str(DAGS))


@pytest.fixture
def dag(bag: DagBag, name: str) -> DAG:
    return bag.dags[name]


def awaited(dag: DAG) -> set[str]:
    """Return the names of the assets whose events start a DAG."""
    condition = getattr(coerce_to_core_timetable(dag.timetable), "asset_condition", None)
    return {key.name for key, _ in condition.iter_assets()} if condition else set()


def produced(dag: DAG) -> set[str]:
    return {asset.name for task in dag.tasks for asset in task.outlets if isinstance(asset, Asset)}


def test_every_file_is_one_dag_of_its_name(bag: DagBag) -> None:
    assert {} == bag.import_errors
    assert sorted(bag.dags) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_what_it_does_what_a_failure_means_and_what_to_do(dag: DAG) -> None:
    page = dag.doc_md or ""

    assert page.startswith(f"# {dag.dag_id}: ")
    for part in ("What it does.", "What a failure means.", "What to do.", "What not to do."):
        assert f"**{part}**" in page


@pytest.mark.parametrize("name", NAMES)
def test_its_card_says_in_one_sentence_what_it_does(dag: DAG) -> None:
    heading = (dag.doc_md or "").splitlines()[0]

    assert heading == f"# {dag.dag_display_name}."
    assert heading.lower() == f"# {dag.dag_id}: {dag.description}".lower()


@pytest.mark.parametrize("name", NAMES)
def test_every_task_with_a_body_fails_plainly(dag: DAG) -> None:
    bodies = [getattr(task, "python_callable", None) for task in dag.tasks]  # mapped tasks have one too

    assert {plainly_failing(len).__code__} == {body.__code__ for body in bodies if body}


@pytest.mark.parametrize("name", NAMES)
def test_no_failed_run_is_listed_as_a_missed_deadline(dag: DAG) -> None:
    assert not dag.deadline  # Airflow forgets the deadlines of successful runs alone


@pytest.mark.parametrize("name", NAMES)
def test_it_has_an_owner_and_a_tag_and_does_not_catch_up(dag: DAG) -> None:
    assert dag.owner == "transit-etl"
    assert dag.tags
    assert dag.catchup is False


@pytest.mark.parametrize("name", NAMES)
def test_one_run_is_active_at_a_time_and_of_a_polling_dag_also_the_next_and_a_dead_one(dag: DAG) -> None:
    expected = 3 if dag.dag_id in POLLING else 1

    assert expected == dag.max_active_runs


@pytest.mark.parametrize("name", NAMES)
def test_a_polling_task_that_died_is_started_again_within_seconds(dag: DAG) -> None:
    for task in dag.tasks:
        is_polling = dag.dag_id in POLLING and task.task_id == "collect"

        assert bool(task.retries) == (dag.dag_id != "check")  # which runs again within a minute
        assert is_polling == (task.retry_delay < timedelta(minutes=1))


@pytest.mark.parametrize("name", NAMES)
def test_every_task_has_a_time_limit_longer_than_a_window(dag: DAG) -> None:
    window = timedelta(seconds=load_settings().window_seconds)
    longest = LONG_WORK if dag.dag_id in {"warehouse", "nightly", "exports"} else timedelta(hours=1)
    for task in dag.tasks:
        assert task.execution_timeout is not None
        assert window < task.execution_timeout <= longest


@pytest.mark.parametrize("name", COLLECTING)
def test_its_last_task_is_green_only_when_all_the_others_are(dag: DAG) -> None:
    last = dag.get_task("complete")

    assert [last] == dag.leaves
    assert isinstance(last, EmptyOperator)
    assert last.trigger_rule == TriggerRule.ALL_SUCCESS
    assert {task.task_id for task in dag.tasks} - {"complete"} == last.upstream_task_ids


@pytest.mark.parametrize("name", COLLECTING)
def test_landed_answers_are_staged_whether_or_not_the_collection_succeeded(dag: DAG) -> None:
    tasks = [task for task in dag.tasks if task.task_id.startswith(("stage", "landed"))]

    assert tasks
    assert {TriggerRule.ALL_DONE} == {task.trigger_rule for task in tasks}


def test_only_tasks_that_collect_leave_the_queue_of_the_warehouse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSIT_WAREHOUSE_QUEUE", "here")
    queues = {
        (name, task.task_id): task.queue
        for name, dag in DagBag(str(DAGS)).dags.items()
        for task in dag.tasks
        if not isinstance(task, EmptyOperator)
    }
    collecting = {name for name, queue in queues.items() if queue != "here"}

    assert {"default", "here"} == set(queues.values())
    assert collecting == {("network", name) for name in ("lines", "stops")} | {
        (name, "collect") for name in COLLECTING if name != "network"
    }


def test_without_a_queue_of_the_warehouse_all_tasks_are_in_that_of_airflow(bag: DagBag) -> None:
    assert {"default"} == {task.queue for dag in bag.dags.values() for task in dag.tasks}


@pytest.mark.parametrize(("name", "next_dag"), NEXT.items())
def test_the_next_dag_waits_for_what_it_makes(bag: DagBag, dag: DAG, next_dag: str) -> None:
    assert produced(dag)
    assert produced(dag) <= awaited(bag.dags[next_dag])


def test_every_awaited_asset_is_produced_and_every_produced_one_awaited(bag: DagBag) -> None:
    made = {name for dag in bag.dags.values() for name in produced(dag)}

    assert made - FOR_OTHERS == {name for dag in bag.dags.values() for name in awaited(dag)}
    assert made >= FOR_OTHERS


@pytest.mark.parametrize("name", POLLING)
def test_a_window_begins_at_the_instant_at_which_the_one_before_ends(dag: DAG) -> None:
    settings, timetable = load_settings(), coerce_to_core_timetable(dag.timetable)
    bounds = TimeRestriction(earliest=None, latest=None, catchup=False)
    first = timetable.next_dagrun_info(last_automated_data_interval=None, restriction=bounds)
    assert first is not None
    second = timetable.next_dagrun_info(last_automated_data_interval=first.data_interval, restriction=bounds)
    assert second is not None
    before, after = (
        poll_window(a_run(run_after=each.run_after), settings, each.run_after) for each in (first, second)
    )

    assert before.end == after.begin
    assert timedelta(seconds=settings.window_seconds) == before.end - before.begin
    assert timedelta(minutes=1) == after.begin - second.run_after
    assert first.logical_date != second.logical_date


@pytest.mark.parametrize("name", LISTS)
def test_a_list_is_collected_as_often_as_the_table_of_endpoints_says(dag: DAG) -> None:
    timetable = coerce_to_core_timetable(dag.timetable)
    bounds = TimeRestriction(earliest=timezone.parse("2026-03-02T00:00:00Z"), latest=None, catchup=True)
    at: list[datetime] = []
    interval = None
    for _ in range(3):
        info = timetable.next_dagrun_info(last_automated_data_interval=interval, restriction=bounds)
        assert info is not None
        interval = info.data_interval
        at.append(info.run_after)

    every = CADENCES[dag.dag_id].every
    assert every
    assert {every.total_seconds()} == {(later - earlier).total_seconds() for earlier, later in pairwise(at)}


@pytest.mark.parametrize("name", ["warehouse", "nightly"])
def test_tasks_that_rewrite_lake_or_warehouse_run_one_at_a_time(dag: DAG) -> None:
    assert {WAREHOUSE_POOL} == {task.pool for task in dag.tasks if task.task_id not in READING}


def test_an_outage_is_looked_for_every_minute(bag: DagBag) -> None:
    timetable = coerce_to_core_timetable(bag.dags["check"].timetable)
    bounds = TimeRestriction(earliest=None, latest=None, catchup=False)
    first = timetable.next_dagrun_info(last_automated_data_interval=None, restriction=bounds)
    assert first is not None
    second = timetable.next_dagrun_info(last_automated_data_interval=first.data_interval, restriction=bounds)
    assert second is not None

    assert timedelta(minutes=1) == second.run_after - first.run_after
    assert second.logical_date is not None  # else the first page of Airflow does not count its failures


@pytest.mark.parametrize("name", ["check", "exports", "nightly", "warehouse"])
def test_a_run_that_does_not_end_is_stopped_and_people_are_told(dag: DAG) -> None:
    assert dag.dagrun_timeout
    assert run_failed == dag.on_failure_callback


@pytest.mark.parametrize("name", ["exports", "nightly", "warehouse"])
def test_people_are_told_of_each_task_that_fails(dag: DAG) -> None:
    for task in dag.tasks:
        assert task.on_failure_callback
        assert task.on_success_callback


def test_only_the_dag_of_the_deprecated_version_is_paused_at_first(bag: DagBag) -> None:
    paused = {name for name, dag in bag.dags.items() if dag.is_paused_upon_creation}

    assert {"legacy_v0"} == paused


TWO_OPERATORS = """
[genova]
base_url = "https://genova.test/api/v1/"

[boston]
base_url = "https://boston.test/api/v1/"
timezone = "America/New_York"
window_seconds = 300
"""


def test_each_operator_of_a_project_has_its_own_collecting_dags_and_all_have_the_others_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "operators.toml").write_text(TWO_OPERATORS)
    monkeypatch.setenv("TRANSIT_PROJECT_DIR", str(tmp_path))
    found = DagBag(str(DAGS))
    own = {f"{name}_{operator}" for name in COLLECTING for operator in ("genova", "boston")}
    timetable = coerce_to_core_timetable(found.dags["network_boston"].timetable)
    made = {name for dag in found.dags.values() for name in produced(dag)}

    assert {} == found.import_errors
    assert (set(NAMES) - set(COLLECTING)) | own == set(found.dags)
    assert {"raw/boston/passages"} == produced(found.dags["passages_boston"])
    assert {"lake/genova/network"} == awaited(found.dags["timetables_genova"])
    assert made - FOR_OTHERS == {name for dag in found.dags.values() for name in awaited(dag)}
    assert "America/New_York" == timetable.serialize()["timezone"]
    longest = found.dags["passages_boston"].get_task("collect").execution_timeout
    assert longest == window_timeout(load_settings(operator="boston"))
    assert longest < window_timeout(load_settings(operator="genova"))
    assert found.dags["passages_boston"].dag_display_name.startswith("passages boston: ")
    assert {str(DAGS / "passages.py")} == {
        found.dags[f"passages_{operator}"].fileloc for operator in ("genova", "boston")
    }


def test_parsing_loads_none_of_the_heavy_libraries() -> None:
    program = (
        "import sys\n"
        "from airflow.dag_processing.dagbag import DagBag\n"
        f"bag = DagBag({str(DAGS)!r})\n"
        "heavy = {'great_expectations', 'dbt', 'duckdb', 'pandas', 'pyarrow', 'numpy'}\n"
        "print(len(bag.dags), sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120
    )

    assert f"{len(NAMES)} []" == done.stdout.splitlines()[-1]

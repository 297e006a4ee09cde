"""Airflow and dbt tell a receiver of OpenLineage events what ran, dbt as a part of its task."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.lineage_receiver import receiving
from tests.warehouse.lakes import Lake, Listed
from transit_emulator.process import free_port

RunDag = Callable[..., dict[str, Any]]
pytestmark = [pytest.mark.long, pytest.mark.exhaustive, pytest.mark.timeout(900)]


def test_a_task_and_the_models_it_builds_are_told(run_dag: RunDag, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "data", "emulated", date(2026, 11, 10))
    lake.poll("1001", "12:00", Listed("T1", "12:01:00"))
    lake.write()
    with receiving() as (url, events):
        result = run_dag("warehouse", OPENLINEAGE_URL=url)
    started = [event for event in events if event["eventType"] == "START"]
    [task] = [event for event in started if event["job"]["name"] == "warehouse.build"]
    [of_dbt] = [event for event in started if event["job"]["name"] == "dbt-run-transit"]

    assert "success" == result["state"]
    assert task["run"]["runId"] == of_dbt["run"]["facets"]["parent"]["run"]["runId"]
    assert {"warehouse.build", "warehouse.publish"} <= {
        event["job"]["name"] for event in events if event["eventType"] == "COMPLETE"
    }
    assert any(event["job"]["name"].endswith(".stop_visits.build.run") for event in events)


def test_a_receiver_that_is_not_there_fails_no_run(run_dag: RunDag) -> None:
    result = run_dag("staging", OPENLINEAGE_URL=f"http://127.0.0.1:{free_port()}")

    assert "success" == result["state"]

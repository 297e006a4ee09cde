"""What DAG runs do for a backfill, a late start, a dead upstream or a killed task."""

import json
import re
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk.types import DagRunProtocol

from tests.collect.helpers import rows
from tests.dags.runs import NOW, a_run
from tests.hostile import http, json_reply, serving
from tests.stage.landing import Folder, line, passage
from tests.stage.landing import answer as passages
from transit_emulator.process import free_port
from transit_etl.collect import CollectReport
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.scheduling import polling
from transit_etl.scheduling.polling import (
    CollectionError,
    NotNowError,
    WindowLostError,
    patience_seconds,
    poll,
    poll_window,
    refuse_other_moments,
    usable,
    within_its_window,
)
from transit_etl.scheduling.steps import NotAcceptedError, stage_collected
from transit_etl.settings import Settings, load_settings

RunDag = Callable[..., dict[str, Any]]


def report(dataset: str, **outcomes: int) -> CollectReport:
    return CollectReport(
        dataset=dataset,
        planned=sum(outcomes.values()),
        sent=sum(outcomes.values()),
        outcomes=outcomes,
        seconds=1.0,
        allowance_share=0.5,
        windows=[],
        recovered=[],
        warnings=[],
        received=0,
    )


@pytest.fixture
def dead_upstream() -> str:
    """Return a base address that no server listens at."""
    return f"http://127.0.0.1:{free_port()}/api/v1/"


@pytest.mark.parametrize("dataset", ["passages", "status", "network", "news"])
def test_a_backfill_asks_nothing(dataset: str) -> None:
    with pytest.raises(NotNowError, match=f"{dataset} cannot be backfilled"):
        refuse_other_moments(a_run(run_type="backfill"), dataset, NOW)


def test_a_run_started_by_hand_for_yesterday_asks_nothing() -> None:
    yesterday = a_run(run_type="manual", logical_date=NOW - timedelta(days=1))

    with pytest.raises(NotNowError, match="cannot be collected for 2026-03-01 08:00"):
        refuse_other_moments(yesterday, "passages", NOW)


@pytest.mark.parametrize("logical_date", [None, NOW, NOW - timedelta(minutes=5)])
def test_a_run_started_by_hand_for_now_may_ask(logical_date: datetime | None) -> None:
    refuse_other_moments(a_run(run_type="manual", logical_date=logical_date), "passages", NOW)


def test_a_scheduled_run_may_ask_even_if_the_dag_was_paused_for_days() -> None:
    refuse_other_moments(a_run(logical_date=NOW - timedelta(days=3)), "passages", NOW)


@pytest.mark.parametrize("dataset", ["passages", "status"])
def test_a_window_that_is_over_is_not_polled_again(dataset: str) -> None:
    with pytest.raises(NotNowError, match=f"this window of {dataset} is over"):
        refuse_other_moments(a_run(clear_number=1), dataset, NOW)


def test_a_scheduled_window_begins_a_minute_after_its_run_is_due() -> None:
    window = poll_window(a_run(), Settings(window_seconds=600), NOW + timedelta(seconds=17))

    assert (NOW + timedelta(seconds=60), NOW + timedelta(seconds=660)) == (window.begin, window.end)


def test_a_short_window_is_prepared_for_half_its_length() -> None:
    window = poll_window(a_run(), Settings(window_seconds=30), NOW)

    assert NOW + timedelta(seconds=15) == window.begin


def test_a_window_started_by_hand_begins_at_once() -> None:
    window = poll_window(a_run(run_type="manual"), Settings(window_seconds=30), NOW)

    assert (NOW, NOW + timedelta(seconds=30)) == (window.begin, window.end)


def poll_as(run: DagRunProtocol, monkeypatch: pytest.MonkeyPatch, **settings: str) -> dict[str, int]:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(polling, "current_run", lambda: run)
    return poll("status", load_settings().operator)


def test_a_run_that_comes_too_late_asks_nothing_and_is_not_retried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = a_run(run_after=datetime.now(UTC) - timedelta(minutes=30))

    with pytest.raises(NotNowError, match="this window of status ended at"):
        poll_as(run, monkeypatch, TRANSIT_DATA_DIR=str(tmp_path))
    assert [] == list(tmp_path.iterdir())


def test_a_task_that_is_tried_again_polls_for_the_rest_of_its_window(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = a_run(run_after=datetime.now(UTC) - timedelta(seconds=5))
    end = run.run_after + timedelta(seconds=3 + 6)  # half a window to prepare, and the window
    with serving(lambda _: json_reply({"stato": []})) as base_url:
        outcomes = poll_as(
            run,
            monkeypatch,
            TRANSIT_DATA_DIR=str(tmp_path),
            TRANSIT_BASE_URL=base_url,
            TRANSIT_WINDOW_SECONDS="6",
        )

    assert outcomes["ok"] >= 1
    assert datetime.now(UTC) >= end
    assert [] == [row for row in rows(tmp_path) if datetime.fromisoformat(row["planned_at"]) >= end]


def test_a_window_without_an_answer_is_lost_and_not_retried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, dead_upstream: str
) -> None:
    run = a_run(run_after=datetime.now(UTC) - timedelta(seconds=5))

    with pytest.raises(WindowLostError, match="no usable answer for status"):
        poll_as(
            run,
            monkeypatch,
            TRANSIT_DATA_DIR=str(tmp_path),
            TRANSIT_BASE_URL=dead_upstream,
            TRANSIT_WINDOW_SECONDS="6",
        )


@pytest.mark.long
def test_a_window_whose_upstream_goes_down_fails_before_its_end_and_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    replies = iter([json_reply({"stato": []})])
    with (
        serving(lambda _: next(replies, http(b"", "503 Service Unavailable"))) as base_url,
        pytest.raises(CollectionError, match="UPSTREAM DOWN: the window of status was given up"),
    ):
        poll_as(
            a_run(run_after=datetime.now(UTC) - timedelta(minutes=1)),
            monkeypatch,
            TRANSIT_DATA_DIR=str(tmp_path),
            TRANSIT_BASE_URL=base_url,
            TRANSIT_STATUS_INTERVAL_SECONDS="5",
            TRANSIT_DOWN_AFTER_SECONDS="5",
        )


def test_a_task_is_tried_again_until_its_window_ends_however_often_it_is_given_up() -> None:
    settings = load_settings()
    attempts = within_its_window(settings)

    assert attempts["retries"] * patience_seconds(settings) > settings.window_seconds


def test_a_failure_within_the_window_is_tried_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a file, in which no folder can be made")

    with pytest.raises(DataFolderError):
        poll_as(a_run(run_after=datetime.now(UTC)), monkeypatch, TRANSIT_DATA_DIR=f"{tmp_path}/file/data")


def test_a_list_may_be_asked_for_again() -> None:
    refuse_other_moments(a_run(clear_number=1), "lines", NOW)


def test_a_window_with_one_usable_answer_counts() -> None:
    assert {"ok": 1, "timeout": 9} == usable(report("passages", ok=1, timeout=9))


def test_a_window_without_a_usable_answer_fails_and_says_what_came() -> None:
    with pytest.raises(CollectionError, match="no usable answer for status: 3 empty_body, 1 timeout"):
        usable(report("status", empty_body=3, timeout=1))


def test_a_list_that_was_given_up_fails() -> None:
    with pytest.raises(CollectionError, match="the list of stops was given up"):
        usable(report("stops", ok=5, not_sent=9))


def test_a_window_may_end_with_requests_unsent() -> None:
    assert {"ok": 5, "not_sent": 1} == usable(report("passages", ok=5, not_sent=1))


def events(airflow_environment: dict[str, str], asset: str) -> list[dict[str, Any]]:
    """Return what the events of an asset tell, the last one at the end."""
    database = Path(airflow_environment["AIRFLOW_HOME"]) / "airflow.db"
    sql = "select e.extra from asset_event e join asset a on a.id = e.asset_id where a.name = ? order by e.id"
    with sqlite3.connect(database) as connection:
        return [json.loads(extra) for (extra,) in connection.execute(sql, [asset]).fetchall()]


@pytest.mark.long
def test_a_failed_collection_fails_the_run_and_what_was_landed_is_staged(
    run_dag: RunDag, airflow_environment: dict[str, str], dead_upstream: str, tmp_path: Path
) -> None:
    result = run_dag("status", TRANSIT_BASE_URL=dead_upstream, TRANSIT_WINDOW_SECONDS="6")

    assert {"collect": "failed", "landed": "success", "complete": "upstream_failed"} == result["tasks"]
    assert result["state"] == "failed"
    assert "no usable answer for status" in result["log"]
    assert "Task failed with exception" not in result["log"]  # which Airflow writes above a traceback
    assert "success" == run_dag("staging")["state"]
    assert list(tmp_path.glob("data/lake/operator=*/dataset=requests/date=*/*.parquet"))
    assert events(airflow_environment, "lake/status")[-1]["rows"]["requests"]


TWO_OPERATORS = """
[bari]
base_url = "https://bari.test/api/v1/"

[genova]
base_url = "https://genova.test/api/v1/"
"""


@pytest.mark.long
def test_what_one_operator_answers_badly_fails_the_run_and_publishes_the_others(
    run_dag: RunDag, airflow_environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "operators.toml").write_text(TWO_OPERATORS)
    landed = Folder(Settings(data_dir=tmp_path / "data"))
    unreadable = [passage(orario="presto") for _ in range(20)]
    landed.land("passages", [("0001", passages(*unreadable))], operator="bari")
    landed.land("passages", [("0001", passages(passage()))], operator="genova")
    result = run_dag("staging", TRANSIT_PROJECT_DIR=str(tmp_path))

    assert ("failed", {"stage": "success", "accepted": "failed"}) == (result["state"], result["tasks"])
    assert "clocks_mostly_read" in result["log"]
    assert events(airflow_environment, "lake/genova/passages")


def test_a_task_stages_what_its_operator_answered_and_is_not_failed_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "operators.toml").write_text(TWO_OPERATORS)
    monkeypatch.setenv("TRANSIT_PROJECT_DIR", str(tmp_path))
    landed = Folder(Settings(data_dir=tmp_path / "data"))
    for operator in ("bari", "genova"):
        landed.land("lines", [("", [] if operator == "bari" else [line("018-00")])], operator=operator)

    assert {"lines": 1} == {
        name: n for name, n in stage_collected("lines", "genova").items() if name == "lines"
    }
    with pytest.raises(NotAcceptedError, match="lines"):
        stage_collected("lines", "bari")


@pytest.mark.long
def test_a_run_for_an_older_date_sends_no_request(
    run_dag: RunDag, dead_upstream: str, tmp_path: Path
) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    result = run_dag("news", "--logical-date", yesterday, TRANSIT_BASE_URL=dead_upstream)

    assert "failed" == result["tasks"]["collect"]
    assert "news cannot be collected for" in result["log"]
    assert [] == list(tmp_path.glob("data/raw/**/*.zst"))


def test_all_programs_of_a_new_airflow_find_the_same_secrets(airflow_environment: dict[str, str]) -> None:
    written = (Path(airflow_environment["AIRFLOW_HOME"]) / "airflow.cfg").read_text()

    assert re.search(r"^jwt_secret = \S+", written, re.MULTILINE)

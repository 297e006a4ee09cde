"""What a run does when things are not as they should be."""

import socket
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from transit_etl.collect import CollectReport
from transit_etl.scheduling import CollectionError, NotNowError, refuse_other_moments, usable

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
RunDag = Callable[..., dict[str, Any]]


@dataclass
class ARun:
    """A DAG run as Airflow describes it to a task."""

    run_type: str = "scheduled"
    logical_date: datetime | None = NOW
    run_after: datetime = NOW
    clear_number: int | None = 0


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
    """Return a base address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{taken.getsockname()[1]}/api/v1/"


@pytest.mark.parametrize("dataset", ["passages", "status", "network", "news"])
def test_a_backfill_asks_nothing(dataset: str) -> None:
    with pytest.raises(NotNowError, match=f"{dataset} cannot be backfilled"):
        refuse_other_moments(ARun(run_type="backfill"), dataset, NOW)


def test_a_run_started_by_hand_for_yesterday_asks_nothing() -> None:
    yesterday = ARun(run_type="manual", logical_date=NOW - timedelta(days=1))

    with pytest.raises(NotNowError, match="cannot be collected for 2026-03-01 08:00"):
        refuse_other_moments(yesterday, "passages", NOW)


@pytest.mark.parametrize("logical_date", [None, NOW, NOW - timedelta(minutes=5)])
def test_a_run_started_by_hand_for_now_may_ask(logical_date: datetime | None) -> None:
    refuse_other_moments(ARun(run_type="manual", logical_date=logical_date), "passages", NOW)


def test_a_scheduled_run_may_ask_even_if_the_dag_was_paused_for_days() -> None:
    refuse_other_moments(ARun(logical_date=NOW - timedelta(days=3)), "passages", NOW)


@pytest.mark.parametrize("dataset", ["passages", "status"])
def test_a_window_that_is_over_is_not_polled_again(dataset: str) -> None:
    with pytest.raises(NotNowError, match=f"this window of {dataset} is over"):
        refuse_other_moments(ARun(clear_number=1), dataset, NOW)


def test_a_list_may_be_asked_for_again() -> None:
    refuse_other_moments(ARun(clear_number=1), "lines", NOW)


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


def test_a_failed_collection_fails_the_run_and_what_was_landed_is_staged(
    run_dag: RunDag, dead_upstream: str, tmp_path: Path
) -> None:
    result = run_dag("status", TRANSIT_BASE_URL=dead_upstream, TRANSIT_WINDOW_SECONDS="6")

    assert {"collect": "failed", "landed": "success", "complete": "upstream_failed"} == result["tasks"]
    assert result["state"] == "failed"
    assert "no usable answer for status" in result["log"]
    assert "success" == run_dag("staging")["state"]
    assert list(tmp_path.glob("data/lake/operator=*/dataset=requests/date=*/*.parquet"))


def test_a_run_for_an_older_date_sends_no_request(
    run_dag: RunDag, dead_upstream: str, tmp_path: Path
) -> None:
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat()
    result = run_dag("news", "--logical-date", yesterday, TRANSIT_BASE_URL=dead_upstream)

    assert "failed" == result["tasks"]["collect"]
    assert "news cannot be collected for" in result["log"]
    assert [] == list(tmp_path.glob("data/raw/**/*.zst"))

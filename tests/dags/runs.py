"""A DAG run as Airflow describes it to a task."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import cast

from airflow.sdk.types import DagRunProtocol

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


def a_run(
    *,
    run_type: str = "scheduled",
    logical_date: datetime | None = NOW,
    run_after: datetime = NOW,
    clear_number: int = 0,
) -> DagRunProtocol:
    """Return a scheduled run that is due now, unless said otherwise."""
    run = SimpleNamespace(
        run_type=run_type, logical_date=logical_date, run_after=run_after, clear_number=clear_number
    )
    return cast("DagRunProtocol", run)

"""A DAG run as Airflow describes it to a task."""

from dataclasses import dataclass
from datetime import UTC, datetime

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)


@dataclass
class ARun:
    """A scheduled run that is due now, unless said otherwise."""

    run_type: str = "scheduled"
    logical_date: datetime | None = NOW
    run_after: datetime = NOW
    clear_number: int | None = 0

"""# status: which disruptions, diversions and lift failures are announced, without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, 600 unless set): it asks for the service
status every `TRANSIT_STATUS_INTERVAL_SECONDS` (60 unless set). `landed` then hands the window to `staging`,
and the next run begins within seconds. An event has no end time in the interface: it ends by being listed
no longer, so how often it is asked for is how well the end is known.

**What a failure means.** `collect` red: the window brought no usable answer at all, or the process was
killed; the log says which. What it had received is in `data/raw`, and `landed` hands it over all the same.
`complete` is red whenever anything before it is.

**What to do.** Nothing for one red run: events that ended in the gap get wider bounds. When runs stay red:
`transit-etl status` tells what the upstream answers; look at it by hand.

**What not to do.** Do not retry, backfill or clear `collect`: its answers would be about another moment, so
it refuses.
"""

from datetime import UTC, datetime

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import Asset, TriggerRule, dag, task

from transit_etl.scheduling import DEFAULTS, poll, window_timeout


@dag(
    schedule="@continuous",
    start_date=datetime(2026, 1, 1, tzinfo=UTC),  # without one its second run would be named like its first
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["collect"],
)
def status() -> None:
    """Collect one window of service status and say that it has landed."""

    @task(retries=0, execution_timeout=window_timeout())
    def collect() -> dict[str, int]:
        return poll("status")

    collected = collect()
    landed = EmptyOperator(task_id="landed", trigger_rule=TriggerRule.ALL_DONE, outlets=[Asset("raw/status")])
    collected >> landed
    [collected, landed] >> EmptyOperator(task_id="complete")


status()

"""# status: which disruptions, diversions and lift failures are announced, without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, 600 unless set): it asks for the service
status every `TRANSIT_STATUS_INTERVAL_SECONDS` (60 unless set), then stages what it landed. An event has no
end time in the interface: it ends by being listed no longer, so how often it is asked for is how well the
end is known.

**What a failure means.** `collect` red: the window brought no usable answer at all, or the process was
killed; the log says which. What it had landed is staged all the same. `stage` red: a rule that stops a
batch was broken; the answers are safe in `data/raw`. `complete` is red whenever anything before it is.

**What to do.** Nothing for one red run: events that ended in the gap get wider bounds. When runs stay red:
`transit-etl status` tells what the upstream answers; look at it by hand. To stage a window again, clear
`stage` alone.

**What not to do.** Do not retry, backfill or clear `collect`: its answers would be about another moment, so
it refuses.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import Asset, TriggerRule, dag, task

from transit_etl.scheduling import DEFAULTS, poll, stage_landed, window_timeout


@dag(
    schedule="@continuous",
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["collect"],
)
def status() -> None:
    """Collect one window of service status and stage it."""

    @task(retries=0, execution_timeout=window_timeout())
    def collect() -> dict[str, int]:
        return poll("status")

    @task(trigger_rule=TriggerRule.ALL_DONE, outlets=[Asset("lake/status")])
    def stage() -> dict[str, int]:
        return stage_landed("status")

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


status()

"""# status: which disruptions, diversions and lift failures are announced, without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, 600 unless set): it asks for the service
status every `TRANSIT_STATUS_INTERVAL_SECONDS` (60 unless set). A run is due a minute before its window (half
a window before, if that is shorter) and takes over from the run before at the very instant at which that one
stops, so the interval is kept. `landed` then hands the window to `staging`. An event has no end time in the
interface: it ends by being listed no longer, so how often it is asked for is how well the end is known.

**What a failure means.** `collect` red: the window brought no usable answer at all, or the process was
killed; the log says which. What it had received is in `data/raw`, and `landed` hands it over all the same.
`complete` is red whenever anything before it is.

**What to do.** A process that died is started again within seconds and polls for the rest of its window.
Nothing for one red run: events that ended in the gap get wider bounds. When runs stay red:
`transit-etl status` tells what the upstream answers; look at it by hand.

**What not to do.** Do not backfill or clear `collect`: its answers would be about another moment, so it
refuses.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, dag, task

from transit_etl.scheduling import (
    DEFAULTS,
    WITHIN_ITS_WINDOW,
    poll,
    raw_asset,
    window_schedule,
    window_timeout,
)


@dag(
    schedule=window_schedule(),
    catchup=False,
    max_active_runs=2,  # the next run gets ready while this one polls; the clock says when it takes over
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["collect"],
)
def status() -> None:
    """Collect one window of service status and say that it has landed."""

    @task(execution_timeout=window_timeout(), **WITHIN_ITS_WINDOW)
    def collect() -> dict[str, int]:
        return poll("status")

    collected = collect()
    landed = EmptyOperator(task_id="landed", trigger_rule=TriggerRule.ALL_DONE, outlets=[raw_asset("status")])
    collected >> landed
    [collected, landed] >> EmptyOperator(task_id="complete")


status()

"""# passages: where the buses are, stop by stop, without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, 600 unless set): it asks for the next
passages at the stops that are worth most at each moment, at the pace the allowance leaves. A run is due a
minute before its window (half a window before, if that is shorter): in that minute its process starts, reads
what is known and learns from the answers of the run before, and takes over at the very instant at which that
one stops. So two runs are active for a minute, and no second of the allowance is lost between them. `landed`
then hands the window to `staging`. This is the history nobody else keeps.

**What a failure means.** `collect` red: the window brought no usable answer at all, no stop is known yet
(has `network` succeeded?), or the process was killed; the log says which. What it had received is in
`data/raw`, and `landed` hands it over all the same. `complete` is red whenever anything before it is.

**What to do.** A process that died is started again within seconds and polls for the rest of its window.
Nothing for one red run: the next takes over at its time, and the gap counts as missing coverage, never as
missing buses. When runs stay red: `transit-etl status` tells what the upstream answers;
429 means somebody else uses the same allowance; look at the upstream by hand.

**What not to do.** Do not backfill or clear `collect`: its answers would be about another moment, so it
refuses. Do not start a second collector elsewhere with a budget of its own: the allowance is one.
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
def passages() -> None:
    """Collect one window of passages and say that it has landed."""

    @task(execution_timeout=window_timeout(), **WITHIN_ITS_WINDOW)
    def collect() -> dict[str, int]:
        return poll("passages")

    collected = collect()
    landed = EmptyOperator(
        task_id="landed", trigger_rule=TriggerRule.ALL_DONE, outlets=[raw_asset("passages")]
    )
    collected >> landed
    [collected, landed] >> EmptyOperator(task_id="complete")


passages()

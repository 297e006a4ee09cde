"""# passages: where the buses are, stop by stop, without a pause.

**What it does.** One run is one window (`TRANSIT_WINDOW_SECONDS`, 600 unless set): it asks for the next
passages at the stops that are worth most at each moment, at the pace the allowance leaves. `landed` then
hands the window to `staging`, and the next run begins within seconds. This is the history nobody else
keeps.

**What a failure means.** `collect` red: the window brought no usable answer at all, no stop is known yet
(has `network` succeeded?), or the process was killed; the log says which. What it had received is in
`data/raw`, and `landed` hands it over all the same. `complete` is red whenever anything before it is.

**What to do.** Nothing for one red run: the next is already polling, and the gap counts as missing
coverage, never as missing buses. When runs stay red: `transit-etl status` tells what the upstream answers;
429 means somebody else uses the same allowance; look at the upstream by hand.

**What not to do.** Do not retry, backfill or clear `collect`: its answers would be about another moment, so
it refuses. Do not start a second collector elsewhere with a budget of its own: the allowance is one.
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
def passages() -> None:
    """Collect one window of passages and say that it has landed."""

    @task(retries=0, execution_timeout=window_timeout())
    def collect() -> dict[str, int]:
        return poll("passages")

    collected = collect()
    landed = EmptyOperator(
        task_id="landed", trigger_rule=TriggerRule.ALL_DONE, outlets=[Asset("raw/passages")]
    )
    collected >> landed
    [collected, landed] >> EmptyOperator(task_id="complete")


passages()

"""# news: the operator's news, and every change of their texts.

**What it does.** Once an hour asks for the list of news, and for the text of each item that is new or was
changed, and stages both. A changed text becomes a new version; nothing is overwritten.

**What a failure means.** `collect` red: three attempts, a minute apart, got no usable answer; the log says
which outcomes they had. `stage` red: a batch was rejected by a rule; the answers are safe in `data/raw`.
`complete` is red whenever a task before it is.

**What to do.** Nothing for a few hours: items stay listed for days. Later: read the log, correct the cause,
clear `collect`.

**What not to do.** Do not start it for an older date: the upstream lists only current news, so such a run
fails without a request.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, dag, task

from transit_etl.scheduling import (
    DEFAULTS,
    first_sentence,
    lake_asset,
    list_schedule,
    poll,
    stage_collected,
    tell,
)


@dag(
    schedule=list_schedule("news", run_immediately=True),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    description=first_sentence(__doc__),
    doc_md=__doc__,
    tags=["collect"],
)
def news() -> None:
    """Collect and stage the news and their texts."""

    @task
    def collect() -> dict[str, int]:
        return poll("news")

    @task(trigger_rule=TriggerRule.ALL_DONE, outlets=[lake_asset("news")])
    def stage() -> dict[str, int]:
        rows = stage_collected("news")
        tell({"rows": rows}, lake_asset("news"))
        return rows

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


news()

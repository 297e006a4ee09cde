"""# network: which lines there are and which stops they serve.

**What it does.** Once a day, at 04:30 in the operator's time zone, asks for the list of lines and then for
the stops of every line, and stages both into the lake. With 240 lines that takes four minutes without a
token, one with. A new installation runs it at once: `timetables` and `passages` ask only about lines and
stops they know from here.

**What a failure means.** `lines` or `stops` red: the upstream gave no usable answer, nor twice again a
minute later; the log says what came instead. `stage_lines` or `stage_stops` red: a rule that stops a batch
was broken; the log names it, and the answers themselves are safe in `data/raw`. `complete` is red whenever
anything before it is.

**What to do.** After one bad night, nothing: yesterday's network stays in use. After the second, read the
log, ask the upstream by hand, then clear the red task. What was landed before a failure is staged all the
same.

**What not to do.** Never delete anything in `data/raw`. Do not start it for an older date: the upstream
answers about now, so such a run refuses to ask.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, chain, dag, task

from transit_etl.endpoints import collections_of
from transit_etl.scheduling import DEFAULTS, lake_asset, list_schedule, poll, stage_collected


@dag(
    schedule=list_schedule("network", run_immediately=True),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["collect"],
)
def network() -> None:
    """Collect and stage the lines, then the stops of each."""

    @task
    def collect(collection: str) -> dict[str, int]:
        return poll(collection)

    @task(trigger_rule=TriggerRule.ALL_DONE)
    def stage(collection: str) -> dict[str, int]:
        return stage_collected(collection)

    *others, last = collections_of("network")
    steps = [
        step
        for name in others
        for step in (collect.override(task_id=name)(name), stage.override(task_id=f"stage_{name}")(name))
    ]
    steps.append(collect.override(task_id=last)(last))
    steps.append(stage.override(task_id=f"stage_{last}", outlets=[lake_asset("network")])(last))
    chain(*steps)
    steps >> EmptyOperator(task_id="complete")


network()

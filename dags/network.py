"""# network: the lines and the stops they serve.

**What it does.** Once a day, at 04:30 in the operator's time zone, asks for the list of lines and then for
the stops of every line, and stages both into the lake. With 240 lines this takes four minutes without a
token, one minute with it. A new installation runs it at once: `timetables` and `passages` ask about the
lines and stops found here.

**What a failure means.** `lines` or `stops` red: three attempts, a minute apart, got no usable answer; the
log says which outcomes they had. `stage_lines` or `stage_stops` red: a batch was rejected by a rule, which
the log names; the answers are safe in `data/raw`. `complete` is red whenever a task before it is.

**What to do.** After one failed night, nothing: the lines and stops of the day before are used. After the
second, read the log, make a request to the upstream by hand, then clear the red task. What was landed before
a failure is staged in any case.

**What not to do.** Never delete anything in `data/raw`. Do not start it for an older date: the upstream
answers only about now, so such a run fails without a request.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import DAG, TriggerRule, chain

from transit_etl.endpoints import collections_of
from transit_etl.scheduling.dag_parts import COLLECTING_QUEUE, dag_arguments, step
from transit_etl.scheduling.polling import poll
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, list_schedule
from transit_etl.scheduling.steps import stage_collected, tell


def network(one: CollectingDag) -> None:
    """Collect and stage the lines, then the stops of each."""
    *others, last = collections_of("network")

    @step(queue=COLLECTING_QUEUE)
    def collect(collection: str) -> dict[str, int]:
        return poll(collection, one.operator)

    @step(trigger_rule=TriggerRule.ALL_DONE)
    def stage(collection: str) -> dict[str, int]:
        rows = stage_collected(collection, one.operator)
        if collection == last:
            tell({"rows": rows}, one.lake)
        return rows

    with DAG(
        one.name,
        schedule=list_schedule(one, run_immediately=True),
        tags=["collect"],
        **dag_arguments(__doc__, part=one.part),
    ):
        made = [
            task
            for name in others
            for task in (
                collect.override(task_id=name)(name),
                stage.override(task_id=f"stage_{name}")(name),
            )
        ]
        made.append(collect.override(task_id=last)(last))
        made.append(stage.override(task_id=f"stage_{last}", outlets=[one.lake])(last))
        chain(*made)
        made >> EmptyOperator(task_id="complete")


for each in collecting_dags("network"):
    network(each)

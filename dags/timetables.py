"""# timetables: the scheduled departures of today and the coming days.

**What it does.** Every four hours, and whenever `network` has collected the lines, asks for the timetable of
every line for today and the coming days (`TRANSIT_TIMETABLE_DAYS_AHEAD`, default 2), and stages the
departures. It asks several times a day because timetables change while they are in force, and every change is
recorded.

**What a failure means.** `collect` red: no usable answer, or no line is in the lake yet because `network` has
never succeeded; the log says which. `stage` red: a batch was rejected by a rule; the answers are safe in
`data/raw`. `complete` is red whenever a task before it is.

**What to do.** Nothing for one missed run: the next one asks for the same days. If a whole day is missing,
its visits have no schedule wherever no theoretical passage was listed, so act before midnight: read the log,
correct the cause, clear `collect`.

**What not to do.** Do not start it for an older date to get an old timetable: it would ask for today and the
coming days, so such a run fails without a request.
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
    schedule=list_schedule("timetables"),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    description=first_sentence(__doc__),
    doc_md=__doc__,
    tags=["collect"],
)
def timetables() -> None:
    """Collect and stage the timetables of today and the coming days."""

    @task
    def collect() -> dict[str, int]:
        return poll("timetables")

    @task(trigger_rule=TriggerRule.ALL_DONE, outlets=[lake_asset("timetables")])
    def stage() -> dict[str, int]:
        rows = stage_collected("timetables")
        tell({"rows": rows}, lake_asset("timetables"))
        return rows

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


timetables()

"""# timetables: what is scheduled today and on the coming days.

**What it does.** Every four hours, and whenever `network` has found the lines anew, asks for the timetable
of every line for today and the coming days (`TRANSIT_TIMETABLE_DAYS_AHEAD`, 2 unless set), and stages the
departures. It asks again through the day because timetables change while they are in force, and a change is
a fact worth keeping.

**What a failure means.** `collect` red: no usable answer, or no line is known yet because `network` has
never succeeded; the log says which. `stage` red: a rule that stops a batch was broken; the answers are safe
in `data/raw`. `complete` is red whenever anything before it is.

**What to do.** One missed run costs nothing: the next one asks for the same days. If a whole day is
missing, its visits stay unscheduled wherever no theoretical passage was listed, so look before midnight:
read the log, mend the cause, clear `collect`.

**What not to do.** Do not start it for an older date to fetch an old timetable: it would ask for today's
and the coming days' all the same, so such a run refuses.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, dag, task

from transit_etl.scheduling import DEFAULTS, lake_asset, list_schedule, poll, stage_collected


@dag(
    schedule=list_schedule("timetables"),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
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
        return stage_collected("timetables")

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


timetables()

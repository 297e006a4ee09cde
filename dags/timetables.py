"""# timetables: the scheduled departures of today and the coming days.

**What it does.** Every four hours, and whenever `network` has collected the lines, asks for the timetable of
every line for today and tomorrow, and stages the departures. It asks several times a day because timetables
change while they are in force, and every change is recorded. Of the later days
(`TRANSIT_TIMETABLE_DAYS_AHEAD`, default 14) it asks for those whose last request failed or whose answer is a
day old, from the eighth day on two days.

**What a failure means.** `collect` red: no usable answer, or no line is in the lake yet because `network` has
never succeeded; the log says which. `stage` red: a batch was rejected by a rule; the answers are safe in
`data/raw`. `complete` is red whenever a task before it is.

**What to do.** Nothing for one missed run: the next one asks for the same days. If a whole day is missing,
its visits have no schedule wherever no theoretical passage was listed, so act before midnight: read the log,
correct the cause, clear `collect`.

**What not to do.** Do not start it for an older date to get an old timetable: it would ask for today and the
coming days, so such a run fails without a request.
"""

from airflow.sdk import DAG

from transit_etl.scheduling.dag_parts import collect_and_stage, dag_arguments
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, list_schedule


def timetables(one: CollectingDag) -> None:
    """Collect and stage the timetables of today and the coming days."""
    with DAG(
        one.name,
        schedule=list_schedule(one),
        tags=["collect"],
        **dag_arguments(__doc__, part=one.part),
    ):
        collect_and_stage(one)


for each in collecting_dags("timetables"):
    timetables(each)

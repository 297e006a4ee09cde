"""# legacy_v0: the requests of the deprecated version 0 of the interface.

**What it does.** Paused until you start it. Every six hours it asks version 0 for arrivals, timetables, news
and the service status, with the token in `TRANSIT_LEGACY_TOKEN`, and stages the requests, marked with their
version. It is for comparing both versions as long as version 0 exists; no figure depends on it.

**What a failure means.** `collect` red: version 0 gave no usable answer. Once version 0 has been removed,
this is always so: pause the DAG. `complete` is red whenever a task before it is.

**What to do.** Check `TRANSIT_LEGACY_TOKEN`: version 0 requires a token. Otherwise pause the DAG.

**What not to do.** Do not run it instead of `passages`, `timetables`, `news` or `status`: it uses the same
allowance. Do not start it for an older date: such a run fails without a request.
"""

from airflow.sdk import DAG

from transit_etl.endpoints import CADENCES
from transit_etl.scheduling.dag_parts import collect_and_stage, dag_arguments
from transit_etl.scheduling.schedules import CollectingDag, collecting_dags, list_schedule


def legacy_v0(one: CollectingDag) -> None:
    """Collect and stage all endpoints of version 0."""
    with DAG(
        one.name,
        schedule=list_schedule(one),
        is_paused_upon_creation=CADENCES[one.cadence].is_paused,
        tags=["collect", "deprecated"],
        **dag_arguments(__doc__, part=one.part),
    ):
        collect_and_stage(one)


for each in collecting_dags("legacy_v0"):
    legacy_v0(each)

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

from airflow.sdk import dag

from transit_etl.endpoints import CADENCES
from transit_etl.scheduling.dag_parts import collect_and_stage, dag_arguments
from transit_etl.scheduling.schedules import list_schedule


@dag(
    schedule=list_schedule("legacy_v0"),
    is_paused_upon_creation=CADENCES["legacy_v0"].is_paused,
    tags=["collect", "deprecated"],
    **dag_arguments(__doc__),
)
def legacy_v0() -> None:
    """Collect and stage all endpoints of version 0."""
    collect_and_stage("legacy_v0")


legacy_v0()

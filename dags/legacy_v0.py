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

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, dag, task

from transit_etl.endpoints import CADENCES
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
    schedule=list_schedule("legacy_v0"),
    catchup=False,
    max_active_runs=1,
    is_paused_upon_creation=CADENCES["legacy_v0"].is_paused,
    default_args=DEFAULTS,
    description=first_sentence(__doc__),
    doc_md=__doc__,
    tags=["collect", "deprecated"],
)
def legacy_v0() -> None:
    """Collect and stage all endpoints of version 0."""

    @task
    def collect() -> dict[str, int]:
        return poll("legacy")

    @task(trigger_rule=TriggerRule.ALL_DONE, outlets=[lake_asset("legacy_v0")])
    def stage() -> dict[str, int]:
        rows = stage_collected("legacy")
        tell({"rows": rows}, lake_asset("legacy_v0"))
        return rows

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


legacy_v0()

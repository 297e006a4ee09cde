"""# legacy_v0: the same service through the deprecated version 0 of the interface.

**What it does.** Paused unless you start it. Every six hours asks version 0 for arrivals, timetables, news
and service status, with the token in `TRANSIT_LEGACY_TOKEN`, and stages them beside version 1's, marked
with their version. It is for comparing both versions while version 0 lasts; no figure depends on it.

**What a failure means.** `collect` red: version 0 gave no usable answer. After its removal that is what it
will always say: pause the DAG. `complete` is red whenever anything before it is.

**What to do.** Check `TRANSIT_LEGACY_TOKEN`: version 0 answers nobody without one. Otherwise pause it.

**What not to do.** Do not let it run in place of `passages`, `timetables`, `news` or `status`: it takes its
requests out of the same allowance. Do not start it for an older date: such a run refuses.
"""

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import TriggerRule, dag, task

from transit_etl.endpoints import CADENCES
from transit_etl.scheduling import DEFAULTS, lake_asset, list_schedule, poll, stage_collected


@dag(
    schedule=list_schedule("legacy_v0"),
    catchup=False,
    max_active_runs=1,
    is_paused_upon_creation=CADENCES["legacy_v0"].is_paused,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["collect", "deprecated"],
)
def legacy_v0() -> None:
    """Collect and stage what version 0 still answers."""

    @task
    def collect() -> dict[str, int]:
        return poll("legacy")

    @task(trigger_rule=TriggerRule.ALL_DONE, outlets=[lake_asset("legacy_v0")])
    def stage() -> dict[str, int]:
        return stage_collected("legacy")

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


legacy_v0()

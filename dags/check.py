"""# check: looks every minute for what is wrong.

**What it does.** Runs `transit-etl check`: the upstream, the token, the clock, the allowance, the disk, the
age of each kind of answer, rejected batches, quarantine, and the published warehouse. A run is red as long as
anything is wrong, so that the first page of Airflow counts this DAG among the failed ones within two minutes
and a half after the upstream went down. It does not count `passages` and `status`: their runs overlap, and
the latest one is nearly always still running.

**What a failure means.** The log of `check` says it, one line per problem.

`failed_…` and `late_…` are failed tasks and stopped runs of other DAGs, until one succeeds. A run of this DAG
itself that does not end within three minutes, such as for want of a free worker, is stopped, and the DAG
processor tells `TRANSIT_ALERT_URLS` of `late_check`.

**What to do.** What the line says; the next run is green once nothing is wrong. The limits are settings,
`TRANSIT_CHECK_…`.

**What not to do.** Do not pause it because it is red: raise the limit that does not suit this installation.
"""

from datetime import timedelta

from airflow.sdk import DeltaTriggerTimetable, dag

from transit_etl.scheduling.dag_parts import DEFAULTS, dag_arguments, step
from transit_etl.scheduling.run_alerts import stopped_after
from transit_etl.scheduling.steps import check_installation


@dag(
    schedule=DeltaTriggerTimetable(timedelta(minutes=1)),
    tags=["check"],
    **dag_arguments(__doc__, default_args={**DEFAULTS, "retries": 0}),
    **stopped_after(timedelta(minutes=3)),
)
def check() -> None:
    """Look for everything that is wrong with the installation."""

    @step(task_id="check")
    def look() -> None:
        check_installation()

    look()


check()

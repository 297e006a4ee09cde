"""# check: looks every minute for what is wrong.

**What it does.** Runs `transit-etl check`: the upstream, the token, the clock, the allowance, the disk, the
age of each kind of answer, rejected batches, quarantine, and the published warehouse. A run is red as long as
anything is wrong, so that the first page of Airflow counts this DAG among the failed ones within two minutes
and a half after the upstream went down. It does not count `passages` and `status`: their runs overlap, and
the latest one is nearly always still running.

**What a failure means.** The log of `check` says it, one line per problem.

`failed_…` and `late_…` are failed tasks and runs without end of other DAGs, until one succeeds. Where a run
of this DAG itself does not end within three minutes, such as for want of a free worker, a deadline of Airflow
tells `TRANSIT_ALERT_URLS` of `late_check`, for which triggerer and scheduler must run.

**What to do.** What the line says; the next run is green once nothing is wrong. The limits are settings,
`TRANSIT_CHECK_…`.

**What not to do.** Do not pause it because it is red: raise the limit that does not suit this installation.
"""

from datetime import timedelta

from airflow.sdk import DeltaTriggerTimetable, dag, task

from transit_etl.run_alerts import deadline
from transit_etl.scheduling import DEFAULTS, check_installation, first_sentence

EVERY = timedelta(minutes=1)
LATE_AFTER = timedelta(minutes=3)  # said by the triggerer, as no task of this DAG can say it


@dag(
    schedule=DeltaTriggerTimetable(EVERY),
    catchup=False,
    max_active_runs=1,
    default_args={**DEFAULTS, "retries": 0},
    deadline=deadline(LATE_AFTER),
    dagrun_timeout=timedelta(minutes=5),
    description=first_sentence(__doc__),
    doc_md=__doc__,
    tags=["check"],
)
def check() -> None:
    """Look for everything that is wrong with the installation."""

    @task(task_id="check")
    def look() -> None:
        check_installation()

    look()


check()

"""# nightly: yesterday and the day before once more, now that they are whole.

**What it does.** At 05:30 in the operator's time zone, after the service day has ended: rebuilds the last
two service dates from the lake and publishes, and merges the windows of the UTC day that has closed into
one file per dataset without changing a row. It looks back from the date it is run for, so it **can** be
backfilled or run for an older date: that rebuilds the two service dates before it.

**What a failure means.** `build` red: a model or a check failed on a whole day, where the passing builds
saw parts of it; nothing was published. `compact` red: the merged file did not hold exactly the rows of its
windows, so they stay as they were; figures are not touched.

**What to do.** Read the log, mend the cause, clear the red task: every step can run twice with the same
result. A night that was missed altogether is made up for by running the DAG for the morning after it.

**What not to do.** Do not raise the slots of the pool `warehouse`: it keeps this DAG and `warehouse` from
writing at the same time. Do not delete windows by hand to help `compact`.
"""

from airflow.sdk import Asset, CronTriggerTimetable, dag, task

from transit_etl.scheduling import (
    DEFAULTS,
    WAREHOUSE_POOL,
    build_closed_days,
    compact_closed_day,
    operator_timezone,
    publish_build,
)


@dag(
    schedule=CronTriggerTimetable("30 5 * * *", timezone=operator_timezone()),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["warehouse"],
)
def nightly() -> None:
    """Rebuild and publish the last two service dates; compact the closed day."""

    @task(pool=WAREHOUSE_POOL)
    def build() -> dict[str, int]:
        return build_closed_days()

    @task(pool=WAREHOUSE_POOL, outlets=[Asset("warehouse")])
    def publish() -> str:
        return publish_build()

    @task(pool=WAREHOUSE_POOL)
    def compact() -> int:
        return compact_closed_day()

    build() >> publish()
    compact()


nightly()

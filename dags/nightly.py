"""# nightly: rebuilds the last two service dates, now that they are complete.

**What it does.** At 05:30 in the operator's time zone, after the end of the service day: rebuilds the last
two service dates from the lake and publishes the result, writes the reports of the last date, its week and
its month (`data/reports/performance/index.html`, the asset `report`), merges the windows of the last UTC day
into one file per dataset without changing a row, compares every file with its checksum, and removes old
quarantine and logs (`TRANSIT_QUARANTINE_KEEP_DAYS`, `TRANSIT_LOGS_KEEP_DAYS`). The dates follow from the
date of the run, so it **can** be backfilled or run for an older date: this rebuilds the two service dates
before it.

**What a failure means.** `build` red: a model or a check failed on a complete day; the builds that passed
had only parts of it. Nothing was published. `report` red: the pages are those of the night before; figures
are not touched. `compact` red: merging failed and the windows of that day stay as they were; no figure
changes. `verify` red: a raw file, or the published file, has changed by itself or is missing; the log names
it. Damaged lake files are made again from raw, which is no failure.

**What to do.** Read the log, correct the cause, clear the red task: every step can run twice with the same
result. A damaged raw file comes back from the backup alone (`transit-etl restore`). If a whole night was
missed, run the DAG for the morning after it.

**What not to do.** Do not raise the slots of the pool `warehouse`: it prevents that this DAG and `warehouse`
write at the same time. Do not delete windows by hand.
"""

from airflow.sdk import Asset, CronTriggerTimetable, dag

from transit_etl.scheduling.dag_parts import LONG_WORK, WATCHED, dag_arguments, step
from transit_etl.scheduling.run_alerts import stopped_after
from transit_etl.scheduling.schedules import WAREHOUSE_POOL
from transit_etl.scheduling.steps import (
    build_closed_days,
    compact_closed_day,
    prune_old,
    publish_build,
    tell,
    verify_files,
    write_standard_reports,
)
from transit_etl.settings import load_settings

WAREHOUSE, REPORT = Asset("warehouse"), Asset("report")


@dag(
    schedule=CronTriggerTimetable("30 5 * * *", timezone=load_settings().timezone),
    tags=["warehouse"],
    **dag_arguments(__doc__, default_args=WATCHED),
    **stopped_after(LONG_WORK),
)
def nightly() -> None:
    """Rebuild and publish the last two dates; write reports; compact the closed day; verify; prune."""

    @step(pool=WAREHOUSE_POOL)
    def build() -> dict[str, int]:
        return build_closed_days()

    @step(pool=WAREHOUSE_POOL, outlets=[WAREHOUSE])
    def publish() -> str:
        file = publish_build()
        tell({"file": file}, WAREHOUSE)
        return file

    @step(outlets=[REPORT])
    def report() -> dict[str, str]:
        sentences = write_standard_reports()
        tell(sentences, REPORT)
        return sentences

    @step(pool=WAREHOUSE_POOL)
    def compact() -> int:
        return compact_closed_day()

    @step(pool=WAREHOUSE_POOL)
    def verify() -> dict[str, int]:
        return verify_files()

    @step(pool=WAREHOUSE_POOL)
    def prune() -> dict[str, int]:
        return prune_old()

    published = build() >> publish()
    published >> report()
    [published, compact()] >> verify() >> prune()


nightly()

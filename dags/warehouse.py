"""# warehouse: builds and publishes whenever answers were staged.

**What it does.** As soon as any collecting DAG has staged answers, builds the service dates they affect
(`data/warehouse/build.duckdb`), checks them, and publishes the result as `data/warehouse/warehouse.duckdb`
in one atomic step. Answers staged during a build are taken together by the next run. Analysts read the
published file at any time and never see a part of a build.

**What a failure means.** `build` red: a model or a check on its data failed; the log names it and the rows
that break it. `publish` is then marked as upstream failed: **nothing was published**, analysts keep the last
checked warehouse, which is older but correct. `publish` red: most likely the disk is full; the published file
is the last checked one.

**What to do.** Read the first failed check in the log of `build`, correct the model or the data that it
names, clear `build`. Collecting continues meanwhile and nothing is lost.

**What not to do.** Do not open `build.duckdb` while it runs. Do not raise the slots of the pool `warehouse`
(one slot: this DAG and `nightly` never run at the same time). Do not mark `build` as succeeded to publish.
"""

from airflow.sdk import Asset, dag

from transit_etl.scheduling.dag_parts import LONG_WORK, WATCHED, dag_arguments, step
from transit_etl.scheduling.run_alerts import stopped_after
from transit_etl.scheduling.schedules import WAREHOUSE_POOL, any_lake_asset
from transit_etl.scheduling.steps import build_new, publish_build, tell

WAREHOUSE = Asset("warehouse")


@dag(
    schedule=any_lake_asset(),
    tags=["warehouse"],
    **dag_arguments(__doc__, default_args=WATCHED),
    **stopped_after(LONG_WORK),
)
def warehouse() -> None:
    """Build what is new in the lake and publish it."""

    @step(pool=WAREHOUSE_POOL)
    def build() -> dict[str, int]:
        return build_new()

    @step(pool=WAREHOUSE_POOL, outlets=[WAREHOUSE])
    def publish() -> str:
        file = publish_build()
        tell({"file": file}, WAREHOUSE)
        return file

    build() >> publish()


warehouse()

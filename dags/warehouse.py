"""# warehouse: from the lake to figures, whenever the lake has grown.

**What it does.** As soon as any collecting DAG has staged something, builds the service dates it touches
(`data/warehouse/build.duckdb`), checks them, and publishes the result as `data/warehouse/warehouse.duckdb`
in one atomic step. Events that arrive during a build are taken together by the next run. Analysts read the
published file all the while and never see half a build.

**What a failure means.** `build` red: a model failed, or a check on its data did; the log names it and the
rows that break it. `publish` stays grey-orange then: **nothing was published**, analysts keep the last good
warehouse, which grows old but not wrong. `publish` red: the disk, most likely full; the published file is
still the last good one.

**What to do.** Read the first failed check in the log of `build`, mend the model or the data it speaks of,
clear `build`. Collection goes on meanwhile and nothing is lost.

**What not to do.** Do not open `build.duckdb` while it runs, do not raise the slots of the pool `warehouse`
(one slot: this DAG and `nightly` take turns), do not mark `build` as succeeded to get something published.
"""

from airflow.sdk import Asset, dag, task

from transit_etl.scheduling import DEFAULTS, WAREHOUSE_POOL, any_lake_asset, build_new, publish_build


@dag(
    schedule=any_lake_asset(),
    catchup=False,
    max_active_runs=1,
    default_args=DEFAULTS,
    doc_md=__doc__,
    tags=["warehouse"],
)
def warehouse() -> None:
    """Build what is new in the lake and publish it."""

    @task(pool=WAREHOUSE_POOL)
    def build() -> dict[str, int]:
        return build_new()

    @task(pool=WAREHOUSE_POOL, outlets=[Asset("warehouse")])
    def publish() -> str:
        return publish_build()

    build() >> publish()


warehouse()

"""# exports: writes the datasets that people take away.

**What it does.** Whenever the warehouse was published, looks for datasets of which a service date that is
over was built since they were exported: every table of `core` and `marts` as Parquet and CSV, and the feeds
(TIDES, GTFS, GTFS Realtime). It exports these, one after the other, into `data/exports`; only the months that
changed are written. Each updates an asset of its own, such as `exports/punctuality-csv`, which other DAGs can
wait for. Most runs find nothing: dates change when they are over, and at night.

**What a failure means.** `due` red: there is no published warehouse, or it is damaged. `export` red, with
the name of a dataset: most likely the disk is full. The dataset before stays whole; the others are exported
all the same. A dataset of which too little is known is not exported, and is no failure:
`transit-etl export --all` says why.

**What to do.** Read the log of the red task, clear it. `transit-etl verify` compares exports with their
manifests.

**What not to do.** Do not edit files in `data/exports`: they would no longer be those of their manifest.
"""

from typing import TYPE_CHECKING

from airflow.sdk import Asset, AssetAlias, dag

from transit_etl.scheduling.dag_parts import LONG_WORK, WATCHED, dag_arguments, step
from transit_etl.scheduling.run_alerts import stopped_after
from transit_etl.scheduling.schedules import export_asset
from transit_etl.scheduling.steps import due_exports, export_dataset, export_folder

if TYPE_CHECKING:
    from airflow.sdk.execution_time.context import OutletEventAccessors

EXPORTED = AssetAlias("exports")


@dag(
    schedule=Asset("warehouse"),
    tags=["exports"],
    **dag_arguments(__doc__, default_args=WATCHED),
    **stopped_after(LONG_WORK),
)
def exports() -> None:
    """Export every dataset that changed."""

    @step()
    def due() -> list[str]:
        return due_exports()

    @step(outlets=[EXPORTED], max_active_tis_per_dag=1, map_index_template="{{ name }}")
    def export(name: str, *, outlet_events: "OutletEventAccessors | None" = None) -> dict[str, int]:
        from airflow.sdk import get_current_context

        get_current_context()["name"] = name  # type: ignore[typeddict-unknown-key]  # shown in the grid
        report = export_dataset(name)
        if outlet_events is not None:
            outlet_events[EXPORTED].add(
                export_asset(name), extra={"folder": export_folder(name), "rows": report["n_rows"]}
            )
        return report

    export.expand(name=due())


exports()

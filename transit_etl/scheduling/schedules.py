"""When DAGs run: by the clock, after one another through their assets, or window after window."""

from datetime import timedelta
from typing import NamedTuple

from airflow.sdk import Asset, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable, DeltaTriggerTimetable

from transit_etl.endpoints import CADENCES
from transit_etl.settings import Settings, load_settings

SYNCED = Asset("lake/sync")  # updated when the lake of other hosts was taken in, or their answers were staged
SYNC_EVERY = timedelta(minutes=10)
WAREHOUSE_POOL = "warehouse"  # one slot: tasks that rewrite the lake or the warehouse run one at a time


class CollectingDag(NamedTuple):
    """A DAG that collects for an operator. `part` tells its names from those of other operators, if any."""

    cadence: str
    operator: str
    part: str

    @property
    def name(self) -> str:
        """The name of the DAG."""
        return "_".join(filter(None, [self.cadence, self.part]))

    @property
    def settings(self) -> Settings:
        """The settings of its operator, read anew; raises BadSettingError, which the UI shows."""
        return load_settings(operator=self.operator)

    @property
    def raw(self) -> Asset:
        """The asset that is updated when a window of the DAG has landed."""
        return Asset("/".join(filter(None, ["raw", self.part, self.cadence])))

    @property
    def lake(self) -> Asset:
        """The asset that is updated when answers that the DAG collected are staged."""
        return self.lake_of(self.cadence)

    def lake_of(self, cadence: str) -> Asset:
        """Return the same of another DAG for the operator."""
        return Asset("/".join(filter(None, ["lake", self.part, cadence])))


def collecting_dags(*cadences: str) -> list[CollectingDag]:
    """Return the DAGs that collect for each operator: of these names in `CADENCES`, or all."""
    operators = load_settings().operators
    return [
        CollectingDag(cadence, operator, operator if len(operators) > 1 else "")
        for cadence in cadences or CADENCES
        for operator in operators
    ]


def list_schedule(
    dag: CollectingDag, *, run_immediately: bool = False
) -> CronTriggerTimetable | AssetOrTimeSchedule:
    """Return the schedule of a DAG that collects lists; `run_immediately` starts it once when it is new."""
    cadence = CADENCES[dag.cadence]
    by_clock = CronTriggerTimetable(
        cadence.cron, timezone=dag.settings.timezone, run_immediately=run_immediately
    )
    if cadence.runs_after is None:
        return by_clock
    return AssetOrTimeSchedule(timetable=by_clock, assets=dag.lake_of(cadence.runs_after))


def export_asset(name: str) -> Asset:
    """Return the asset that is updated when a dataset was exported anew."""
    return Asset(f"exports/{name}")


def any_lake_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever something was staged."""
    return AssetAny(*(dag.lake for dag in collecting_dags()), SYNCED)


def sync_schedule() -> DeltaTriggerTimetable | None:
    """Return the schedule of a DAG that compares with the object store; None if the settings name none."""
    return DeltaTriggerTimetable(SYNC_EVERY) if load_settings().lake_url else None


def any_raw_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever a window has landed."""
    return AssetAny(*(dag.raw for dag in collecting_dags(*polled())))


def polled() -> list[str]:
    """Return the names in `CADENCES` of what is polled in windows; another DAG stages what that collects."""
    return [name for name, cadence in CADENCES.items() if cadence.every is None]


def window_schedule(dag: CollectingDag) -> DeltaTriggerTimetable:
    """Return the schedule of a DAG that polls: one run per window, started before the previous one ends."""
    return DeltaTriggerTimetable(timedelta(seconds=dag.settings.window_seconds))

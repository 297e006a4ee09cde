"""When DAGs run: by the clock, after one another through their assets, or window after window."""

from datetime import timedelta

from airflow.sdk import Asset, AssetAny, AssetOrTimeSchedule, CronTriggerTimetable, DeltaTriggerTimetable

from transit_etl.endpoints import CADENCES
from transit_etl.settings import load_settings

WAREHOUSE_POOL = "warehouse"  # one slot: tasks that rewrite the lake or the warehouse run one at a time


def operator_timezone() -> str:
    """Return the time zone of schedules; raises BadSettingError, which the UI shows."""
    return load_settings().timezone


def list_schedule(dag: str, *, run_immediately: bool = False) -> CronTriggerTimetable | AssetOrTimeSchedule:
    """Return the schedule of a DAG that collects lists; `run_immediately` starts it once when it is new."""
    cadence = CADENCES[dag]
    by_clock = CronTriggerTimetable(
        cadence.cron, timezone=operator_timezone(), run_immediately=run_immediately
    )
    if cadence.runs_after is None:
        return by_clock
    return AssetOrTimeSchedule(timetable=by_clock, assets=lake_asset(cadence.runs_after))


def lake_asset(dag: str) -> Asset:
    """Return the asset that is updated when answers collected by a DAG are staged."""
    return Asset(f"lake/{dag}")


def raw_asset(dag: str) -> Asset:
    """Return the asset that is updated when a window of a DAG has landed."""
    return Asset(f"raw/{dag}")


def export_asset(name: str) -> Asset:
    """Return the asset that is updated when a dataset was exported anew."""
    return Asset(f"exports/{name}")


def any_lake_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever something was staged."""
    return AssetAny(*map(lake_asset, CADENCES))


def any_raw_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever a window has landed."""
    return AssetAny(*map(raw_asset, polling_dags()))


def polling_dags() -> list[str]:
    """Return the DAGs that poll in windows; another DAG stages what they collect."""
    return [dag for dag, cadence in CADENCES.items() if cadence.every is None]


def window_schedule() -> DeltaTriggerTimetable:
    """Return the schedule of a DAG that polls: one run per window, started before the previous one ends."""
    return DeltaTriggerTimetable(timedelta(seconds=load_settings().window_seconds))

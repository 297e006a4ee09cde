"""Stages finished raw windows: normalises, validates and writes them to the lake; compacts the lake."""

from transit_etl.stage.compaction import compact as _compact
from transit_etl.stage.data_docs import build_data_docs
from transit_etl.stage.lake import ensure_schemas
from transit_etl.stage.quality import BatchRejectedError
from transit_etl.stage.raw import RawFileError
from transit_etl.stage.repair import repairing
from transit_etl.stage.runner import restage as _restage
from transit_etl.stage.runner import stage as _stage
from transit_etl.stage.stage_report import StageProgress, StageReport
from transit_etl.stage.suites import SuiteError
from transit_etl.store.sync import raw_days_synced, synced

compact = synced(repairing(_compact))
restage = raw_days_synced(_restage)
stage = synced(repairing(_stage))

__all__ = [
    "BatchRejectedError",
    "RawFileError",
    "StageProgress",
    "StageReport",
    "SuiteError",
    "build_data_docs",
    "compact",
    "ensure_schemas",
    "restage",
    "stage",
]

"""Turns the lake into the warehouse: builds and checks it, publishes it in one step, answers questions."""

from transit_base.errors import NotPublishedError
from transit_etl.queries import QueryError, UnreadableError, query, query_all
from transit_etl.stage.repair import repairing
from transit_etl.store.sync import pulled
from transit_etl.warehouse.building.builder import BuildReport
from transit_etl.warehouse.building.builder import build as _build
from transit_etl.warehouse.building.dbt import BuildFailedError, BuildProgress
from transit_etl.warehouse.building.lake_changes import DamagedLakeError, EmptyLakeError
from transit_etl.warehouse.building.variants import Variant
from transit_etl.warehouse.building.variants import build_variant as _build_variant
from transit_etl.warehouse.database import BuildRunningError, WarehouseError
from transit_etl.warehouse.describing.contract import ContractError, read_contract
from transit_etl.warehouse.describing.contract_changes import (
    broken_promises,
    changes_table,
    contract_changes,
    deprecations_table,
)
from transit_etl.warehouse.describing.contract_summary import read_earlier, write_summary
from transit_etl.warehouse.describing.model_pages import model_page_policy
from transit_etl.warehouse.durations import last_durations
from transit_etl.warehouse.findings import Misleading, lasting_findings, published_findings
from transit_etl.warehouse.publishing.completion import outdated
from transit_etl.warehouse.publishing.differences import ComparisonError, Differences, compare
from transit_etl.warehouse.publishing.published_audit import AuditFigures, audit_figures
from transit_etl.warehouse.publishing.published_record import (
    PublishedFile,
    lost_publication,
    read_published,
    unreadable,
)
from transit_etl.warehouse.publishing.publisher import UncheckedBuildError, publish

build = pulled(repairing(_build, DamagedLakeError, BuildFailedError))
build_variant = pulled(_build_variant)

__all__ = [
    "AuditFigures",
    "BuildFailedError",
    "BuildProgress",
    "BuildReport",
    "BuildRunningError",
    "ComparisonError",
    "ContractError",
    "DamagedLakeError",
    "Differences",
    "EmptyLakeError",
    "Misleading",
    "NotPublishedError",
    "PublishedFile",
    "QueryError",
    "UncheckedBuildError",
    "UnreadableError",
    "Variant",
    "WarehouseError",
    "audit_figures",
    "broken_promises",
    "build",
    "build_variant",
    "changes_table",
    "compare",
    "contract_changes",
    "deprecations_table",
    "last_durations",
    "lasting_findings",
    "lost_publication",
    "model_page_policy",
    "outdated",
    "publish",
    "published_findings",
    "query",
    "query_all",
    "read_contract",
    "read_earlier",
    "read_published",
    "unreadable",
    "write_summary",
]

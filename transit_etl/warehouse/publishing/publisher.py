"""Publishes the promised part of a checked build in one atomic step."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from transit_base.files import replaced_atomically
from transit_etl import paths
from transit_etl.identity import claim
from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building.variants import drop_unfinished
from transit_etl.warehouse.database import (
    WarehouseError,
    database_path,
    last_build,
    open_build_database,
    warehouse_lock,
)
from transit_etl.warehouse.describing.contract import contracts, write_contract
from transit_etl.warehouse.describing.dbt_manifest import last_manifest, parsed_manifest
from transit_etl.warehouse.describing.dictionary import found_columns
from transit_etl.warehouse.describing.dictionary_files import write_dictionary_files
from transit_etl.warehouse.describing.models import tables_by_date
from transit_etl.warehouse.durations import remember_duration
from transit_etl.warehouse.publishing.completion import complete
from transit_etl.warehouse.publishing.detail_files import files_of, remove_unused
from transit_etl.warehouse.publishing.promised_copy import copy_promised
from transit_etl.warehouse.publishing.published_record import record_next, record_published


class UncheckedBuildError(WarehouseError):
    """The last build of the build database did not finish, or a check failed."""


def publish(settings: BuildSettings) -> Path:
    """Replace the published file by what is promised of the checked build, atomically; return its path.

    Readers that hold the old file open keep it, and its files of detail until the next publication. Checksums
    are recorded before the file takes its place.
    UncheckedBuildError leaves the published file unchanged.
    """
    target = paths.published_database(settings.data_dir).absolute()
    claim(settings)
    with warehouse_lock(settings):
        started_at = time.monotonic()
        replaced = files_of(target)
        with _passed_build(settings) as build, replaced_atomically(target) as unfinished:
            unfinished.with_name(f"{unfinished.name}.wal").unlink(missing_ok=True)  # of a killed publication
            last = last_manifest(settings.data_dir)
            by_date = tables_by_date(last) if last else {}
            identity = copy_promised(build, unfinished, settings, by_date)
            manifest = last or parsed_manifest()
            dictionary = complete(unfinished, settings, identity, found_columns(build), manifest)
            record_next(settings.data_dir, unfinished)
        record_published(settings.data_dir)
        remove_unused(settings.data_dir, [*files_of(target), *replaced])
        write_dictionary_files(target.parent, dictionary)
        write_contract(paths.contract_dir(settings.data_dir), contracts(dictionary, manifest, settings))
        remember_duration(settings.data_dir, "publish", time.monotonic() - started_at)
    return target


@contextmanager
def _passed_build(settings: BuildSettings) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the build database if its last build passed, or raise."""
    path = database_path(settings)
    if not path.exists():
        raise UncheckedBuildError(f"nothing to publish: there is no build at {path}")
    with open_build_database(settings) as connection:
        number, outcome = last_build(connection)
        if outcome != "passed":
            raise UncheckedBuildError(
                f"nothing published: build {number} is {outcome}, not passed; correct it and build again"
            )
        drop_unfinished(connection, settings)
        yield connection

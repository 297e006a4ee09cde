"""Publishes a checked build in one atomic step."""

import errno
import os
import time
from pathlib import Path
from typing import BinaryIO

from transit_etl import paths
from transit_etl.files import open_atomic
from transit_etl.settings import Settings
from transit_etl.warehouse.database import (
    WarehouseError,
    database_path,
    last_build,
    open_build_database,
    warehouse_lock,
)
from transit_etl.warehouse.dictionary_files import write_dictionary_files
from transit_etl.warehouse.durations import remember_duration
from transit_etl.warehouse.publication import complete
from transit_etl.warehouse.variants import drop_unfinished

_CHUNK = 1 << 30


class UncheckedBuildError(WarehouseError):
    """The last build of the build database did not finish, or a check failed."""


def publish(settings: Settings) -> Path:
    """Replace the published file by a copy of the checked build, atomically; return its path.

    Readers that hold the old file open keep it. UncheckedBuildError leaves the published file unchanged.
    """
    target = paths.published_database(settings.data_dir).absolute()
    unfinished = target.with_name(f"{target.name}.new")
    with warehouse_lock(settings):
        started_at = time.monotonic()
        _checkpoint_passed_build(settings)
        unfinished.with_name(f"{unfinished.name}.wal").unlink(missing_ok=True)  # of a killed publication
        with open_atomic(target, temporary=unfinished) as writer:
            _copy(database_path(settings), writer)
            dictionary = complete(unfinished, settings)
        write_dictionary_files(target.parent, dictionary)
        remember_duration(settings.data_dir, "publish", time.monotonic() - started_at)
    return target


def _checkpoint_passed_build(settings: Settings) -> None:
    """Write the log of a passed build into its file, so that a copy is complete, or raise."""
    path = database_path(settings)
    if not path.exists():
        raise UncheckedBuildError(f"nothing to publish: there is no build at {path}")
    with open_build_database(settings) as connection:
        number, outcome = last_build(connection)
        if outcome != "passed":
            raise UncheckedBuildError(
                f"nothing published: build {number} is {outcome}, not passed; correct it and build again"
            )
        drop_unfinished(connection)
        connection.execute("checkpoint")


def _copy(source: Path, writer: BinaryIO) -> None:
    with source.open("rb") as reader:
        left = os.fstat(reader.fileno()).st_size
        while left > 0:
            copied = os.copy_file_range(reader.fileno(), writer.fileno(), min(left, _CHUNK))
            if copied == 0:
                raise OSError(errno.EIO, "it ended before it was copied whole", str(source))
            left -= copied

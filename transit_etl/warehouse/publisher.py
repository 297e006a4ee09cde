"""Puts a checked build in front of analysts in one atomic step, and answers questions from it."""

import os
from pathlib import Path

import duckdb
import pyarrow as pa

from transit_etl import paths
from transit_etl.files import open_atomic
from transit_etl.settings import Settings
from transit_etl.warehouse.database import WarehouseError, database_path, last_build, only_one, opened
from transit_etl.warehouse.variants import drop_unfinished

_CHUNK = 1 << 30


class UncheckedBuildError(WarehouseError):
    """The build database holds no build that came to its end with all checks passed."""


class NotPublishedError(WarehouseError):
    """There is no published warehouse yet."""


class QueryError(WarehouseError):
    """The database cannot answer a question; the message is its own."""


def publish(settings: Settings) -> Path:
    """Copy the checked build beside the published file and rename it into place; return where it is.

    Readers that hold the old file open keep it; UncheckedBuildError leaves what is published as it was.
    """
    with only_one(settings):
        _settle(settings)
        return _copy(database_path(settings), paths.published_database(settings.data_dir).absolute())


def query(settings: Settings, sql: str) -> pa.Table:
    """Answer a question from the published warehouse, read-only; instants are UTC.

    NotPublishedError before the first publication, QueryError when the database refuses the question.
    """
    path = paths.published_database(settings.data_dir)
    if not path.exists():
        raise NotPublishedError(f"nothing is published at {path} yet: run build and publish first")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            connection.execute("set timezone = 'UTC'")
            answer = connection.sql(sql)
            table: pa.Table | None = None if answer is None else answer.to_arrow_table()
    except duckdb.Error as error:
        raise QueryError(str(error)) from error
    if table is None:
        raise QueryError("that is no question: it gives no rows")
    return table


def _settle(settings: Settings) -> None:
    """Insist on a passed build, and fold the write-ahead log into the file so that a copy is whole."""
    path = database_path(settings)
    if not path.exists():
        raise UncheckedBuildError(f"nothing to publish: there is no build at {path}")
    with opened(settings) as connection:
        number, outcome = last_build(connection)
        if outcome != "passed":
            raise UncheckedBuildError(
                f"nothing published: build {number} is {outcome}, not passed; mend it and build again"
            )
        drop_unfinished(connection)
        connection.execute("checkpoint")


def _copy(source: Path, target: Path) -> Path:
    with source.open("rb") as reader, open_atomic(target) as writer:
        left = os.fstat(reader.fileno()).st_size
        while left > 0:
            left -= os.copy_file_range(reader.fileno(), writer.fileno(), min(left, _CHUNK))
    return target

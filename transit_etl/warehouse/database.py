"""Opens the build database, for one build or publication at a time, and keeps the history of builds in it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb

from transit_base import promised
from transit_base.errors import TransitError, first_line
from transit_base.files import locked, make_folder
from transit_etl import paths
from transit_etl.settings import FolderSettings

_HISTORY = """
create schema if not exists quality;
create schema if not exists intermediate;
create table if not exists quality.builds (
    build_number bigint primary key,
    outcome varchar not null,
    fingerprint varchar not null,
    first_date date,
    last_date date,
    is_full boolean not null
);
alter table quality.builds add column if not exists dates date[];
create table if not exists intermediate.built_files (
    path varchar primary key,
    size_bytes bigint not null,
    modified_ns bigint not null
);
create table if not exists quality.built_dates (
    operator varchar not null,
    service_date date not null,
    build_number bigint not null,
    models_fingerprint varchar not null,
    ruleset_version bigint,
    answers_digest varchar not null,
    context_digest varchar,
    primary key (operator, service_date)
);
create table if not exists quality.variants (
    suffix varchar primary key,
    outcome varchar not null,
    fingerprint varchar not null,
    ruleset_version bigint,
    as_of timestamp,
    first_date date,
    last_date date
);
create table if not exists quality.operators (
    operator varchar primary key,
    timezone varchar not null,
    service_day_cutoff time not null,
    service_day_starts_seconds bigint not null,
    closed_date date not null
);
alter table quality.operators add column if not exists ruleset_version bigint;
create table if not exists main.last_publication (publication_id uuid, storage_version varchar);
"""

_HISTORY_TABLES = (
    "intermediate.built_files", "quality.builds", "quality.built_dates", "quality.operators",
    "quality.variants",
)  # fmt: skip
REMEDY = "if the disk is well, delete build.duckdb: the next build makes it again from the lake"
MODEL_SCHEMAS = ("staging", promised.WORKING, *promised.SCHEMAS)


class WarehouseError(TransitError):
    """A build, a publication or a question cannot be carried out; the message says why and what to do."""


class BuildRunningError(WarehouseError):
    """Another process is building or publishing this warehouse."""


@contextmanager
def warehouse_lock(settings: FolderSettings) -> Iterator[int]:
    """Hold the warehouse's lock; yield its file descriptor, which a child process may inherit.

    A child process that outlives its killed parent keeps the lock, so that no other process opens the
    database. BuildRunningError if the lock is taken.
    """
    with ExitStack() as stack:
        try:
            descriptor = stack.enter_context(locked(paths.warehouse_lock(settings.data_dir), waits=False))
        except BlockingIOError:
            raise BuildRunningError(
                f"another build or publication is running on {settings.data_dir}: wait for it and try again"
            ) from None
        yield descriptor


@contextmanager
def open_build_database(settings: FolderSettings) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the build database with its history tables; the caller holds the lock.

    WarehouseError if it is damaged, or if the disk does not let it be read or written.
    """
    path = paths.build_database(settings.data_dir)
    make_folder(path.parent)
    with open_to_write(path) as connection:
        connection.execute(_HISTORY)
        yield connection


@contextmanager
def open_to_write(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database in UTC; WarehouseError names it if it, or the disk, does not let it be used."""
    try:
        with duckdb.connect(path) as connection:
            connection.execute("set timezone = 'UTC'")
            yield connection
    except duckdb.Error as error:
        if not _is_of_file(error):
            raise
        raise WarehouseError(
            f"cannot use the build database {path}: {first_line(error)}; {REMEDY}"
        ) from error


def _is_of_file(error: duckdb.Error) -> bool:
    """Tell whether an error is of the file or its disk, not of what was asked.

    DuckDB reports a write that fails, such as on a full disk, as any of the first three. Damage it reports as
    one of the others, or, where a checksum differs, as the base class alone.
    """
    return type(error) is duckdb.Error or isinstance(
        error,
        (
            duckdb.IOException, duckdb.FatalException, duckdb.TransactionException,
            duckdb.SerializationException, duckdb.InternalException,
        ),
    )  # fmt: skip


def drop_models(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every table and view that a build makes, also those of models that no longer exist."""
    relations = connection.execute(
        """
        select 'view', schema_name, view_name from duckdb_views() where schema_name in $schemas
        union all
        select 'table', schema_name, table_name from duckdb_tables()
        where schema_name in $schemas and schema_name || '.' || table_name not in $history
        """,
        {"schemas": MODEL_SCHEMAS, "history": _HISTORY_TABLES},
    ).fetchall()
    for kind, schema, name in relations:
        connection.execute(f'drop {kind} "{schema}"."{name}"')


def forget_publication(connection: duckdb.DuckDBPyConnection) -> None:
    """Let the next publication copy everything: more changed than the service dates of a build."""
    connection.execute("delete from main.last_publication")


def last_build(connection: duckdb.DuckDBPyConnection) -> tuple[int, str]:
    """Return the number and outcome of the last build started; (0, 'none') before the first."""
    query = "select build_number, outcome from quality.builds order by build_number desc limit 1"
    rows = connection.execute(query).fetchall()
    return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "none")


def database_path(settings: FolderSettings) -> Path:
    """Return the absolute path of the build database."""
    return paths.build_database(settings.data_dir).absolute()

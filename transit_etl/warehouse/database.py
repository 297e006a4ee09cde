"""Opens the build database, for one build or publication at a time, and keeps the history of builds in it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import duckdb

from transit_etl import paths
from transit_etl.errors import TransitError, first_line
from transit_etl.files import locked, make_folder
from transit_etl.settings import Settings

_HISTORY = """
create schema if not exists quality;
create table if not exists quality.builds (
    build_number bigint primary key,
    outcome varchar not null,
    fingerprint varchar not null,
    first_date date,
    last_date date,
    is_full boolean not null
);
alter table quality.builds add column if not exists dates date[];
create table if not exists quality.built_files (
    path varchar primary key,
    size_bytes bigint not null,
    modified_ns bigint not null
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
comment on table quality.builds is 'One row per build of this database, passed or not.';
comment on column quality.builds.build_number is 'Number of the build, counted from 1.';
comment on column quality.builds.outcome is '`running`, `passed` or `failed`; one killed stays `running`.';
comment on column quality.builds.fingerprint is 'Changes whenever the dbt project does.';
comment on column quality.builds.first_date is 'First service date it builds.';
comment on column quality.builds.last_date is 'Last service date it builds.';
comment on column quality.builds.dates is 'Service dates it builds; null: all from the first to the last.';
comment on column quality.builds.is_full is 'True when it built every table anew.';
comment on table quality.built_files is 'One row per lake file that a passed build has read completely.';
comment on column quality.built_files.path is 'Path of the file in the lake.';
comment on column quality.built_files.size_bytes is 'Size of the file when it was read.';
comment on column quality.built_files.modified_ns is 'When the file was modified: nanoseconds since 1970.';
comment on table quality.variants is 'One row per build under another ruleset or as of another moment.';
comment on column quality.variants.suffix is 'Ending of the names of its schemas (`_ruleset_2`).';
comment on column quality.variants.outcome is '`running` or `passed`.';
comment on column quality.variants.fingerprint is 'That of its last build (`quality.builds`).';
comment on column quality.variants.ruleset_version is 'Its ruleset; null for the one in force on each date.';
comment on column quality.variants.as_of is 'Instant (UTC) up to which answers are used; null: all.';
comment on column quality.variants.first_date is 'First service date it holds.';
comment on column quality.variants.last_date is 'Last service date it holds.';
"""


_HISTORY_TABLES = ("builds", "built_files", "variants")
_MODEL_SCHEMAS = ("staging", "intermediate", "core", "marts", "quality")


class WarehouseError(TransitError):
    """A build, a publication or a question cannot be carried out; the message says why and what to do."""


class BuildRunningError(WarehouseError):
    """Another process is building or publishing this warehouse."""


@contextmanager
def warehouse_lock(settings: Settings) -> Iterator[int]:
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
def open_build_database(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the build database with its history tables; the caller holds the lock.

    WarehouseError if it is damaged, or if the disk does not let it be read or written.
    """
    path = paths.build_database(settings.data_dir)
    make_folder(path.parent)
    try:
        with duckdb.connect(path) as connection:
            connection.execute("set timezone = 'UTC'")
            connection.execute(_HISTORY)
            yield connection
    except (duckdb.IOException, duckdb.FatalException, duckdb.TransactionException) as error:
        # DuckDB reports a write that fails, such as on a full disk, as any of the three.
        raise WarehouseError(f"cannot use the build database {path}: {first_line(error)}") from error


def drop_models(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop every table and view that a build makes, also those of models that no longer exist."""
    relations = connection.execute(
        """
        select 'view', schema_name, view_name from duckdb_views() where schema_name in $schemas
        union all
        select 'table', schema_name, table_name from duckdb_tables()
        where schema_name in $schemas and not (schema_name = 'quality' and table_name in $history)
        """,
        {"schemas": _MODEL_SCHEMAS, "history": _HISTORY_TABLES},
    ).fetchall()
    for kind, schema, name in relations:
        connection.execute(f'drop {kind} "{schema}"."{name}"')


def last_build(connection: duckdb.DuckDBPyConnection) -> tuple[int, str]:
    """Return the number and outcome of the last build started; (0, 'none') before the first."""
    query = "select build_number, outcome from quality.builds order by build_number desc limit 1"
    rows = connection.execute(query).fetchall()
    return (int(rows[0][0]), str(rows[0][1])) if rows else (0, "none")


def database_path(settings: Settings) -> Path:
    """Return the absolute path of the build database."""
    return paths.build_database(settings.data_dir).absolute()

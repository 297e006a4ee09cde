"""Copies what is promised of a build into the file to publish, in a format that DuckDB 1.4 can open.

Where the file published last was made of the same build database, its bytes are copied, and of the tables by
date only the dates built since then: the work then grows with these dates, and not with the history.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from uuid import uuid4

import duckdb

from transit_etl import paths
from transit_etl.files import FILE_MODE, copy_bytes
from transit_etl.promised import original_schema
from transit_etl.quoting import quoted_name, sql_text
from transit_etl.service_day import DAY
from transit_etl.settings import Settings
from transit_etl.warehouse.contents import MADE_LATER, Contents, Place, published_contents, tables_of
from transit_etl.warehouse.database import forget_publication
from transit_etl.warehouse.models import DatedBy
from transit_etl.warehouse.ranges import date_ranges

_STORAGE = "v1.4.0"
_MEMORY = "1GB"
# One row if this build database was published last: whether all of it was built since then, or which dates.
_BUILT_SINCE = """
select
    coalesce(bool_or(builds.is_full or builds.dates is null) filter (builds.build_number is not null), false),
    flatten(list(builds.dates))
from published.quality.publication as published
inner join main.last_publication as last using (publication_id)
left join quality.builds as builds on builds.build_number > published.build_number
where last.storage_version = ?
group by published.build_number
"""
_FUNCTIONS = """
select function_name, array_to_string(parameters, ', '), macro_definition from duckdb_functions()
where database_name = 'build' and not internal and function_type = 'table_macro'
"""
_OWN_VIEWS = """
select schema_name, view_name from duckdb_views() where database_name = 'published' and not internal
"""


def copy_promised(
    build: duckdb.DuckDBPyConnection, target: Path, settings: Settings, by_date: Mapping[Place, DatedBy]
) -> str:
    """Write the promised tables and views of a build into a new file; return what identifies its publication.

    The build database keeps that too: by it, the next publication knows the file that it may continue. Of
    the tables `by_date` it then copies only the dates built since.
    """
    scratch = (paths.dbt_dir(settings.data_dir) / "scratch").absolute()
    build.execute(f"set memory_limit = '{_MEMORY}'; set temp_directory = {sql_text(str(scratch))}")
    build.execute("set enable_progress_bar = false")
    contents = published_contents(build)
    previous = paths.published_database(settings.data_dir)
    dates = _dates_built_since(build, previous, contents)
    if dates is not None:
        copy_bytes(previous, target)
        _copy_changes(build, target, contents, by_date, dates)
    if dates is None or not _has_all_rows(build, target, contents):
        _copy_all(build, target, contents)
    target.chmod(target.stat().st_mode & FILE_MODE)
    identity = str(uuid4())
    forget_publication(build)
    build.execute("insert into main.last_publication values (?, ?)", [identity, _STORAGE])
    return identity


def _dates_built_since(
    build: duckdb.DuckDBPyConnection, previous: Path, contents: Contents
) -> set[date] | None:
    """Return the service dates built since the last publication; None if its file cannot be continued."""
    if not previous.is_file():
        return None
    try:
        with _attached(build, previous, "read_only"):
            row = build.execute(_BUILT_SINCE, [_STORAGE]).fetchone()
            tables = tables_of(build, "published")
    except duckdb.Error:  # it is damaged, or an older version made it
        return None
    for place in MADE_LATER:
        tables.pop(place, None)
    if row is None or row[0] or tables != contents.tables:
        return None
    return set(row[1] or ())


def _copy_all(build: duckdb.DuckDBPyConnection, target: Path, contents: Contents) -> None:
    target.unlink(missing_ok=True)
    with _attached(build, target, f"storage_version '{_STORAGE}', recovery_mode no_wal_writes"):
        for schema in contents.schemas:
            build.execute(f'create schema published."{schema}"')
        for place in contents.tables:
            _copy_table(build, place)
        _create_views(build, contents)


def _copy_changes(
    build: duckdb.DuckDBPyConnection,
    target: Path,
    contents: Contents,
    by_date: Mapping[Place, DatedBy],
    dates: set[date],
) -> None:
    """Bring a file published before up to a build: these dates of the tables by date, all of the others."""
    with _attached(build, target, "recovery_mode no_wal_writes"):
        for schema, name in build.execute(_OWN_VIEWS).fetchall():
            build.execute(f'drop view published."{schema}"."{name}"')
        for schema, name in contents.tables:
            if original_schema(schema) != schema:
                continue  # of a variant: whatever builds one lets everything be copied
            if (schema, name) in by_date:
                _copy_dates(build, (schema, name), by_date[schema, name], dates)
            else:
                _copy_table(build, (schema, name))
        _create_views(build, contents)


def _copy_table(build: duckdb.DuckDBPyConnection, place: Place) -> None:
    name = _quoted(place)
    build.execute(f"create or replace table published.{name} as from build.{name}")


def _copy_dates(build: duckdb.DuckDBPyConnection, place: Place, dated_by: DatedBy, dates: set[date]) -> None:
    """Replace the rows that a build of these service dates replaces."""
    around = range(-dated_by.days_around, dated_by.days_around + 1)
    replaced = sorted({day + DAY * n_days for day in dates for n_days in around})
    name = _quoted(place)
    for first, last in date_ranges(replaced):
        rows = f"where {quoted_name(dated_by.column)} between date '{first}' and date '{last}'"
        build.execute(f"delete from published.{name} {rows}")
        build.execute(f"insert into published.{name} from build.{name} {rows}")


def _create_views(build: duckdb.DuckDBPyConnection, contents: Contents) -> None:
    """Create the views, and the functions that the models make, among the tables that they are to read."""
    functions = build.execute(_FUNCTIONS).fetchall()
    build.execute("use published")
    for statement in contents.views.values():
        build.execute(statement)
    for name, parameters, definition in functions:
        build.execute(f"create or replace macro {name}({parameters}) as table {definition}")
    build.execute("use build")


def _has_all_rows(build: duckdb.DuckDBPyConnection, target: Path, contents: Contents) -> bool:
    """Tell whether every table has as many rows as in the build."""
    counted = "(select count(*) from {}.{})"
    with _attached(build, target, "read_only"):
        for name in map(_quoted, contents.tables):
            counts = [counted.format(database, name) for database in ("build", "published")]
            if build.execute(f"select {' = '.join(counts)}").fetchone() != (True,):
                return False
    return True


@contextmanager
def _attached(build: duckdb.DuckDBPyConnection, path: Path, options: str) -> Iterator[None]:
    build.execute(f"attach {sql_text(str(path))} as published ({options})")
    try:
        yield
        if "read_only" not in options:
            build.execute("checkpoint published")
    finally:
        build.execute("use build; detach published")


def _quoted(place: Place) -> str:
    return ".".join(map(quoted_name, place))

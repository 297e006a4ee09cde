"""Copies what is promised of a build into the file to publish, in a format that DuckDB 1.4 can open.

Where the file published last was made of the same build database, its bytes are copied, and of the tables by
date only the dates built since then: the work then grows with these dates, and not with the history.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from uuid import uuid4

import duckdb

from transit_base.files import FILE_MODE, copy_bytes
from transit_base.promised import RECENT, original_schema
from transit_base.quoting import quoted_name, sql_text
from transit_etl import paths
from transit_etl.engine_functions import called_functions
from transit_etl.service_day import DAY
from transit_etl.settings import BuildSettings, FolderSettings
from transit_etl.warehouse.database import forget_publication
from transit_etl.warehouse.describing.contents import (
    MADE_LATER,
    Contents,
    Place,
    published_contents,
    quoted_place,
    tables_of,
)
from transit_etl.warehouse.describing.models import DatedBy
from transit_etl.warehouse.publishing.detail_files import (
    DetailFile,
    DetailFiles,
    are_there,
    first_recent_date,
    large_tables,
    record_files,
    recorded_files,
)
from transit_etl.warehouse.publishing.published_record import is_as_published
from transit_etl.warehouse.ranges import date_ranges

_STORAGE = "v1.4.0"
_MEMORY = "1GB"
_GB = 1e9
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


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The published file that may be continued: the service dates built since, and its files of detail.

    Without `dates` it cannot be continued.
    """

    dates: set[date] | None
    files: list[DetailFile]
    tables: Collection[Place]


def copy_promised(
    build: duckdb.DuckDBPyConnection, target: Path, settings: BuildSettings, by_date: Mapping[Place, DatedBy]
) -> str:
    """Write the promised tables and views of a build into a new file; return what identifies its publication.

    The build database keeps that too: by it, the next publication knows the file that it may continue. Of
    the tables `by_date` it then copies only the dates built since. Past the size that is set, older months of
    large ones are written into files beside it.
    """
    scratch = (paths.dbt_dir(settings.data_dir) / "scratch").absolute()
    build.execute(f"set memory_limit = '{_MEMORY}'; set temp_directory = {sql_text(str(scratch))}")
    build.execute("set enable_progress_bar = false")
    contents = published_contents(build)
    previous = paths.published_database(settings.data_dir)
    earlier = _earlier(build, settings.data_dir, contents)
    identity = str(uuid4())
    most_bytes = settings.published_max_gb * _GB
    detail = None
    if _n_bytes(previous, earlier) > most_bytes / (2 if earlier.files else 1):  # else it would go to and fro
        detail = _detail(build, settings, identity, by_date, earlier)
    copy = _Copy(build, target, contents, by_date, detail)
    dates = earlier.dates if (detail is not None) == bool(earlier.files) else None
    if dates is not None:
        copy_bytes(previous, target)
        copy.change(dates, earlier.tables)
    if dates is None or not copy.has_all_rows():
        copy.write_all()
    if (
        detail is None
        and target.stat().st_size > most_bytes
        and (detail := _detail(build, settings, identity, by_date, earlier)) is not None
    ):
        _Copy(build, target, contents, by_date, detail).write_all()
    target.chmod(target.stat().st_mode & FILE_MODE)
    forget_publication(build)
    build.execute("insert into main.last_publication values (?, ?)", [identity, _STORAGE])
    return identity


def _earlier(build: duckdb.DuckDBPyConnection, data_dir: Path, contents: Contents) -> _Earlier:
    """Say what of the file published last can be continued: nothing of one that has changed since."""
    nothing, previous = _Earlier(None, [], ()), paths.published_database(data_dir)
    if not previous.is_file():
        return nothing
    is_whole = is_as_published(data_dir)
    try:
        with _attached(build, previous, "read_only"):
            rows = build.execute(_BUILT_SINCE, [_STORAGE]).fetchall()
            tables = tables_of(build, "published")
            files = recorded_files(build, "published")
    except duckdb.Error:  # it is damaged, or an older version made it
        return nothing
    for place in MADE_LATER:
        tables.pop(place, None)
    held = {(schema.removeprefix(RECENT), name): columns for (schema, name), columns in tables.items()}
    is_continued = is_whole and bool(rows) and not rows[0][0] and held == contents.tables
    if not is_continued or not are_there(previous.with_name(paths.DETAIL), files):
        return _Earlier(None, files, tables)
    return _Earlier(set(rows[0][1] or ()), files, tables)


def _n_bytes(previous: Path, earlier: _Earlier) -> int:
    """Return the size of the file published last, and of its files of detail."""
    n_bytes = previous.stat().st_size if previous.is_file() else 0
    return n_bytes + sum(each.size_bytes for each in earlier.files)


def _detail(
    build: duckdb.DuckDBPyConnection,
    settings: FolderSettings,
    identity: str,
    by_date: Mapping[Place, DatedBy],
    earlier: _Earlier,
) -> DetailFiles | None:
    """Return which tables have files of detail; None if no table has any."""
    before = first_recent_date(build)
    if before is None:
        return None
    places = large_tables(build, by_date, before, earlier.files)
    if not places:
        return None
    folder = paths.detail_dir(settings.data_dir).absolute()
    return DetailFiles(folder, identity, before, places, earlier.files)


@dataclass(frozen=True, slots=True)
class _Copy:
    """Copies what a build holds into the file to publish, and into files of detail where there are any."""

    build: duckdb.DuckDBPyConnection
    target: Path
    contents: Contents
    by_date: Mapping[Place, DatedBy]
    detail: DetailFiles | None

    def write_all(self) -> None:
        """Write a new file."""
        self.target.unlink(missing_ok=True)
        with _attached(self.build, self.target, f"storage_version '{_STORAGE}', recovery_mode no_wal_writes"):
            for schema in self.contents.schemas:
                self.build.execute(f"create schema published.{quoted_name(schema)}")
            for place in self.contents.tables:
                if self.detail is not None and place in self.detail.places:
                    self._write_split(place, self.detail, None)
                else:
                    self._write_table(place)
            self._create_views()

    def change(self, dates: set[date], held: Collection[Place]) -> None:
        """Bring a file published before up to a build: these dates of the tables by date, all of the others.

        `held` are the tables of that file.
        """
        with _attached(self.build, self.target, "recovery_mode no_wal_writes"):
            for schema, name in self.build.execute(_OWN_VIEWS).fetchall():
                self.build.execute(f'drop view published."{schema}"."{name}"')
            for place in self.contents.tables:
                if original_schema(place[0]) != place[0]:
                    continue  # of a variant: whatever builds one lets everything be copied
                if place not in self.by_date:
                    self._write_table(place)
                elif self.detail is not None and place in self.detail.places:
                    self._write_split(place, self.detail, None if place in held else dates)
                else:
                    self._replace_dates(place, place, self._replaced(place, dates))
            self._create_views()

    def has_all_rows(self) -> bool:
        """Tell whether every table has as many rows as in the build."""
        counted = "(select count(*) from {}.{})"
        with _attached(self.build, self.target, "read_only"):
            for name in map(quoted_place, self.contents.tables):
                counts = [counted.format(database, name) for database in ("build", "published")]
                if self.build.execute(f"select {' = '.join(counts)}").fetchone() != (True,):
                    return False
        return True

    def _write_table(self, place: Place) -> None:
        name = quoted_place(place)
        self.build.execute(f"create or replace table published.{name} as from build.{name}")

    def _write_split(self, place: Place, detail: DetailFiles, dates: set[date] | None) -> None:
        """Write a table into files of detail, and its newest rows into the file.

        `dates` are those built since the file published last; None: that does not hold the table so.
        """
        schema, table = place
        recent = (f"{RECENT}{schema}", table)
        replaced = None if dates is None else self._replaced(place, dates)
        column = quoted_name(self.by_date[place].column)
        detail.write(self.build, place, column, replaced)
        if replaced is None:
            self.build.execute(f"drop table if exists published.{quoted_place(place)}")
            self.build.execute(f"create schema if not exists published.{quoted_name(recent[0])}")
            self.build.execute(
                f"create or replace table published.{quoted_place(recent)} as "
                f"from build.{quoted_place(place)} where coalesce({column} >= date '{detail.before}', true)"
            )
        else:
            self.build.execute(
                f"delete from published.{quoted_place(recent)} where {column} < date '{detail.before}'"
            )
            self._replace_dates(place, recent, [day for day in replaced if day >= detail.before])

    def _replace_dates(self, place: Place, target: Place, replaced: list[date]) -> None:
        """Replace the rows of some dates of a table."""
        column = quoted_name(self.by_date[place].column)
        for first, last in date_ranges(replaced):
            rows = f"where {column} between date '{first}' and date '{last}'"
            self.build.execute(f"delete from published.{quoted_place(target)} {rows}")
            self.build.execute(
                f"insert into published.{quoted_place(target)} from build.{quoted_place(place)} {rows}"
            )

    def _replaced(self, place: Place, dates: set[date]) -> list[date]:
        """Return the dates of the rows of a table that a build of these service dates replaces, sorted."""
        n_around = self.by_date[place].days_around
        return sorted({day + DAY * n_days for day in dates for n_days in range(-n_around, n_around + 1)})

    def _create_views(self) -> None:
        """Create the views, and the functions that the models make, among the tables that they read."""
        functions = self.build.execute(_FUNCTIONS).fetchall()
        views = self.contents.views.values()
        record_files(self.build, self.detail)
        self.build.execute("use published")
        if self.detail is not None:
            self.detail.create_views(self.build)
        for statement in (*called_functions(views), *views):
            self.build.execute(statement)
        for name, parameters, definition in functions:
            self.build.execute(f"create or replace macro {name}({parameters}) as table {definition}")
        self.build.execute("use build")


@contextmanager
def _attached(build: duckdb.DuckDBPyConnection, path: Path, options: str) -> Iterator[None]:
    build.execute(f"attach {sql_text(str(path))} as published ({options})")
    try:
        yield
        if "read_only" not in options:
            build.execute("checkpoint published")
    finally:
        build.execute("use build; detach published")

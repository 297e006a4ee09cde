"""Keeps older months of large tables as Parquet files beside the published file, with one view over both.

A large table `core.x` is then a view: of `recent_core.x`, which is in the file and has the month of the
newest service date and the one before, and of the files of earlier months. A file is never changed: a month
that was built again gets another one.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_base.files import FILE_MODE, remove_folder, replaced_atomically, sync_folder
from transit_base.promised import DETAIL_FOLDER, EXPORTED_WORKING, RECENT
from transit_base.quoting import quoted_name, sql_text
from transit_etl import paths
from transit_etl.service_day import DAY
from transit_etl.warehouse.describing.contents import Place, quoted_place
from transit_etl.warehouse.describing.models import DatedBy

_LEAST_SHARE = 0.01  # of the rows of all older months: a smaller table stays in the file
_TABLE = """
create schema if not exists published.intermediate;
create or replace table published.intermediate.detail_files (
    schema_name varchar, table_name varchar, first_date date, file_name varchar, n_rows bigint,
    size_bytes bigint
)
"""


class DetailFile(NamedTuple):
    """A month of a table: its first day, and the file below the folder of detail that has the rows."""

    schema: str
    table: str
    first_date: date
    file_name: str
    n_rows: int
    size_bytes: int

    @property
    def place(self) -> Place:
        """The table."""
        return self.schema, self.table


@dataclass(slots=True)
class DetailFiles:
    """The files of detail of one publication: `files` fills while its tables are copied.

    `places` are the tables whose rows before the date `before` go into files.
    """

    folder: Path
    identity: str
    before: date
    places: Collection[Place]
    earlier: Collection[DetailFile]
    files: list[DetailFile] = field(default_factory=list)

    def write(
        self, build: duckdb.DuckDBPyConnection, place: Place, column: str, replaced: Collection[date] | None
    ) -> None:
        """Write a table's rows before the date, by month of a quoted column; what did not change stays.

        `replaced` are the dates of the rows that changed since the last publication; None: all may have.
        """
        earlier = {each.first_date: each for each in self.earlier if each.place == place}
        changed = earlier.keys() if replaced is None else {day.replace(day=1) for day in replaced}
        self.files = [each for each in self.files if each.place != place]  # of a first attempt
        for month in _months(build, place, column, self.before):
            if month in earlier and month not in changed:
                self.files.append(earlier[month])
            else:
                self.files.append(self._write_month(build, place, column, month))

    def create_views(self, build: duckdb.DuckDBPyConnection) -> None:
        """Create the view of each table that has files, in the published file, which is in use."""
        for place in self.places:
            folder = f"coalesce(getvariable('{DETAIL_FOLDER}'), {sql_text(str(self.folder))})"
            listed = ", ".join(
                f"{folder} || {sql_text('/' + each.file_name)}" for each in self.files if each.place == place
            )
            older = f" union all from read_parquet([{listed}])" if listed else ""
            recent = quoted_place((RECENT + place[0], place[1]))
            build.execute(f"create or replace view {quoted_place(place)} as from {recent}{older}")

    def _write_month(
        self, build: duckdb.DuckDBPyConnection, place: Place, column: str, month: date
    ) -> DetailFile:
        schema, table = place
        file_name = f"{schema}.{table}/{month:%Y-%m}-{self.identity[:8]}.parquet"
        path = self.folder / file_name
        rows = f"where {column} >= date '{month}' and {column} < date '{month}' + interval 1 month"
        with replaced_atomically(path) as unfinished:
            counted = build.execute(
                f"copy (from build.{quoted_place(place)} {rows}) to {sql_text(str(unfinished))} "
                "(format parquet, compression zstd)"
            ).fetchall()
            unfinished.chmod(unfinished.stat().st_mode & FILE_MODE)
        return DetailFile(schema, table, month, file_name, counted[0][0], path.stat().st_size)


def _months(build: duckdb.DuckDBPyConnection, place: Place, column: str, before: date) -> list[date]:
    """List the first days of the months of which a table has rows before a date."""
    rows = build.execute(
        f"select distinct date_trunc('month', {column})::date as month from build.{quoted_place(place)} "
        f"where {column} < date '{before}' order by month"
    ).fetchall()
    return [month for (month,) in rows]


def first_recent_date(build: duckdb.DuckDBPyConnection) -> date | None:
    """Return the first day of the month before that of the newest service date; None without any."""
    ((newest,),) = build.execute("select max(service_date) from build.core.service_days").fetchall()
    return None if newest is None else (newest.replace(day=1) - DAY).replace(day=1)


def large_tables(
    build: duckdb.DuckDBPyConnection,
    by_date: Mapping[Place, DatedBy],
    before: date,
    earlier: Collection[DetailFile],
) -> set[Place]:
    """Choose the published tables of core, and of working tables, whose older months go into files.

    They have a share of all rows before a date that is worth it, or files already.
    """
    n_rows = {
        place: _n_rows_before(build, place, dated_by, before)
        for place, dated_by in by_date.items()
        if place[0] == "core" or ".".join(place) in EXPORTED_WORKING
    }
    least = _LEAST_SHARE * sum(n_rows.values())
    kept = {each.place for each in earlier}
    return {place for place, n in n_rows.items() if n > 0 and (n >= least or place in kept)}


def record_files(build: duckdb.DuckDBPyConnection, detail: DetailFiles | None) -> None:
    """Write into the published file which files belong to it."""
    build.execute(_TABLE)
    if detail is not None and detail.files:
        build.executemany(
            "insert into published.intermediate.detail_files values (?, ?, ?, ?, ?, ?)", detail.files
        )


def _n_rows_before(build: duckdb.DuckDBPyConnection, place: Place, dated_by: DatedBy, before: date) -> int:
    column = quoted_name(dated_by.column)
    rows = build.execute(
        f"select count(*) from build.{quoted_place(place)} where {column} < date '{before}'"
    ).fetchall()
    return int(rows[0][0])


def recorded_files(connection: duckdb.DuckDBPyConnection, database: str) -> list[DetailFile]:
    """Return the files that belong to an attached published file; an older version's has none."""
    with suppress(duckdb.CatalogException):
        rows = connection.execute(f"from {database}.intermediate.detail_files").fetchall()
        return [DetailFile(*row) for row in rows]
    return []


def files_of(published: Path) -> list[DetailFile]:
    """Return the files that belong to a published file; none if it cannot be read."""
    with suppress(duckdb.Error), duckdb.connect() as connection:
        connection.execute(f"attach {sql_text(str(published))} as published (read_only)")
        return recorded_files(connection, "published")
    return []


def are_there(folder: Path, files: Collection[DetailFile]) -> bool:
    """Tell whether every file is in the folder, with the size that it was written with."""
    with suppress(OSError):
        return all((folder / each.file_name).stat().st_size == each.size_bytes for each in files)
    return False


def remove_unused(data_dir: Path, used: Collection[DetailFile]) -> None:
    """Remove the files of detail that belong to no published file in use, and what a killed writer left."""
    names = {each.file_name for each in used}
    folder = paths.detail_dir(data_dir)
    if not names:
        remove_folder(folder)
    for path in folder.glob("*/*"):
        if str(path.relative_to(folder)) not in names:
            path.unlink()
            sync_folder(path.parent)

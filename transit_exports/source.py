"""Opens the published warehouse for exports, within bounded memory, and reads what it is and holds."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb

from transit_base import promised
from transit_base.errors import NotPublishedError, first_line
from transit_base.quoting import quoted_name, sql_text
from transit_base.stamps import stamp
from transit_exports.request import ExportError
from transit_exports.scope import FILE, connect
from transit_exports.settings import ExportSettings
from transit_exports.statements import macros

_MEMORY = "512MB"
_PUBLICATION = """
select published_at, version, build_number, fingerprint, operators.operator, operators.timezone, first_date,
    least(last_date, closed_date), closed_date, rulesets
from quality.publication, quality.operators
"""
_TABLES = """
select schema_name, table_name, meaning, key_columns, reads
from quality.dictionary_tables
where list_contains($schemas, schema_name)
order by list_position($schemas, schema_name), table_name
"""
_READS = "select schema_name, table_name, reads from quality.dictionary_tables"
_BOUNDS = """
select round(min(longitude), 5), round(min(latitude), 5), round(max(longitude), 5), round(max(latitude), 5)
from core.stops
"""
_COLUMNS = """
select found.schema_name, found.table_name, found.column_name, found.data_type, coalesce(found.comment, ''),
    coalesce(described.unit, '')
from duckdb_columns() as found
left join quality.dictionary_columns as described using (schema_name, table_name, column_name)
where not found.internal and found.database_name = coalesce(
    (select database_name from duckdb_databases() where database_name = $file), current_database()
)
order by found.schema_name, found.table_name, found.column_index
"""


@dataclass(frozen=True, slots=True)
class Publication:
    """What the published file is, with the first and last service date that it has and that are over.

    `closed_date` is the last that is over, whether the file has it or not.
    """

    published_at: datetime
    version: str
    build_number: int
    fingerprint: str
    operator: str
    timezone: str
    first_date: date | None
    last_date: date | None
    closed_date: date
    rulesets: Sequence[int]

    @property
    def stamp(self) -> str:
        """The instant of the publication, as names of folders have it."""
        return stamp(self.published_at)


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, DuckDB's type, meaning and unit."""

    name: str
    type: str
    meaning: str
    unit: str

    @property
    def quoted(self) -> str:
        """The name, quoted for SQL."""
        return quoted_name(self.name)


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the file, with the tables and datasets of the lake (`lake x`) that it was made of.

    `label` is the name of its files: without the schema, unless it is a view with names asked for as such.
    """

    schema: str
    name: str
    meaning: str
    key: Sequence[str]
    reads: Sequence[str]
    columns: Sequence[Column]
    label: str

    @property
    def place(self) -> str:
        """The name with its schema."""
        return f"{self.schema}.{self.name}"

    @property
    def title(self) -> str:
        """The name as a heading has it."""
        return self.name.replace("_", " ").capitalize()

    def has(self, *names: str) -> bool:
        """Tell whether the table has all these columns."""
        return {*names} <= {column.name for column in self.columns}


@dataclass(frozen=True, slots=True)
class Source:
    """The published file, open, what is known of it, and how it is exported.

    `bounds` are those of the places of stops: west, south, east and north in degrees (WGS 84). `reads` says
    what each table of any schema was made of.
    """

    connection: duckdb.DuckDBPyConnection
    publication: Publication
    tables: Mapping[str, Table]
    scratch: Path
    settings: ExportSettings
    bounds: Sequence[float] | None
    reads: Mapping[str, Sequence[str]]

    @property
    def publisher(self) -> str:
        """Who publishes the exports: the operator, if nobody else is named."""
        return self.settings.publisher or self.publication.operator

    @property
    def feed_url(self) -> str:
        """The address that a feed names for its publisher and its operator."""
        return self.settings.publisher_url or self.settings.interface_url

    def table(self, name: str) -> Table:
        """Return a table by its name with or without schema, or raise ExportError with names like it."""
        name = name.strip().lower()
        found = self.tables.get(name) or next(
            (table for table in self.tables.values() if table.name == name), None
        )
        if found is None:
            raise ExportError(f"there is no table {name!r} to export{promised.hint_at(name, self.tables)}")
        return found

    def named(self, table: Table) -> Table:
        """Return the view of a table with names and places of lines and stops; the table if it has none."""
        view = self.tables.get(f"{promised.NAMED}.{table.name}")
        if view is None or table.schema == promised.NAMED or table.has("latitude", "longitude"):
            return table
        return replace(view, label=table.label)

    def chosen(self, names: Sequence[str]) -> list[Table]:
        """Return tables by their names, each once."""
        return list({table.place: table for table in map(self.table, names)}.values())

    def rows(self, query: str, parameters: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Return the rows of a query that has few."""
        return self.connection.execute(query, parameters).fetchall()

    def lineage(self, table: Table) -> set[str]:
        """Name everything that a table was made of, directly or not."""
        found: set[str] = set()
        ahead = list(table.reads)
        while ahead:
            name = ahead.pop()
            if name not in found:
                found.add(name)
                ahead += self.reads.get(name, ())
        return found


@contextmanager
def opened(settings: ExportSettings, scratch: Path) -> Iterator[Source]:
    """Open the published file to read an operator's rows; what does not fit into memory goes into a folder.

    NotPublishedError before the first publication.
    """
    path = settings.database
    if not path.exists():
        raise NotPublishedError(path)
    with readable_errors(settings), connect(path, settings.operator) as connection:
        connection.execute(f"set timezone = 'UTC'; set memory_limit = '{_MEMORY}'")
        connection.execute("set enable_progress_bar = false")  # it would be printed between ours
        connection.execute(f"set temp_directory = {sql_text(str(scratch))}")
        connection.execute(macros())
        yield _source(connection, scratch, settings)


@contextmanager
def readable_errors(settings: ExportSettings) -> Iterator[None]:
    """Raise an error of DuckDB as an ExportError that names the published file."""
    try:
        yield
    except duckdb.Error as error:
        raise ExportError(f"cannot export from {settings.database}: {first_line(error)}") from error


def _source(connection: duckdb.DuckDBPyConnection, scratch: Path, settings: ExportSettings) -> Source:
    publication = Publication(*connection.execute(_PUBLICATION).fetchall()[0])
    columns: dict[tuple[str, str], list[Column]] = {}
    for schema, name, *column in connection.execute(_COLUMNS, {"file": FILE}).fetchall():
        columns.setdefault((schema, name), []).append(Column(*column))
    found = connection.execute(_TABLES, {"schemas": [*promised.SCHEMAS, promised.NAMED]}).fetchall()
    tables = [
        Table(schema, name, meaning, _split(key), _split(reads), columns[schema, name], _label(schema, name))
        for schema, name, meaning, key, reads in found
    ]
    return Source(
        connection,
        publication,
        {table.place: table for table in tables},
        scratch,
        settings,
        _bounds(connection),
        {f"{schema}.{name}": _split(reads) for schema, name, reads in connection.execute(_READS).fetchall()},
    )


def _bounds(connection: duckdb.DuckDBPyConnection) -> list[float] | None:
    [bounds] = connection.execute(_BOUNDS).fetchall()
    return None if None in bounds else list(bounds)


def _label(schema: str, name: str) -> str:
    return f"{schema}_{name}" if schema == promised.NAMED else name


def _split(names: str) -> list[str]:
    return names.split(", ") if names else []

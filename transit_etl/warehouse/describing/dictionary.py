"""Makes the data dictionary from the models: what each table and column of the published file means."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
import yaml

from transit_base import promised
from transit_etl.warehouse.describing.dbt_manifest import PROJECT, Manifest
from transit_etl.warehouse.describing.models import Deprecation, Described, described_tables, models

_SCHEMAS = (*promised.SCHEMAS, promised.WORKING)
# the source of columns that name none
_SOURCES = {"headline": "derived", "marts": "derived", "intermediate": "derived", "quality": "recorded"}
_FACTS = ("unit", "source", "values", "example")
_TABLES, _COLUMNS = "quality.dictionary_tables", "quality.dictionary_columns"


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table: one row per what, the columns that identify a row, and the tables it is computed from."""

    schema_name: str
    table_name: str
    meaning: str
    key_columns: str
    reads: str
    is_promised: bool


@dataclass(frozen=True, slots=True)
class ColumnEntry:
    """A column: its type, meaning and unit, where it comes from, what may stand there, and an example."""

    schema_name: str
    table_name: str
    column_number: int
    column_name: str
    type: str
    meaning: str
    unit: str
    source: str
    allowed_values: str
    example: str


class FoundColumn(NamedTuple):
    """A column as a database has it, by its place; it is numbered within its table."""

    schema: str
    table: str
    name: str
    type: str
    number: int


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The entries of all tables and columns, in the order of the schemas and of the columns."""

    tables: list[TableEntry]
    columns: list[ColumnEntry]

    def columns_of(self, table: TableEntry) -> Iterator[ColumnEntry]:
        """Yield the columns of a table in their order."""
        name = (table.schema_name, table.table_name)
        return (each for each in self.columns if (each.schema_name, each.table_name) == name)


def found_columns(
    connection: duckdb.DuckDBPyConnection, schemas: Sequence[str] = _SCHEMAS
) -> set[FoundColumn]:
    """List the columns that a database has in some schemas, by default those that are described."""
    rows = connection.execute(
        """
        select schema_name, table_name, column_name, data_type, column_index from duckdb_columns()
        where database_name = current_database() and schema_name in $schemas
        """,
        {"schemas": [*schemas]},
    ).fetchall()
    return {FoundColumn(*row) for row in rows}


def read_dictionary(columns_found: Iterable[FoundColumn], manifest: Manifest) -> Dictionary:
    """Describe columns, and the tables that have them; what nothing describes is empty."""
    described = {(each.schema, each.name): each for each in described_tables(manifest)}
    found = sorted(columns_found, key=lambda each: (_SCHEMAS.index(each.schema), each.table, each.number))
    reads = _reads_of(((schema, name) for schema, name, *_ in found), manifest)
    tables: dict[tuple[str, str], TableEntry] = {}
    columns: list[ColumnEntry] = []
    for schema, name, column, kind, number in found:
        table = described.get((schema, name), Described(schema, name, "", {}, {}, "", {}))
        tables[schema, name] = TableEntry(
            schema_name=schema,
            table_name=name,
            meaning=_meaning(table.description, table.deprecation),
            key_columns=table.key,
            reads=reads.get((schema, name), ""),
            is_promised=schema in promised.SCHEMAS,
        )
        columns.append(
            ColumnEntry(
                schema, name, number, column, kind.lower(),
                _meaning(_description(table, column), table.deprecations.get(column)), *_facts(table, column),
            )
        )  # fmt: skip
    return Dictionary(list(tables.values()), columns)


def _description(table: Described, column: str) -> str:
    return str(table.columns.get(column, {}).get("description", ""))


def _meaning(description: str, deprecation: Deprecation | None) -> str:
    return f"{description} {deprecation}" if deprecation else description


def write_dictionary(connection: duckdb.DuckDBPyConnection, dictionary: Dictionary) -> None:
    """Write the entries into the tables of the dictionary."""
    for name, entries in ((_TABLES, dictionary.tables), (_COLUMNS, dictionary.columns)):
        connection.register("entries", pa.Table.from_pylist([asdict(entry) for entry in entries]))
        connection.execute(f"insert into {name} from entries")
        connection.unregister("entries")


def create_tables(connection: duckdb.DuckDBPyConnection) -> None:
    """Create the empty tables of the dictionary, which are described in it too."""
    types = {str: "varchar", int: "integer", bool: "boolean"}
    for name, entry in ((_TABLES, TableEntry), (_COLUMNS, ColumnEntry)):
        columns = ", ".join(f'"{each.name}" {types[each.type]}' for each in fields(entry))  # type: ignore[index]
        connection.execute(f"create or replace table {name} ({columns})")


def _reads_of(tables: Iterable[tuple[str, str]], manifest: Manifest) -> dict[tuple[str, str], str]:
    """Name for each model what it reads, as schema and table; a staged dataset as `lake`.

    A model without a table of its own stands for what it reads.
    """
    schema_of = {name: schema for schema, name in tables if schema != "staging"}
    known = models(manifest)

    @cache  # models meet again and again on the way up: without it the time grows exponentially
    def places(name: str) -> set[str]:
        if name.startswith("staging_"):
            return {f"lake {name.removeprefix('staging_')}"}
        if name in known and name not in schema_of:
            return set().union(*map(places, known[name].reads))
        return {f"{schema_of.get(name, 'core')}.{name}"}

    return {
        (model.schema, model.name): ", ".join(sorted(set().union(*map(places, model.reads))))
        for model in known.values()
    }


def _facts(table: Described, column: str) -> Iterator[str]:
    """Yield unit, source, allowed values and example of a column: its own, its name's, its table's."""
    own: Mapping[str, Any] = table.columns.get(column, {}).get("config", {}).get("meta", {})
    general = {"source": table.meta.get("source", _SOURCES.get(table.schema, ""))}
    checked = {"values": table.values.get(column)}
    for fact in _FACTS:
        named = (
            entry[fact]
            for pattern, entry in _by_name().items()
            if fact in entry and fnmatchcase(column, pattern)
        )
        given = own.get(fact) or (own.get("value") if fact == "example" else None)
        yield str(given or checked.get(fact) or next(named, None) or general.get(fact, ""))


@cache
def _by_name() -> Mapping[str, Mapping[str, str]]:
    text = (PROJECT / "models" / "columns.yml").read_bytes()
    entries: Mapping[str, Mapping[str, str]] = yaml.load(text, Loader=yaml.CSafeLoader)["anchors"]
    return entries

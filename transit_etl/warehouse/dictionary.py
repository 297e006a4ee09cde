"""Writes the data dictionary from the models: what each table and column of the published file means.

It stands in the file, as comments and as two tables, and next to it as a page and as CSV.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, fields
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from transit_etl.warehouse.models import PROJECT, Described, described_tables, models, read_yaml

PROMISED = ("core", "marts", "quality")
SCHEMAS = (*PROMISED, "intermediate")  # those of the published file that a build makes
_SOURCES = {"marts": "derived", "intermediate": "derived", "quality": "recorded"}  # of columns without one
_FACTS = ("unit", "source", "values", "example")
_INTRODUCTION = """
Every table that analysts are promised, and every column. Each publication writes this page from the models,
next to the published file (`dictionary.md`, and `dictionary.csv` with the working tables too) and into it: as
comments, and as `quality.dictionary_tables` and `quality.dictionary_columns`.

A column's source is `upstream` (as the interface gives it), `timetable`, `observed` (by polls), `estimated`
(inferred from polls), `derived` (counted or computed of other columns), `reference` (a file of the
operator), `recorded` (by this program, of its own work) or `setting`."""
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


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The entries of all tables and columns, in the order of the schemas and of the columns."""

    tables: list[TableEntry]
    columns: list[ColumnEntry]

    def columns_of(self, table: TableEntry) -> Iterator[ColumnEntry]:
        """Yield the columns of a table in their order."""
        name = (table.schema_name, table.table_name)
        return (each for each in self.columns if (each.schema_name, each.table_name) == name)


def read_dictionary(connection: duckdb.DuckDBPyConnection) -> Dictionary:
    """Describe the tables and columns that a database has; what nothing describes is empty."""
    described = {(each.schema, each.name): each for each in described_tables()}
    found = connection.execute(
        """
        select schema_name, table_name, column_name, data_type, column_index from duckdb_columns()
        where database_name = current_database() and schema_name in $schemas
        order by list_position($schemas, schema_name), table_name, column_index
        """,
        {"schemas": list(SCHEMAS)},
    ).fetchall()
    reads = _reads_of((schema, name) for schema, name, *_ in found)
    tables: dict[tuple[str, str], TableEntry] = {}
    columns: list[ColumnEntry] = []
    for schema, name, column, kind, number in found:
        table = described.get((schema, name), Described(schema, name, "", {}, {}, "", {}))
        tables[schema, name] = TableEntry(
            schema_name=schema,
            table_name=name,
            meaning=table.description,
            key_columns=table.key,
            reads=reads.get((schema, name), ""),
            is_promised=schema in PROMISED,
        )
        columns.append(
            ColumnEntry(
                schema, name, number, column, kind.lower(),
                table.columns.get(column, {}).get("description", ""), *_facts(table, column),
            )
        )  # fmt: skip
    return Dictionary(list(tables.values()), columns)


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


def as_csv(dictionary: Dictionary) -> str:
    """Return a row for each column, with its table's meaning and key at its end."""
    tables = {(each.schema_name, each.table_name): each for each in dictionary.tables}
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(
        [*(each.name for each in fields(ColumnEntry)), "table_meaning", "key_columns", "reads", "is_promised"]
    )
    for column in dictionary.columns:
        table = tables[column.schema_name, column.table_name]
        promised = str(table.is_promised).lower()
        writer.writerow([*astuple(column), table.meaning, table.key_columns, table.reads, promised])
    return text.getvalue()


def as_page(dictionary: Dictionary) -> str:
    """Return the promised tables and their columns as a page of Markdown."""
    return "\n".join(_page_lines(dictionary)) + "\n"


def _page_lines(dictionary: Dictionary) -> Iterator[str]:
    yield "# Data dictionary"
    yield _INTRODUCTION
    for table in dictionary.tables:
        if table.is_promised:
            yield f"\n## {table.schema_name}.{table.table_name}\n"
            yield f"{table.meaning}\n"
            yield f"Key: {_codes(table.key_columns)}. Made of {_codes(table.reads)}.\n"
            yield "| column | type | unit | source | values | example | meaning |"
            yield "|---|---|---|---|---|---|---|"
            yield from map(_page_row, dictionary.columns_of(table))


def _page_row(column: ColumnEntry) -> str:
    cells = (
        f"`{column.column_name}`", column.type, column.unit, column.source, column.allowed_values,
        column.example, column.meaning,
    )  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _codes(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ")) if names else "none"


def _reads_of(tables: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Name for each model what it reads, as schema and table; a staged dataset as `lake`.

    A model without a table of its own stands for what it reads.
    """
    schema_of = {name: schema for schema, name in tables if schema != "staging"}
    known = models()

    @cache  # models meet again and again on the way up: without it the time grows exponentially
    def places(name: str) -> set[str]:
        if name.startswith("staging_"):
            return {f"lake {name.removeprefix('staging_')}"}
        if name in known and name not in schema_of:
            return set().union(*map(places, known[name].reads))
        return {f"{schema_of.get(name, 'core')}.{name}"}

    return {
        (model.folder.parts[0], model.name): ", ".join(sorted(set().union(*map(places, model.reads))))
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
        yield str(own.get(fact) or checked.get(fact) or next(named, None) or general.get(fact, ""))


@cache
def _by_name() -> Mapping[str, Mapping[str, str]]:
    path = PROJECT / "models" / "columns.yml"
    entries: Mapping[str, Mapping[str, str]] = read_yaml(path)["anchors"]
    return entries

"""Finds what of a build is published: the promised tables and views, and what they and the exports read."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import duckdb

from transit_base.promised import EXPORTED_WORKING, SCHEMAS, WORKING, original_schema
from transit_base.quoting import quoted_name

# The tables that a publication adds: what it is, its files of detail, and the dictionary.
MADE_LATER = (
    ("quality", "publication"), (WORKING, "detail_files"), ("quality", "dictionary_tables"),
    ("quality", "dictionary_columns"),
)  # fmt: skip
Place = tuple[str, str]  # schema and name
Columns = tuple[tuple[str, str], ...]  # name and type
_COLUMNS = """
select schema_name, table_name, list((column_name, data_type) order by column_index)
from duckdb_columns() semi join duckdb_tables() using (database_name, schema_name, table_name)
where database_name = ?
group by all order by all
"""
_VIEWS = """
select schema_name, view_name, sql, json_serialize_sql(substr(sql, strpos(sql, ' AS ') + length(' AS ')))
from duckdb_views()
where database_name = current_database() and not internal
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """The columns of each table, and the statements of the views, each after those of the views it reads."""

    tables: Mapping[Place, Columns]
    views: Mapping[Place, str]

    @property
    def schemas(self) -> list[str]:
        """The names of all schemas."""
        return sorted({schema for schema, _ in (*self.tables, *self.views)})


def published_contents(build: duckdb.DuckDBPyConnection) -> Contents:
    """Find what is published of the build that a connection has open."""
    tables = tables_of(build, "build")
    views = {(schema, name): (sql, tree) for schema, name, sql, tree in build.execute(_VIEWS).fetchall()}
    reads = {place: set(_places_in(json.loads(tree))) for place, (_, tree) in views.items()}
    chosen: set[Place] = set()
    ahead = [each for each in (*tables, *views) if is_published(*each)]
    while ahead:
        place = ahead.pop()
        if place not in chosen:
            chosen.add(place)
            ahead += reads.get(place, ())
    order = TopologicalSorter({view: reads[view] for view in views.keys() & chosen}).static_order()
    return Contents(
        {place: columns for place, columns in tables.items() if place in chosen},
        {place: views[place][0] for place in order if place in views},
    )


def tables_of(connection: duckdb.DuckDBPyConnection, database: str) -> dict[Place, Columns]:
    """List the tables of an attached database, with their columns in order."""
    rows = connection.execute(_COLUMNS, [database]).fetchall()
    return {(schema, name): tuple(columns) for schema, name, columns in rows}


def quoted_place(place: Place) -> str:
    """Return a table's name with its schema, as SQL names it."""
    return ".".join(map(quoted_name, place))


def is_published(schema: str, name: str) -> bool:
    """Tell whether a table or view is published by itself, and not only because another one reads it."""
    return original_schema(schema) in SCHEMAS or f"{schema}.{name}" in EXPORTED_WORKING


def _places_in(node: Any) -> Iterator[Place]:  # noqa: ANN401 - a syntax tree in JSON
    """Yield the tables that a syntax tree names with their schema; others are parts of the query."""
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE" and node["schema_name"]:
            yield node["schema_name"], node["table_name"]
        for each in node.values():
            yield from _places_in(each)
    elif isinstance(node, list):
        for each in node:
            yield from _places_in(each)

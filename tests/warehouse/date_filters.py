"""Finds the tables that a query reads without restricting their dates."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

Node = dict[str, Any]


def tables_read_whole(sql: str, date_columns: Mapping[str, str]) -> list[str]:
    """Return the tables of `date_columns` (table to column) that a SELECT reads without a date filter.

    A filter compares the table's date column with a constant, in the WHERE of the same SELECT or in the
    condition of a join.
    """
    answer = duckdb.execute("select json_serialize_sql(?)", [sql]).fetchall()[0][0]
    parsed = json.loads(answer)
    assert not parsed["error"], parsed
    return sorted(
        {
            table
            for select in _selects(parsed)
            for alias, table in _tables(select["from_table"])
            if table in date_columns and not _is_filtered(select, alias, date_columns[table])
        }
    )


def _selects(node: object) -> Iterator[Node]:
    if isinstance(node, dict):
        if node.get("type") == "SELECT_NODE":
            yield node
        for child in node.values():
            yield from _selects(child)
    elif isinstance(node, list):
        for child in node:
            yield from _selects(child)


def _tables(source: Node) -> Iterator[tuple[str, str]]:
    """Return alias and name of the tables in a FROM clause; its subqueries are SELECTs of their own."""
    if source["type"] == "JOIN":
        yield from _tables(source["left"])
        yield from _tables(source["right"])
    elif source["type"] == "BASE_TABLE":
        yield source["alias"] or source["table_name"], f"{source['schema_name']}.{source['table_name']}"


def _is_filtered(select: Node, alias: str, column: str) -> bool:
    conditions = [select["where_clause"], *_join_conditions(select["from_table"])]
    return any(
        names in ([alias, column], [column]) for condition in conditions for names in _columns(condition)
    )


def _join_conditions(source: Node) -> Iterator[Node | None]:
    if source["type"] == "JOIN":
        yield source["condition"]
        yield from _join_conditions(source["left"])
        yield from _join_conditions(source["right"])


def _columns(condition: Node | None) -> Iterator[list[str]]:
    """Return the columns that a condition compares with constants, in the parts of an AND, not of an OR."""
    if condition is None:
        return
    if condition["type"] == "CONJUNCTION_AND":
        for part in condition["children"]:
            yield from _columns(part)
    elif condition["class"] == "BETWEEN" and "COLUMN_REF" not in str(condition["lower"]):
        yield condition["input"].get("column_names", [])
    elif condition["class"] == "COMPARISON" and "COLUMN_REF" not in str(condition["right"]):
        yield condition["left"].get("column_names", [])

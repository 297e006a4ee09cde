"""Runs the queries of the report, and keeps the text of each as a reader can run it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

import duckdb

from transit_base.quoting import quoted_name, sql_text
from transit_exports.periods import Period

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """The rows of a query, with its text."""

    sql: str
    rows: Sequence[Row]

    def by(self, *names: str) -> dict[tuple[Any, ...], "Answer"]:
        """Return the rows of each combination of values of columns, with the query that gives them."""
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            groups.setdefault(tuple(row[name] for name in names), []).append(row)
        return {
            key: Answer(self._only(dict(zip(names, key, strict=True))), rows) for key, rows in groups.items()
        }

    def none_of(self, **values: Any) -> "Answer":  # noqa: ANN401 - what a column holds
        """Return what `by` has of values that no row has: no rows, and the query."""
        return Answer(self._only(values), [])

    def _only(self, values: Mapping[str, Any]) -> str:
        conditions = " and ".join(
            f"{quoted_name(name)} = {_literal(value)}" for name, value in values.items()
        )
        return f"select * from (\n{self.sql}\n) where {conditions}"


def _literal(value: Any) -> str:  # noqa: ANN401 - what a column holds
    return sql_text(value) if isinstance(value, str) else str(value)


def ask(connection: duckdb.DuckDBPyConnection, name: str, period: Period) -> Answer:
    """Return the answer to a query of `sql` about a period."""
    dates = {"first": f"date {sql_text(str(period.first))}", "last": f"date {sql_text(str(period.last))}"}
    # `$asked` is the common table expression of the instants between which the period lies
    asked = Template(_text("asked")).substitute(dates).strip()
    text = Template(_text(name)).substitute(dates, asked=asked)
    cursor = connection.execute(text)
    names = [column[0] for column in cursor.description or ()]
    return Answer(text.strip(), [dict(zip(names, row, strict=True)) for row in cursor.fetchall()])


@cache
def _text(name: str) -> str:
    return files("transit_reports").joinpath("sql", f"{name}.sql").read_text("utf-8")

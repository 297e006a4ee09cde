"""Turns the columns of a query's result into texts, whole columns at a time: each has one format."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.types as pt

from transit_base.quoting import quoted_name
from transit_etl.cli.output import printable

_SIGNIFICANT, _FEWEST_DECIMALS, _MOST_DECIMALS = 4, 2, 8
_RESULT = "result"  # the name of the rows in the statements of this module


@contextmanager
def opened(rows: pa.Table) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an empty database in which the rows are the table `result`."""
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'; set python_enable_replacements = false")
        connection.register(_RESULT, rows)
        yield connection


def with_distinct_names(rows: pa.Table) -> pa.Table:
    """Rename the columns that have the name of an earlier one, whatever the case: `n`, `N_1`, `n_2`."""
    names: dict[str, str] = {}
    for name in rows.column_names:
        n_before, found = 0, name
        while found.lower() in names:
            n_before += 1
            found = f"{name}_{n_before}"
        names[found.lower()] = found
    return rows.rename_columns(list(names.values()))


def plain_columns(schema: pa.Schema) -> str:
    """Return the select list that makes lists, structs and maps JSON, and leaves the others as they are."""
    names = {quoted_name(field.name): pt.is_nested(field.type) for field in schema}
    return ", ".join(f"to_json({name}) as {name}" if nested else name for name, nested in names.items())


def json_rows(rows: pa.Table) -> list[str]:
    """Return each row as a JSON object; what JSON has no number for is null."""
    rows = with_distinct_names(rows)
    instants = [quoted_name(field.name) for field in rows.schema if pt.is_timestamp(field.type)]
    replaced = ", ".join(f"replace({name}::varchar, ' ', 'T') as {name}" for name in instants)
    columns = f"* replace ({replaced})" if instants else "*"
    with opened(rows) as connection:
        found = connection.sql(
            f"select to_json(each)::varchar from (select {columns} from {_RESULT}) as each"
        ).to_arrow_table()
    return [_without_nan(text) for text in found.column(0).to_pylist()]


def texts(rows: pa.Table) -> list[list[str]]:
    """Return the texts of each column, as a table shows them; an empty text for null."""
    if not rows.num_columns:
        return []
    rows = rows.rename_columns([f"c{number}" for number in range(rows.num_columns)])
    with opened(rows) as connection:
        expressions = [_shown(connection, field) for field in rows.schema]
        found = connection.sql(f"select {', '.join(expressions)} from {_RESULT}").to_arrow_table()
    return [
        _trimmed(column.to_pylist()) if pt.is_floating(field.type) else _printable(column.to_pylist())
        for field, column in zip(rows.schema, found.columns, strict=True)
    ]


def is_number(kind: pa.DataType) -> bool:
    """Tell whether the values of a type are numbers, which a table sets right."""
    return bool(pt.is_integer(kind) or pt.is_floating(kind) or pt.is_decimal(kind))


def _shown(connection: duckdb.DuckDBPyConnection, field: "pa.Field[pa.DataType]") -> str:
    """Return the SQL that makes a column's values texts."""
    name = quoted_name(field.name)
    if pt.is_floating(field.type):
        return f"printf('%.{_decimals(connection, name)}f', {name}::double)"
    if pt.is_timestamp(field.type) and field.type.tz is None:
        return f"strftime({name}, '{_instant_format(connection, name)}')"
    return f"to_json({name})::varchar" if pt.is_nested(field.type) else f"{name}::varchar"


def _decimals(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    """Return how many decimals show four significant digits of the largest value."""
    query = f"select max(abs({name})) from {_RESULT} where isfinite({name})"
    largest = connection.execute(query).fetchall()[0][0]
    if not largest:
        return _FEWEST_DECIMALS
    decimals = _SIGNIFICANT - 1 - math.floor(math.log10(largest))
    return min(max(decimals, _FEWEST_DECIMALS), _MOST_DECIMALS)


def _instant_format(connection: duckdb.DuckDBPyConnection, name: str) -> str:
    """Return the format that shows instants to the second, or as exactly as the most exact one needs."""
    exact = ", ".join(f"bool_or(microsecond({name}) % {unit} <> 0)" for unit in (1_000_000, 1_000))
    has_fraction, has_microseconds = connection.execute(f"select {exact} from {_RESULT}").fetchall()[0]
    fraction = ".%f" if has_microseconds else ".%g" if has_fraction else ""
    return f"%Y-%m-%d %H:%M:%S{fraction}"


def _trimmed(numbers: list[str | None]) -> list[str]:
    """Cut the zeros that end every number of a column, and the point where nothing follows it."""
    shown = [number or "" for number in numbers]
    decimals = [number.rstrip("0").partition(".")[2] for number in shown if "." in number]
    n_cut = min((len(number.partition(".")[2]) for number in shown if "." in number), default=0)
    n_cut -= max(map(len, decimals), default=0)
    if not n_cut:
        return shown
    return [number[:-n_cut].removesuffix(".") if "." in number else number for number in shown]


def _printable(values: list[str | None]) -> list[str]:
    """Escape what a terminal would obey, line ends too."""
    shown = [value or "" for value in values]
    if "".join(shown).isprintable():
        return shown
    return [in_one_line(text) for text in shown]


def in_one_line(text: str) -> str:
    """Escape what a terminal would obey, line ends and tabs too."""
    return printable(text).replace("\n", "\\n").replace("\t", "\\t")


def _without_nan(text: str) -> str:
    if "NaN" not in text and "Infinity" not in text:
        return text
    return json.dumps(_finite(json.loads(text)), ensure_ascii=False, separators=(",", ":"))


def _finite(value: Any) -> Any:  # noqa: ANN401 - anything JSON can hold
    match value:
        case dict():
            return {key: _finite(each) for key, each in value.items()}
        case list():
            return [_finite(each) for each in value]
        case float() if not math.isfinite(value):
            return None
        case _:
            return value

"""How each format writes a column: its SQL, and the names of its type in schemas beside a file."""

from collections.abc import Mapping
from typing import NamedTuple

from transit_base.quoting import sql_text
from transit_exports.source import Column

_SIGNS = r"=+\-@＝＋－＠"  # noqa: RUF001 - what spreadsheets take for the start of a formula
_FORMULA = rf"^[{_SIGNS}\t\r\n]"
# Where semicolons separate cells, some begin within a text, and no quote there hides a line end.
_FORMULA_WITHIN = rf"""([;\t\r\n][\s"']*)([{_SIGNS}])"""


class TypeNames(NamedTuple):
    """The names of a type: in Table Schema, and in CSV on the Web."""

    table_schema: str
    csvw: str


_TEXT, _LIST = TypeNames("string", "string"), TypeNames("array", "json")
_NAMES: Mapping[str, TypeNames] = {
    "BIGINT": TypeNames("integer", "integer"),
    "INTEGER": TypeNames("integer", "integer"),
    "HUGEINT": TypeNames("integer", "integer"),
    "DOUBLE": TypeNames("number", "double"),
    "DECIMAL": TypeNames("number", "decimal"),
    "BOOLEAN": TypeNames("boolean", "boolean"),
    "DATE": TypeNames("date", "date"),
    "TIMESTAMP": TypeNames("datetime", "dateTime"),
    "TIME": TypeNames("time", "time"),
}


def type_names(column: Column) -> TypeNames:
    """Return the names of a column's type; what has none of its own is a text."""
    if is_nested(column):
        return _LIST
    return _NAMES.get(column.type.partition("(")[0], _TEXT)


def is_nested(column: Column) -> bool:
    """Tell whether a column holds lists, structs or maps."""
    return column.type.endswith("]") or column.type.startswith(("STRUCT", "MAP"))


def in_parquet(column: Column) -> str:
    """Return a column as Parquet holds it: instants with their zone, long integers exact."""
    name = column.quoted
    match column.type:
        case "TIMESTAMP":
            return f"timezone('UTC', {name}) as {name}"
        case "HUGEINT":
            return f"{name}::decimal(38, 0) as {name}"  # DuckDB writes it as a floating-point number
        case _:
            return name


def in_csv(column: Column, *, neutralises_formulas: bool) -> str:
    """Return a column as CSV holds it: instants with `Z`, lists as JSON, texts that start no formula."""
    name = expression = column.quoted
    if column.type == "TIMESTAMP":
        expression = _zoned(name)
    if is_nested(column):
        expression = f"to_json({name})::varchar"
    if neutralises_formulas and (is_nested(column) or column.type == "VARCHAR"):
        within = rf"regexp_replace({expression}, {sql_text(_FORMULA_WITHIN)}, '\1''\2', 'g')"
        expression = f"if(regexp_matches({expression}, {sql_text(_FORMULA)}), '''', '') || {within}"
    return name if expression == name else f"{expression} as {name}"


def in_json(column: Column) -> str:
    """Return a column as JSON holds it: instants with `Z`, no numbers that are none."""
    name = column.quoted
    match column.type:
        case "TIMESTAMP":
            return f"{_zoned(name)} as {name}"
        case "DOUBLE":
            return f"case when isfinite({name}) then {name} end as {name}"
        case _:
            return name


def _zoned(instant: str) -> str:
    return f"replace(strftime({instant}, '%Y-%m-%dT%H:%M:%S.%fZ'), '.000000Z', 'Z')"

"""Writes rows of a table into a file by DuckDB's COPY: Parquet, CSV, JSON lines, GeoParquet; streamed."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from shutil import copyfileobj

from transit_etl.exports.parts import Part
from transit_etl.exports.periods import Period, date_column, in_months
from transit_etl.exports.request import ExportError, Request
from transit_etl.exports.source import Column, Source, Table
from transit_etl.stage.raw import sql_text

PARQUET = "format parquet, compression zstd"
CSV = "format csv, new_line '\\r\\n'"  # as RFC 4180 has it; with a header
JSON_LINES = "format json"
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"  # noqa: RUF001 - what spreadsheets take for the start of a formula
_MOST_SORTED = 1_000_000  # rows
_GEOMETRY = "format('POINT({} {})', longitude, latitude)::geometry"

Columns = Callable[[Request, Table], str]


def copy(source: Source, query: str, options: str, path: Path) -> int:
    """Write the rows of a query into a file; return how many there are."""
    [(n_rows,)] = source.rows(f"copy ({query}) to {sql_text(str(path))} ({options})")
    return int(n_rows)


def copy_in_turn(source: Source, queries: Sequence[str], path: Path) -> int:
    """Write the rows of several queries, one after the other, into one CSV file; return how many there are.

    What they sort and join has to fit into memory only one query at a time.
    """
    first, *others = queries
    n_rows = copy(source, first, CSV, path)
    piece = source.scratch / "piece.csv"
    for query in others:
        n_rows += copy(source, query, f"{CSV}, header false", piece)
        with piece.open("rb") as read, path.open("ab") as written:
            copyfileobj(read, written)
    return n_rows


def table_parts(
    source: Source, request: Request, period: Period, *, options: str, suffix: str, columns: Columns
) -> list[Part]:
    """Return a part for each table and month, in folders `month=2026-03` of each table."""
    parts = []
    for table in source.chosen(request.names):
        for month, condition in in_months(table, period):
            query = f"select {columns(request, table)} from {table.place} where {condition} {ordered(table)}"
            folder = f"{table.name}/month={month}" if month else table.name
            write = partial(_write, query, options)
            parts.append(Part(f"{folder}/{table.name}{suffix}", table.place, write, month))
    return parts


def _write(query: str, options: str, source: Source, path: Path) -> int:
    return copy(source, query, options, path)


def ordered(table: Table) -> str:
    """Return the order of rows: by date and key, so that the same rows give the same file.

    A large table keeps the order in which it is stored, which two exports of one file see alike: sorting a
    month of a city takes twice as long as writing it.
    """
    if (table.n_rows or 0) > _MOST_SORTED:
        return ""
    first = date_column(table)
    keys = [name for name in (first, *table.key) if name]
    return f"order by {', '.join(dict.fromkeys(keys))}" if table.key else "order by all"


def all_columns(_request: Request, _table: Table) -> str:
    """Take the columns as they are."""
    return "*"


def csv_columns(request: Request, table: Table) -> str:
    """Return the columns as CSV can hold them: lists as JSON, texts harmless to spreadsheets if asked for."""
    return ", ".join(_csv_column(request, column) for column in table.columns)


def _csv_column(request: Request, column: Column) -> str:
    name, expression = column.quoted, column.quoted
    if is_nested(column):
        expression = f"to_json({name})::varchar"
    if request.neutralises_formulas and (is_nested(column) or column.type == "VARCHAR"):
        expression = (
            f"case when regexp_matches({expression}, {sql_text(_FORMULA)}) "
            f"then '''' || {expression} else {expression} end"
        )
    return name if expression == name else f"{expression} as {name}"


def json_columns(_request: Request, table: Table) -> str:
    """Return the columns as JSON can hold them: no numbers that are none."""
    return ", ".join(
        f"case when isfinite({column.quoted}) then {column.quoted} end as {column.quoted}"
        if column.type == "DOUBLE"
        else column.quoted
        for column in table.columns
    )


def is_nested(column: Column) -> bool:
    """Tell whether a column holds lists, structs or maps."""
    return column.type.endswith("]") or column.type.startswith(("STRUCT", "MAP"))


def with_places(source: Source, request: Request) -> list[Table]:
    """Return the tables with the places of their stops; ExportError if one has none, or no place is known."""
    _require_places(source)
    placed = []
    for table in source.chosen(request.names):
        placed.append(source.places[table.name])
        if not placed[-1].has("latitude", "longitude"):
            raise ExportError(f"{table.place} has no places: a geographic format needs stops")
    return placed


def _require_places(source: Source) -> None:
    [(n_places,)] = source.rows("select count(latitude) from core.stops")
    if not n_places:
        raise ExportError(
            "no stop has a place: the interface gives none; name a file with places in TRANSIT_STOPS_FILE "
            "(a CSV, or a GTFS feed), build and publish again"
        )


def geoparquet_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return a part for each table and month: its rows with names of stops, and their places as geometry."""
    parts = []
    for table in with_places(source, request):
        for month, condition in in_months(table, period):
            geometry = f"case when latitude is not null then {_GEOMETRY} end as geometry"
            query = f"select *, {geometry} from {table.place} where {condition} {ordered(table)}"
            folder = f"{table.name}/month={month}" if month else table.name
            write = partial(_write, query, PARQUET)
            parts.append(Part(f"{folder}/{table.name}.parquet", table.place, write, month))
    return parts

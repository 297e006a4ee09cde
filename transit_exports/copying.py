"""Writes rows of a table into files by DuckDB's COPY: Parquet, CSV, JSON lines, GeoParquet; streamed."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from shutil import copyfileobj
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transit_base.quoting import sql_text
from transit_exports.csv_schemas import with_schemas
from transit_exports.parts import Part
from transit_exports.periods import Period, date_column, in_months
from transit_exports.request import ExportError, Request
from transit_exports.source import Column, Source, Table
from transit_exports.types import in_csv, in_json, in_parquet

PARQUET = "format parquet, compression zstd"
CSV = "format csv, new_line '\\r\\n'"  # as RFC 4180 has it; with a header
JSON_LINES = "format json"
_GEOMETRY = "format('POINT({} {})', longitude, latitude)::geometry"


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


def parquet_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return a Parquet file for each table and month, with the meaning of each column in its metadata."""
    return [
        Part(path, table.place, partial(_write_parquet, table, f"select {columns} {rows}"), month)
        for table in source.chosen(request.names)
        for columns in [", ".join(map(in_parquet, table.columns))]
        for path, rows, month in files_of(table, period, ".parquet")
    ]


def csv_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return a CSV file for each table and month, with schemas beside it."""
    write_column = partial(in_csv, neutralises_formulas=request.neutralises_formulas)
    return with_schemas(
        [
            (table, Part(path, table.place, partial(_write, f"select {columns} {rows}", CSV), month))
            for table in with_names(source, request)
            for columns in [", ".join(map(write_column, table.columns))]
            for path, rows, month in files_of(table, period, ".csv")
        ]
    )


def json_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return a file of JSON lines for each table and month."""
    return [
        Part(path, table.place, partial(_write, f"select {columns} {rows}", JSON_LINES), month)
        for table in source.chosen(request.names)
        for columns in [", ".join(map(in_json, table.columns))]
        for path, rows, month in files_of(table, period, ".jsonl")
    ]


def files_of(table: Table, period: Period, suffix: str) -> Iterator[tuple[str, str, str]]:
    """Yield path, rows (as `from` and what follows) and month of each file, in folders `month=2026-03`."""
    for month, condition in in_months(table, period):
        folder = f"{table.label}/month={month}" if month else table.label
        yield (
            f"{folder}/{table.label}{suffix}",
            f"from {table.place} where {condition} {ordered(table)}",
            month,
        )


def _write(query: str, options: str, source: Source, path: Path) -> int:
    return copy(source, query, options, path)


def _write_parquet(table: Table, query: str, source: Source, path: Path) -> int:
    """Write a file whose metadata have the Arrow schema with descriptions, as Arrow's readers look for it."""
    copy(source, f"from ({query}) limit 0", PARQUET, path)
    columns = {column.name: column for column in table.columns}
    schema = pa.schema([_described(field, columns) for field in pq.read_schema(path)])
    metadata = {
        "ARROW:schema": base64.b64encode(schema.serialize().to_pybytes()).decode(),
        "title": table.title,
        "description": table.meaning,
        "publisher": source.publisher,
        "licence": source.settings.licence,
    }
    listed = ", ".join(f"{sql_text(name)}: {sql_text(text)}" for name, text in metadata.items())
    return copy(source, query, f"{PARQUET}, kv_metadata {{{listed}}}", path)


def _described(field: "pa.Field[Any]", columns: Mapping[str, Column]) -> "pa.Field[Any]":
    column = columns.get(field.name)
    if column is None:
        return field
    return field.with_metadata({"description": column.meaning, "unit": column.unit})


def ordered(table: Table) -> str:
    """Return the order of rows: by date and key, so that the same rows give the same file.

    The order in which they are stored would not: it differs from build to build.
    """
    first = date_column(table)
    keys = [name for name in (first, *table.key) if name]
    return f"order by {', '.join(dict.fromkeys(keys))}" if table.key else "order by all"


def with_names(source: Source, request: Request) -> list[Table]:
    """Return the tables for people: with the names of lines and stops beside their codes."""
    return list({each.place: each for each in map(source.named, source.chosen(request.names))}.values())


def with_places(source: Source, request: Request) -> list[Table]:
    """Return the tables with the places of their stops; ExportError if one has none, or no place is known."""
    _require_places(source)
    placed = []
    for table in source.chosen(request.names):
        placed.append(source.named(table))
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
    geometry = f"case when latitude is not null then {_GEOMETRY} end as geometry"
    return [
        Part(path, table.place, partial(_write_parquet, table, f"select {columns}, {geometry} {rows}"), month)
        for table in with_places(source, request)
        for columns in [", ".join(map(in_parquet, table.columns))]
        for path, rows, month in files_of(table, period, ".parquet")
    ]

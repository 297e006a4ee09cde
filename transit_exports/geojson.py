"""Writes rows with places as GeoJSON (RFC 7946), a feature for each, streamed."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from transit_base.files import open_atomic
from transit_exports.copying import files_of, with_places
from transit_exports.parts import Part
from transit_exports.periods import Period
from transit_exports.request import Request
from transit_exports.source import Source
from transit_exports.types import in_json

_AT_ONCE = 10_000  # features
_FEATURE = """
select json_object(
    'type', 'Feature',
    'geometry', case when latitude is not null then
        json_object('type', 'Point', 'coordinates', json_array(longitude, latitude)) end,
    'properties', to_json(properties)
)::varchar
from (select latitude, longitude, struct_pack({fields}) as properties from ({rows}))
"""


def geojson_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return a part for each table and month, with the names of stops."""
    parts = []
    for table in with_places(source, request):
        fields = ", ".join(
            f"{column.quoted} := {column.quoted}"
            for column in table.columns
            if column.name not in ("latitude", "longitude")
        )
        columns = ", ".join(map(in_json, table.columns))
        for path, rows, month in files_of(table, period, ".geojson"):
            write = partial(_write, _FEATURE.format(fields=fields, rows=f"select {columns} {rows}"))
            parts.append(Part(path, table.place, write, month))
    return parts


def _write(query: str, source: Source, path: Path) -> int:
    n_rows = 0
    with open_atomic(path) as file:
        file.write(b'{"type":"FeatureCollection","features":[')
        for features in _batches(source, query):
            file.write((",\n" if n_rows else "\n").encode() + ",\n".join(features).encode())
            n_rows += len(features)
        file.write(b"\n]}\n")
    return n_rows


def _batches(source: Source, query: str) -> Iterator[list[str]]:
    cursor = source.connection.cursor()
    cursor.execute("set timezone = 'UTC'")
    cursor.execute(query)
    while rows := cursor.fetchmany(_AT_ONCE):
        yield [text for (text,) in rows]

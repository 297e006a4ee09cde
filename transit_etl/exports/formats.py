"""The formats of exports, each with its media type and what plans its files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from transit_etl.exports import gtfs, gtfs_realtime, tides
from transit_etl.exports.copying import (
    CSV,
    JSON_LINES,
    PARQUET,
    all_columns,
    csv_columns,
    geoparquet_parts,
    json_columns,
    table_parts,
    with_places,
)
from transit_etl.exports.coverage import PASSAGES, STATUS, TIMETABLES
from transit_etl.exports.geojson import geojson_parts
from transit_etl.exports.parts import Part
from transit_etl.exports.periods import Period
from transit_etl.exports.request import Request
from transit_etl.exports.source import Source, Table
from transit_etl.exports.xlsx import xlsx_parts


@dataclass(frozen=True, slots=True)
class Format:
    """A format of tables, or a feed that is made of fixed tables.

    `plan` returns the files. `needs` says what was due that a feed depends on; for tables it follows from
    what they were made of. `tables` returns those asked for as they are exported, `contents` names those of a
    feed, `notes` says what a reader must know, and `lacks` what the warehouse does not have that the format
    asks for.
    """

    name: str
    title: str
    media_type: str
    plan: Callable[[Source, Request, Period], list[Part]]
    is_in_all: bool = False
    is_of_moment: bool = False
    is_feed: bool = False
    needs: str | None = None
    contents: str = ""
    notes: Sequence[str] = ()
    lacks: Callable[[Source], list[str]] = lambda _: []
    tables: Callable[[Source, Request], Sequence[Table]] = lambda source, asked: source.chosen(asked.names)


_PARQUET = "application/vnd.apache.parquet"
FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format(
            "parquet", "Parquet", _PARQUET,
            partial(table_parts, options=PARQUET, suffix=".parquet", columns=all_columns), is_in_all=True,
        ),
        Format(
            "csv", "CSV (RFC 4180)", "text/csv",
            partial(table_parts, options=CSV, suffix=".csv", columns=csv_columns), is_in_all=True,
        ),
        Format(
            "jsonl", "JSON lines", "application/x-ndjson",
            partial(table_parts, options=JSON_LINES, suffix=".jsonl", columns=json_columns),
        ),
        Format(
            "xlsx", "Excel workbook",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", xlsx_parts,
        ),
        Format(
            "tides", "TIDES package", "text/csv", tides.tides_parts, is_in_all=True,
            is_feed=True, needs=PASSAGES, contents="Visits and trips", notes=tides.NOTES,
        ),
        Format(
            "gtfs", "GTFS Schedule", "application/zip",
            partial(gtfs.gtfs_parts, statements="gtfs_static", notes=gtfs.STATIC_NOTES), is_in_all=True,
            is_feed=True, needs=TIMETABLES, contents="Timetable",
            notes=gtfs.STATIC_NOTES, lacks=gtfs.stops_without_place,
        ),
        Format(
            "gtfs-retrospective", "GTFS Schedule", "application/zip",
            partial(gtfs.gtfs_parts, statements="gtfs_retrospective", notes=gtfs.RETROSPECTIVE_NOTES),
            is_in_all=True, is_feed=True, needs=PASSAGES, contents="Trips that ran",
            notes=gtfs.RETROSPECTIVE_NOTES, lacks=gtfs.stops_without_place,
        ),
        Format(
            "gtfs-rt", "GTFS Realtime", "application/x-protobuf",
            gtfs_realtime.alert_parts, is_in_all=True, is_of_moment=True,
            is_feed=True, needs=STATUS, contents="Service alerts", notes=gtfs_realtime.NOTES,
        ),
        Format(
            "geojson", "GeoJSON", "application/geo+json", geojson_parts,
            tables=with_places, notes=("A feature is a row; its point is the place of the stop (WGS 84).",),
        ),
        Format(
            "geoparquet", "GeoParquet", _PARQUET, geoparquet_parts,
            tables=with_places, notes=("`geometry` is the place of the stop as a point (WGS 84).",),
        ),
    )
}  # fmt: skip

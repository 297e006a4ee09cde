"""The formats of exports, each with its media type and what plans its files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from transit_exports import gtfs, gtfs_realtime, tides
from transit_exports.copying import (
    csv_parts,
    geoparquet_parts,
    json_parts,
    parquet_parts,
    with_names,
    with_places,
)
from transit_exports.coverage import PASSAGES, STATUS, TIMETABLES
from transit_exports.geojson import geojson_parts
from transit_exports.parts import Part
from transit_exports.periods import Period
from transit_exports.request import Request
from transit_exports.source import Source, Table
from transit_exports.validation import errors_in_gtfs, errors_in_tides
from transit_exports.xlsx import xlsx_parts


@dataclass(frozen=True, slots=True)
class Format:
    """A format of tables, or a feed that is made of fixed tables.

    `plan` returns the files. `needs` says what was due that a feed depends on; for tables it follows from
    what they were made of. `tables` returns those asked for as they are exported, and `lacks` says what the
    warehouse does not have that the format asks for. `errors` are those that a public validator finds in the
    folder.
    """

    name: str
    title: str
    media_type: str
    plan: Callable[[Source, Request, Period], list[Part]]
    is_in_all: bool = False
    is_of_moment: bool = False
    is_feed: bool = False
    needs: str | None = None
    contents: str = ""  # of a feed, as a title has them
    keywords: Sequence[str] = ()  # under which portals find it
    file_type: str = ""  # the code in the European list of file types
    notes: Sequence[str] = ()  # what a reader must know
    lacks: Callable[[Source], list[str]] = lambda _: []
    errors: Callable[[Path], list[str]] = lambda _: []
    tables: Callable[[Source, Request], Sequence[Table]] = lambda source, asked: source.chosen(asked.names)


_PARQUET = "application/vnd.apache.parquet"
FORMATS: Mapping[str, Format] = {
    each.name: each
    for each in (
        Format(
            "parquet", "Parquet", _PARQUET,
            parquet_parts, is_in_all=True, file_type="PARQUET",
        ),
        Format(
            "csv", "CSV (RFC 4180)", "text/csv",
            csv_parts, is_in_all=True, tables=with_names, file_type="CSV",
            notes=(
                "`datapackage.json` (frictionless) describes all files.",
                "Beside each is its Table Schema, and its metadata as CSV on the Web.",
                "A reader that uses neither must read codes as text: the code `0396` is not the number 396.",
            ),
        ),
        Format(
            "jsonl", "JSON lines", "application/x-ndjson",
            json_parts,
        ),
        Format(
            "xlsx", "Excel workbook",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", xlsx_parts,
            tables=with_names, file_type="XLSX",
        ),
        Format(
            "tides", "TIDES package", "text/csv", tides.tides_parts, is_in_all=True,
            is_feed=True, needs=PASSAGES, contents="Visits and trips (TIDES)", notes=tides.NOTES,
            keywords=("TIDES",), file_type="CSV", errors=errors_in_tides,
        ),
        Format(
            "gtfs", "GTFS Schedule", "application/zip",
            partial(gtfs.gtfs_parts, statements="gtfs_static", notes=gtfs.STATIC_NOTES), is_in_all=True,
            is_feed=True, needs=TIMETABLES, contents="Timetable (GTFS Schedule)",
            keywords=("GTFS", "timetable"), file_type="ZIP",
            notes=gtfs.STATIC_NOTES, lacks=gtfs.stops_without_place,
            errors=errors_in_gtfs,
        ),
        Format(
            "gtfs-retrospective", "GTFS Schedule", "application/zip",
            partial(gtfs.gtfs_parts, statements="gtfs_retrospective", notes=gtfs.RETROSPECTIVE_NOTES),
            is_in_all=True, is_feed=True, needs=PASSAGES, contents="Trips that ran (GTFS Schedule)",
            keywords=("GTFS",), file_type="ZIP",
            notes=gtfs.RETROSPECTIVE_NOTES, lacks=gtfs.stops_without_place,
            errors=errors_in_gtfs,
        ),
        Format(
            "gtfs-rt", "GTFS Realtime", "application/x-protobuf",
            gtfs_realtime.alert_parts, is_in_all=True, is_of_moment=True,
            is_feed=True, needs=STATUS, contents="Service alerts (GTFS Realtime)", notes=gtfs_realtime.NOTES,
            keywords=("GTFS Realtime", "service alerts"),
        ),
        Format(
            "geojson", "GeoJSON", "application/geo+json", geojson_parts,
            file_type="GEOJSON", tables=with_places,
            notes=("A feature is a row; its point is the place of the stop (WGS 84).",),
        ),
        Format(
            "geoparquet", "GeoParquet", _PARQUET, geoparquet_parts,
            file_type="PARQUET", tables=with_places,
            notes=("`geometry` is the place of the stop as a point (WGS 84).",),
        ),
    )
}  # fmt: skip

"""Reads the optional reference file of stops: names and places, which the interface does not give.

Where it is a GTFS feed, it also tells what runs on a line.
"""

import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_etl.line_labels import normal_label
from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building.reference_files import (
    ReferenceFileError,
    Row,
    read_entries,
    replace_entries,
)

_STOPS, _ROUTES = "stops.txt", "routes.txt"
_CODES, _NAMES = ("stop_code", "stop_id"), ("stop_name", "name")
_LATITUDES, _LONGITUDES = ("stop_lat", "latitude", "lat"), ("stop_lon", "longitude", "lon")
_STOP = ("", "0")  # GTFS: other location types are stations, entrances and the like
_CODE_DIGITS = 4  # stop codes of the interface


class StopName(NamedTuple):
    """A stop's code, name and place (WGS 84); both coordinates are None where the file gives no place."""

    stop_code: str
    stop_name: str | None
    latitude: float | None
    longitude: float | None


class RouteType(NamedTuple):
    """The number of a route without zeros and slashes, and its type as GTFS counts them."""

    line_label: str
    route_type: int


def read_stop_names(path: Path) -> list[StopName]:
    """Read a CSV with a heading, or a GTFS feed: its `stops.txt`, or the zip that holds it.

    Codes of fewer than four digits are those of the interface without their zeros. Of a code that is listed
    twice the first row counts. ReferenceFileError names the line that is wrong.
    """
    stops = read_entries(
        path, what="stops file", lists="stop", entries_of=_stops_of, read_text=partial(_text_of, _STOPS)
    )
    found: dict[str, StopName] = {}
    for stop in stops:
        found.setdefault(stop.stop_code, stop)
    return list(found.values())


def read_route_types(path: Path) -> list[RouteType]:
    """Read the routes of a GTFS feed; a CSV of stops has none. ReferenceFileError names the wrong line."""
    if not zipfile.is_zipfile(path):
        return []
    with zipfile.ZipFile(path) as feed:
        if _ROUTES not in feed.namelist():
            return []
    return read_entries(
        path, what="stops file", lists="route", entries_of=_routes_of, read_text=partial(_text_of, _ROUTES)
    )


def load_route_types(connection: duckdb.DuckDBPyConnection, operator: str, routes: list[RouteType]) -> None:
    """Replace what the build database knows of the types of routes."""
    replace_entries(connection, "route_types", RouteType, operator, routes)


def load_stop_names(connection: duckdb.DuckDBPyConnection, operator: str, stops: list[StopName]) -> None:
    """Replace what the build database knows of the names of stops."""
    replace_entries(connection, "stop_names", StopName, operator, stops)


def plain_stop_code(code: str) -> str:
    """Return the code of a reference file as the interface writes it: numbers with leading zeros."""
    return code.zfill(_CODE_DIGITS) if code.isdigit() else code


def stop_names(settings: BuildSettings) -> list[StopName]:
    """Read the reference file of the settings; there are no names without one."""
    return read_stop_names(settings.stops_file) if settings.stops_file else []


def route_types(settings: BuildSettings) -> list[RouteType]:
    """Read the types of routes from the reference file of the settings; there are none without one."""
    return read_route_types(settings.stops_file) if settings.stops_file else []


def _text_of(name: str, path: Path) -> str:
    if not zipfile.is_zipfile(path):
        return path.read_text(encoding="utf-8-sig")
    with zipfile.ZipFile(path) as feed:
        if name not in feed.namelist():
            raise ReferenceFileError(f"{path} holds no {name}")
        return feed.read(name).decode("utf-8-sig")


def _routes_of(row: Row, place: str) -> Iterator[RouteType]:
    number, kind = (next(_values(row, (name,)), "") for name in ("route_short_name", "route_type"))
    if not kind.isdecimal():
        raise ReferenceFileError(f"{place}: route_type {kind!r} is not a number of {_ROUTES}")
    if label := normal_label(number).replace("/", ""):
        yield RouteType(label, int(kind))


def _stops_of(row: Row, place: str) -> Iterator[StopName]:
    if row.get("location_type", "") not in _STOP:
        return
    code = next(_values(row, _CODES), "")
    if not code:
        raise ReferenceFileError(f"{place}: no {' or '.join(_CODES)}")
    if not set(_NAMES) & row.keys():
        raise ReferenceFileError(f"{place}: no column {' or '.join(_NAMES)}")
    latitude = _degrees(row, _LATITUDES, 90, place)
    longitude = _degrees(row, _LONGITUDES, 180, place)
    if (latitude is None) != (longitude is None):
        raise ReferenceFileError(f"{place}: one coordinate without the other")
    name = next(_values(row, _NAMES), None)
    yield StopName(plain_stop_code(code), name, latitude, longitude)


def _degrees(row: Row, columns: tuple[str, ...], limit: float, place: str) -> float | None:
    text = next(_values(row, columns), None)
    if text is None:
        return None
    try:
        degrees = float(text)
    except ValueError:
        raise ReferenceFileError(f"{place}: {columns[1]} {text!r} is not a number of degrees") from None
    if not -limit <= degrees <= limit:
        raise ReferenceFileError(f"{place}: {columns[1]} {text} lies outside -{limit} to {limit}")
    return degrees


def _values(row: Row, columns: tuple[str, ...]) -> Iterator[str]:
    """Yield what a row has in columns of these names, without those that are missing or blank."""
    for column in columns:
        if text := (row.get(column) or "").strip():
            yield text

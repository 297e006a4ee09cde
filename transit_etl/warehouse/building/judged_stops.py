"""Reads the optional reference file that says which stops are timing points or rated."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building.reference_files import (
    ReferenceFileError,
    Row,
    make_table,
    read_entries,
    replace_entries,
)
from transit_etl.warehouse.building.stop_names import plain_stop_code

SCOPES = ("timing_points", "rated_stops")
DIRECTIONS = ("outbound", "inbound")
_KNOWN = "select * exclude (operator) from intermediate.judged_stops where operator = ?"


class JudgedStop(NamedTuple):
    """A stop at which rulesets of a scope judge; without line or direction it is one for all of them."""

    stop_scope: str
    stop_code: str
    line_code: str | None
    direction: str | None


def read_judged_stops(path: Path) -> list[JudgedStop]:
    """Read a CSV with stop_scope, stop_code and, where that is not all of them, line_code and direction.

    Codes of fewer than four digits are those of the interface without their zeros. ReferenceFileError names
    the line that is wrong.
    """
    return read_entries(path, what="file of judged stops", lists="stop", entries_of=_stops_of)


def judged_stops(settings: BuildSettings) -> list[JudgedStop]:
    """Read the reference file of the settings; without one no stop is named."""
    return read_judged_stops(settings.judged_stops_file) if settings.judged_stops_file else []


def are_others_built(connection: duckdb.DuckDBPyConnection, operator: str, stops: list[JudgedStop]) -> bool:
    """Return whether the build database was built with other judged stops than these."""
    make_table(connection, "judged_stops", JudgedStop)
    return {JudgedStop(*row) for row in connection.execute(_KNOWN, [operator]).fetchall()} != set(stops)


def load_judged_stops(connection: duckdb.DuckDBPyConnection, operator: str, stops: list[JudgedStop]) -> None:
    """Replace what the build database knows of judged stops."""
    replace_entries(connection, "judged_stops", JudgedStop, operator, stops)


def _stops_of(row: Row, place: str) -> Iterator[JudgedStop]:
    scope, code, line, direction = ((row.get(field) or "").strip() for field in JudgedStop._fields)
    if scope not in SCOPES:
        raise ReferenceFileError(f"{place}: stop_scope {scope!r} is not {' or '.join(SCOPES)}")
    if not code:
        raise ReferenceFileError(f"{place}: no stop_code")
    if direction and direction not in DIRECTIONS:
        raise ReferenceFileError(f"{place}: direction {direction!r} is not {' or '.join(DIRECTIONS)}")
    yield JudgedStop(scope, plain_stop_code(code), line or None, direction or None)

"""Reads the optional reference file that says which stops are timing points or rated."""

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_etl.settings import Settings
from transit_etl.warehouse.database import WarehouseError
from transit_etl.warehouse.stop_names import plain_stop_code

SCOPES = ("timing_points", "rated_stops")
DIRECTIONS = ("outbound", "inbound")
_TABLE = """
create schema if not exists intermediate;
create table if not exists intermediate.judged_stops (
    operator varchar, stop_scope varchar, stop_code varchar, line_code varchar, direction varchar
)
"""
_KNOWN = "select * exclude (operator) from intermediate.judged_stops where operator = ?"
_INSERT = """
insert into intermediate.judged_stops
select ?, unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[])
"""


class JudgedStopsFileError(WarehouseError):
    """The reference file of judged stops cannot be used; the message says where it is wrong."""


class JudgedStop(NamedTuple):
    """A stop at which rulesets of a scope judge; without line or direction it is one for all of them."""

    stop_scope: str
    stop_code: str
    line_code: str | None
    direction: str | None


def read_judged_stops(path: Path) -> list[JudgedStop]:
    """Read a CSV with stop_scope, stop_code and, where that is not all of them, line_code and direction.

    Codes of fewer than four digits are those of the interface without their zeros. JudgedStopsFileError names
    the line that is wrong.
    """
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True)
        stops = [_stop_of(row, f"{path}, line {number}") for number, row in enumerate(rows, start=2)]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise JudgedStopsFileError(f"cannot read the file of judged stops {path}: {error}") from error
    if not stops:
        raise JudgedStopsFileError(f"{path} lists no stop")
    return list(dict.fromkeys(stops))


def judged_stops(settings: Settings) -> list[JudgedStop]:
    """Read the reference file of the settings; without one no stop is named."""
    return read_judged_stops(settings.judged_stops_file) if settings.judged_stops_file else []


def are_others_built(connection: duckdb.DuckDBPyConnection, operator: str, stops: list[JudgedStop]) -> bool:
    """Return whether the build database was built with other judged stops than these."""
    connection.execute(_TABLE)
    return {JudgedStop(*row) for row in connection.execute(_KNOWN, [operator]).fetchall()} != set(stops)


def load_judged_stops(connection: duckdb.DuckDBPyConnection, operator: str, stops: list[JudgedStop]) -> None:
    """Replace what the build database knows of judged stops."""
    connection.execute(_TABLE)
    connection.execute("delete from intermediate.judged_stops")
    columns = [[getattr(stop, field) for stop in stops] for field in JudgedStop._fields]
    connection.execute(_INSERT, [operator, *columns])


def _stop_of(row: Mapping[str, str | None], place: str) -> JudgedStop:
    scope, code, line, direction = ((row.get(field) or "").strip() for field in JudgedStop._fields)
    if scope not in SCOPES:
        raise JudgedStopsFileError(f"{place}: stop_scope {scope!r} is not {' or '.join(SCOPES)}")
    if not code:
        raise JudgedStopsFileError(f"{place}: no stop_code")
    if direction and direction not in DIRECTIONS:
        raise JudgedStopsFileError(f"{place}: direction {direction!r} is not {' or '.join(DIRECTIONS)}")
    return JudgedStop(scope, plain_stop_code(code), line or None, direction or None)

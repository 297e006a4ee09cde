"""Reads a table of scheduled and recorded times: plain, or the stop visits and trips of a TIDES package."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_emulator.errors import EmulatorError
from transit_emulator.networks import actuals_tides

_ZONED, _ISO_DATE = r"(Z|[+-]\d\d(:\d\d)?)$", r"^\d{4}-\d\d-\d\d"
_INSTANT, _INSTANT_EXAMPLE = "TIMESTAMP WITH TIME ZONE", "2022-01-08T06:20:00-05:00"
_DIRECTIONS = {"outbound": 0, "0": 0, "inbound": 1, "1": 1}


class BadActualsError(EmulatorError):
    """The file cannot be read as a table of recorded times; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the plain table: its type, how a value is written, whether it may be absent or empty."""

    type: str
    form: str
    is_required: bool = True
    may_be_empty: bool = False


COLUMNS = {
    "service_date": Column("DATE", "a date such as 2022-01-08"),
    "trip_id": Column("VARCHAR", "a text"),
    "line": Column("VARCHAR", "a text"),
    "direction": Column("VARCHAR", "outbound or inbound (0 or 1)"),
    "headsign": Column("VARCHAR", "a text", is_required=False, may_be_empty=True),
    "stop_code": Column("VARCHAR", "a text"),
    "stop_name": Column("VARCHAR", "a text", is_required=False, may_be_empty=True),
    "stop_sequence": Column("BIGINT", "a whole number"),
    "scheduled_at": Column(_INSTANT, f"an instant such as {_INSTANT_EXAMPLE}", may_be_empty=True),
    "actual_at": Column(_INSTANT, f"an instant such as {_INSTANT_EXAMPLE}", may_be_empty=True),
    "is_recorded": Column("BOOLEAN", "true or false", is_required=False, may_be_empty=True),
    "is_canceled": Column("BOOLEAN", "true or false", is_required=False, may_be_empty=True),
    "is_skipped": Column("BOOLEAN", "true or false", is_required=False, may_be_empty=True),
    "vehicle_id": Column("VARCHAR", "a text", is_required=False, may_be_empty=True),
}


class Call(NamedTuple):
    """A row: a trip at a stop; times are Unix seconds, None where there is none."""

    service_date: date
    trip_id: str
    line: str
    direction: int
    headsign: str | None
    stop_code: str
    stop_name: str | None
    stop_sequence: int
    scheduled_at: int | None
    actual_at: int | None
    is_recorded: bool
    is_canceled: bool
    is_skipped: bool
    vehicle_id: str | None


def read_calls(path: Path) -> list[Call]:
    """Return the rows by service date, trip and sequence; raise BadActualsError if they cannot be read.

    `path` is a CSV or Parquet file of COLUMNS, a file of TIDES stop visits with the trips performed beside
    it, or a folder with such files. Other columns are ignored.
    """
    with duckdb.connect() as db:
        db.execute("set timezone = 'UTC'")
        try:
            _load(db, path)
            _check_columns(db)
            _check_values(db)
            return _calls(db)
        except (duckdb.Error, ValueError) as error:
            raise BadActualsError(f"{path.name}: {_first_line(error)}") from None


def _load(db: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Create the table `given` with the rows of a file in the columns of the plain table, still untyped."""
    files = actuals_tides.stop_visit_files(path) if path.is_dir() else [path]
    db.execute(f"create table visits as {_rows(files)}")
    if actuals_tides.TRIP not in _types(db, "visits"):
        db.execute("alter table visits rename to given")
        return
    db.execute(f"create table trips as {_rows(actuals_tides.trip_files(files))}")
    db.execute(actuals_tides.as_plain(_types(db, "visits"), _types(db, "trips")))


def _rows(files: Sequence[Path]) -> str:
    names = ", ".join(f"'{str(file).replace(chr(39), chr(39) * 2)}'" for file in files)
    suffixes = {file.suffix.lower() for file in files}
    if suffixes == {".parquet"}:
        return f"from read_parquet([{names}], union_by_name = true)"
    if suffixes == {".csv"}:
        return f"from read_csv([{names}], all_varchar = true, header = true, union_by_name = true)"
    raise ValueError("neither a .csv nor a .parquet file")


def _types(db: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """Return the type of each column of a table."""
    described = db.execute(f"select column_name, column_type from (describe {table})").fetchall()
    return {str(name): str(kind) for name, kind in described}


def _check_columns(db: duckdb.DuckDBPyConnection) -> None:
    """Refuse a table without rows or columns; add optional columns that are absent."""
    types = _types(db, "given")
    needed = [name for name, column in COLUMNS.items() if column.is_required]
    absent = [name for name in needed if name not in types]
    if absent:
        raise ValueError(f"no column {', '.join(absent)}; needed are {', '.join(needed)}")
    if not db.execute("select count(*) from given").fetchall()[0][0]:
        raise ValueError("the table has no rows")
    for name in COLUMNS.keys() - types.keys():
        db.execute(f"alter table given add column {name} varchar")


def _check_values(db: duckdb.DuckDBPyConnection) -> None:
    """Refuse empty cells where a value is needed, values of another form, and times without a zone."""
    types = _types(db, "given")
    for name, column in COLUMNS.items():
        if column.type == _INSTANT:
            _check_zone(db, name, types[name])
        if not column.may_be_empty:
            empty = _first(db, "trip_id", f"{_text(name)} is null")
            if empty is not None:
                raise ValueError(f"{name} is empty in a row of trip {empty!r}")
        bad = _first(db, name, f"{_text(name)} is not null and {_cast(name, column.type)} is null")
        if bad is None and name == "direction":
            bad = _first(db, name, f"{_direction()} is null")
        if bad is not None:
            raise ValueError(f"{name} {bad!r} is not {column.form}")


def _check_zone(db: duckdb.DuckDBPyConnection, name: str, kind: str) -> None:
    bad = None
    if kind == "VARCHAR":
        bad = _first(db, name, f"not regexp_matches({_text(name)}, '{_ZONED}')")
    elif kind != _INSTANT:
        bad = _first(db, name, f"{name} is not null")
    if bad is not None:
        raise ValueError(f"{name} {bad!r} has no time zone; write instants such as {_INSTANT_EXAMPLE}")


def _first(db: duckdb.DuckDBPyConnection, name: str, condition: str) -> str | None:
    """Return the first value of a column in rows that fulfil a condition, as text; None if there are none."""
    found = db.execute(
        f"select coalesce({name}::varchar, '') from given where {condition} limit 1"
    ).fetchall()
    return str(found[0][0]) if found else None


def _text(name: str) -> str:
    return f"nullif(trim({name}::varchar), '')"


def _cast(name: str, kind: str) -> str:
    text = _text(name)
    if kind == "DATE":  # a cast alone reads 8/1/22 as a day of the year 8
        text = f"case when regexp_matches({text}, '{_ISO_DATE}') then {text} end"
    return f"try_cast({text} as {kind})"


def _direction() -> str:
    cases = " ".join(f"when '{text}' then {number}" for text, number in _DIRECTIONS.items())
    return f"case lower({_text('direction')}) {cases} end"


def _calls(db: duckdb.DuckDBPyConnection) -> list[Call]:
    selected = ", ".join(f"{_value(name, column)} as {name}" for name, column in COLUMNS.items())
    found = db.execute(f"select {selected} from given order by service_date, trip_id, stop_sequence")
    return [Call(*row) for row in found.fetchall()]


def _value(name: str, column: Column) -> str:
    """Return the SQL of a value of Call; a time counts as recorded unless the table says otherwise."""
    value = _direction() if name == "direction" else _cast(name, column.type)
    if column.type == "BOOLEAN":
        return f"coalesce({value}, {name == 'is_recorded'})"
    return f"round(epoch({value}))::bigint" if column.type == _INSTANT else value


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]

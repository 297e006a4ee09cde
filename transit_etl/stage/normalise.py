"""Turns one finished raw window into Arrow tables under the lake's schemas, vectorised in DuckDB."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa

from transit_etl.endpoints import ENDPOINTS
from transit_etl.line_labels import NORMAL_LABEL_SQL
from transit_etl.service_day import Offset, offsets
from transit_etl.settings import Settings
from transit_etl.stage import raw
from transit_etl.stage.raw import RawFileError, RawWindow, sql_text
from transit_etl.stage.schemas import DATASETS

_US = 1_000_000
# A line holds a body as JSON text, in which a byte takes at most six (`\\u0001`), and its other fields.
_ESCAPED, _LINE_OVERHEAD = 6, 65_536
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)
# The instants of a window lie within a day; those in its answers lie within two days of them.
_NEAR = timedelta(days=3)

_TEXT = r'"(?:[^"\\]|\\.)*"'
_PASSAGE = (
    rf'\{{(?:"(?:linea|destinazione|orario|attesa|id_corsa)": ?(?:{_TEXT}|null),? ?'
    r'|"(?:teorico|pieno)": ?(?:true|false|null),? ?)*\}'
)
# A passage answer without anything unspecified: every key is specified and every value of its type.
_PASSAGES_SHAPE = (
    rf'\{{(?:"(?:codice_fermata|timestamp)": ?{_TEXT},? ?|"passaggi": ?\[(?:{_PASSAGE},? ?)*\],? ?)*\}}'
)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many rows normalising left out by design, for the validation results."""

    rule: str
    reason: str
    n_rows: int
    n_left_out: int


@dataclass(frozen=True, slots=True)
class Normalised:
    """The tables of one window: its requests, and the rows of its dataset if it has one.

    `unread` holds `request_id` and `line` (the raw line as JSON) of good answers that gave no list of rows.
    """

    window: RawWindow
    requests: pa.Table
    dataset: str | None = None
    rows: pa.Table | None = None
    unread: pa.Table | None = None
    left_out: list[LeftOut] = field(default_factory=list)


def connect(settings: Settings) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB connection that has the macros of every dataset's query."""
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'; set enable_progress_bar = false")
    cutoff = settings.service_day_cutoff
    seconds = cutoff.hour * 3600 + cutoff.minute * 60 + cutoff.second
    _macro(connection, "cutoff_us", f"{seconds * _US}::bigint")
    _macro(connection, "largest_line", str(_ESCAPED * settings.max_body_bytes + _LINE_OVERHEAD))
    _macro(connection, "passages_shape", sql_text(_PASSAGES_SHAPE))
    connection.execute(f"create or replace temp macro normal_label(label) as {NORMAL_LABEL_SQL}")
    connection.execute(_sql("macros"))
    _load_offsets(connection, settings.zone)
    return connection


class Normaliser:
    """Normalises windows one after another on its own DuckDB connection and threads."""

    def __init__(self, settings: Settings, threads: int) -> None:
        self._zone = settings.zone
        self._connection = connect(settings)
        self._connection.execute(f"set threads = {threads}")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def normalise(self, window: RawWindow) -> Normalised:
        """Read a window; RawFileError names the file if it cannot be read to its end."""
        raw.load(self._connection, window.path, _sql("raw"))
        self._set_zone(window)
        endpoint = ENDPOINTS.get(window.endpoint)  # a folder may be of an endpoint that was removed
        dataset = None if endpoint is None else endpoint.dataset
        if dataset is None:
            self._connection.execute(
                "create or replace temp table answers as select '' as request_id, 0 as n_rows"
            )
            return Normalised(window, self._table("requests"))
        rows = self._table(dataset)
        left_out = self._junk_legs() if dataset == "timetables" else []
        unread = raw.arrow(self._connection, _sql("unread"))
        return Normalised(window, self._table("requests"), dataset, rows, unread, left_out)

    def _table(self, dataset: str) -> pa.Table:
        *steps, query = _sql(dataset).split(";\n")
        for step in steps:
            self._connection.execute(step)
        return raw.arrow(self._connection, query).cast(DATASETS[dataset])

    def _set_zone(self, window: RawWindow) -> None:
        """Define the offsets around the window as constants: DuckDB then simplifies the zone arithmetic."""
        found = self._connection.execute("select min(dated_at), max(dated_at) from raw")
        first, last = found.fetchall()[0]
        if first is None:
            first = last = datetime.combine(window.day, datetime.min.time())
        if last - first > _NEAR:
            raise RawFileError(window.path, f"its requests span more than {_NEAR.days} days")
        near = offsets(self._zone, first.replace(tzinfo=UTC) - _NEAR, last.replace(tzinfo=UTC) + _NEAR)
        _macro(
            self._connection,
            "window_zone",
            f"{{early: {near[0].seconds * _US}::bigint, late: {near[-1].seconds * _US}::bigint, "
            f"changed: {_us(near[-1].valid_from)}::bigint}}",
        )

    def _junk_legs(self) -> list[LeftOut]:
        query = "select count(*), count(*) filter (is_junk) from legs where is_leg"
        n_legs, n_junk = self._connection.execute(query).fetchall()[0]
        reason = "A leg without a description is filler of the upstream; its departures are no service."
        return [LeftOut("junk_leg", reason, n_legs, n_junk)]


def _macro(connection: duckdb.DuckDBPyConnection, name: str, expression: str) -> None:
    connection.execute(f"create or replace temp macro {name}() as {expression}")


def _load_offsets(connection: duckdb.DuckDBPyConnection, zone: ZoneInfo) -> None:
    listed = _all_offsets(zone)
    table = pa.table(
        {
            "valid_from_us": [_us(offset.valid_from) for offset in listed],
            "offset_us": [offset.seconds * _US for offset in listed],
        }
    )
    connection.register("listed_offsets", table)
    connection.execute("create or replace temp table offsets as from listed_offsets")


@cache
def _sql(name: str) -> str:
    return (files("transit_etl.stage") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


@cache
def _all_offsets(zone: ZoneInfo) -> list[Offset]:
    return offsets(zone, _FIRST, _LAST)


def _us(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)

"""Opens a DuckDB connection that has the macros of every dataset's query."""

from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from duckdb.func import ARROW
from duckdb.sqltypes import VARCHAR

from transit_base.quoting import sql_text
from transit_etl.engine_functions import function_statements
from transit_etl.entities import decode_entities
from transit_etl.service_day import Offset, offsets, seconds_of
from transit_etl.settings import CollectSettings

_US = 1_000_000
# A line holds a body as JSON text, in which a byte takes at most six (`\\u0001`), and its other fields.
_ESCAPED, _LINE_OVERHEAD = 6, 65_536
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC)

_TEXT = r'"(?:[^"\\]|\\.)*"'


def _members(kinds: dict[str, str]) -> str:
    """Return the pattern of an object that has these members in this order, any of them left out."""
    return r"\{" + "".join(rf'(?:"{name}": ?{kind},? ?)?' for name, kind in kinds.items()) + r"\}"


_TEXT_OR_NULL, _FLAG = f"(?:{_TEXT}|null)", "(?:true|false|null)"
_PASSAGE = _members({
    "linea": _TEXT_OR_NULL, "destinazione": _TEXT_OR_NULL, "orario": _TEXT_OR_NULL, "attesa": _TEXT_OR_NULL,
    "teorico": _FLAG, "id_corsa": _TEXT_OR_NULL, "pieno": _FLAG,
})  # fmt: skip
# A passage answer without anything unspecified: every key is specified and every value of its type.
_PASSAGES_SHAPE = _members({
    "codice_fermata": _TEXT, "timestamp": _TEXT, "passaggi": rf"\[(?:{_PASSAGE},? ?)*\]"
})  # fmt: skip


def connect(settings: CollectSettings) -> duckdb.DuckDBPyConnection:
    """Open a DuckDB connection that has the macros of every dataset's query."""
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'; set enable_progress_bar = false")
    _macro(connection, "cutoff_us", f"{seconds_of(settings.service_day_cutoff) * _US}::bigint")
    _macro(connection, "largest_line", str(_ESCAPED * settings.max_body_bytes + _LINE_OVERHEAD))
    _macro(connection, "passages_shape", sql_text(_PASSAGES_SHAPE))
    connection.execute(function_statements("duckdb")["normal_label"])
    connection.create_function("decode_entities", _decode_all, [VARCHAR], VARCHAR, type=ARROW)
    connection.execute(sql("macros"))
    _load_offsets(connection, settings.zone)
    return connection


def define_zone(connection: duckdb.DuckDBPyConnection, near: list[Offset]) -> None:
    """Define the offsets around a window as constants: DuckDB then simplifies the zone arithmetic."""
    _macro(
        connection,
        "window_zone",
        f"{{early: {near[0].seconds * _US}::bigint, late: {near[-1].seconds * _US}::bigint, "
        f"changed: {_us(near[-1].valid_from)}::bigint}}",
    )


@cache
def sql(name: str) -> str:
    """Return a file of `stage/sql`."""
    return (files("transit_etl.stage") / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def _decode_all(texts: Any) -> Any:  # noqa: ANN401 - Arrow arrays; DuckDB evaluates what is written here
    """Decode the entities of a column, each text that stands in it once."""
    distinct = texts.unique()
    decoded = pa.array([decode_entities(text) for text in distinct.to_pylist()], pa.string())
    return decoded.take(pc.index_in(texts, distinct))


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
def _all_offsets(zone: ZoneInfo) -> list[Offset]:
    return offsets(zone, _FIRST, _LAST)


def _us(instant: datetime) -> int:
    return (instant - _EPOCH) // timedelta(microseconds=1)

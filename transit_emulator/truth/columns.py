"""Builds the columns that tables of the truth share."""

from collections.abc import Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from transit_emulator.days.motion import NEVER
from transit_emulator.networks.network import Ints
from transit_emulator.truth.schemas import INSTANT
from transit_emulator.world import World

DIRECTIONS = ("outbound", "inbound")
Columns = dict[str, "pa.Array[Any]"]


def trip_columns(world: World, day: date, rows: Ints) -> Columns:
    """Return date, id, line and direction of trips, given as rows of the date's schedule."""
    network, trips = world.network, world.schedule(day).trips[rows]
    patterns = [network.patterns[p] for p in network.trip_pattern[trips]]
    return {
        "service_date": pa.array([day] * len(rows), pa.date32()),
        "trip_id": pa.array([network.trips[trip].id for trip in trips], pa.string()),
        "line_code": pa.array([network.lines[pattern.line].code for pattern in patterns], pa.string()),
        "direction": pa.array([DIRECTIONS[pattern.direction] for pattern in patterns], pa.string()),
    }


def instants(seconds: Ints) -> "pa.Array[Any]":
    """Return instants in Unix seconds as timestamps; NEVER is null."""
    is_null = seconds == NEVER
    microseconds = pa.array(np.where(is_null, 0, seconds) * 1_000_000, pa.int64(), mask=is_null)
    return microseconds.cast(INSTANT)


def table_of(schema: pa.Schema, rows: Sequence[NamedTuple]) -> pa.Table:
    """Return a table of rows whose fields have the names of its columns; instants are in Unix seconds."""
    columns = {field.name: _column(field, [getattr(row, field.name) for row in rows]) for field in schema}
    return pa.table(columns, schema=schema)


def _column(field: "pa.Field[Any]", values: list[Any]) -> "pa.Array[Any]":
    if field.type == INSTANT:
        return instants(np.array(values, dtype=np.int64))
    column: pa.Array[Any] = pa.array(values, field.type)
    return column

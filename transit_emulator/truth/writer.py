"""Writes the truth about service dates: one Parquet file per table."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_emulator.local_time import ONE_DAY
from transit_emulator.truth import passages, schemas, timetables
from transit_emulator.truth.events import events
from transit_emulator.world import World


def write_truth(world: World, first: date, last: date, out_dir: Path) -> list[Path]:
    """Write one Parquet file per table for the service dates from `first` to `last`, and return them.

    Files: scheduled_passages, actual_passages, trips, timetable_departures, timetable_revisions,
    timetable_versions, service_days, events. Existing files are replaced.
    """
    days = [first + ONE_DAY * step for step in range((last - first).days + 1)]

    def of_days(schema: pa.Schema, table_of_day: Callable[[World, date], pa.Table]) -> pa.Table:
        return pa.concat_tables([schema.empty_table(), *(table_of_day(world, day) for day in days)])

    tables = {
        "scheduled_passages": of_days(schemas.SCHEDULED, passages.scheduled_passages),
        "actual_passages": of_days(schemas.ACTUAL, passages.actual_passages),
        "trips": of_days(schemas.TRIPS, passages.trips),
        "timetable_departures": of_days(schemas.DEPARTURES, timetables.departures),
        "timetable_revisions": of_days(schemas.REVISIONS, timetables.revisions),
        "timetable_versions": of_days(schemas.VERSIONS, timetables.versions),
        "service_days": of_days(schemas.DAYS, passages.service_day),
        "events": events(world, first, last),
    }
    out_dir.mkdir(parents=True, exist_ok=True)
    return [_write(table, out_dir / f"{name}.parquet") for name, table in tables.items()]


def _write(table: pa.Table, path: Path) -> Path:
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return path

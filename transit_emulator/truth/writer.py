"""Writes the truth about service dates: one Parquet file per table."""

import os
from collections.abc import Callable, Collection
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_emulator.local_time import ONE_DAY
from transit_emulator.truth import events, network, news, passages, schemas, timetables
from transit_emulator.world import World

_OfDates = Callable[[World, date, date], pa.Table]


def _by_day(schema: pa.Schema, table_of_day: Callable[[World, date], pa.Table]) -> _OfDates:
    """Return the function that makes a table of several dates from that of one date."""

    def of_dates(world: World, first: date, last: date) -> pa.Table:
        days = [first + ONE_DAY * step for step in range((last - first).days + 1)]
        return pa.concat_tables([schema.empty_table(), *(table_of_day(world, day) for day in days)])

    return of_dates


_TABLES: dict[str, dict[str, _OfDates]] = {
    "passages": {
        "scheduled_passages": _by_day(schemas.SCHEDULED, passages.scheduled_passages),
        "actual_passages": _by_day(schemas.ACTUAL, passages.actual_passages),
        "trips": _by_day(schemas.TRIPS, passages.trips),
        "service_days": _by_day(schemas.DAYS, passages.service_day),
    },
    "timetables": {
        "timetable_departures": _by_day(schemas.DEPARTURES, timetables.departures),
        "timetable_revisions": _by_day(schemas.REVISIONS, timetables.revisions),
        "timetable_versions": _by_day(schemas.VERSIONS, timetables.versions),
    },
    "events": {
        "events": events.events,
        "event_versions": events.event_versions,
        "event_listings": events.event_listings,
    },
    "news": {"news": news.news, "news_versions": news.news_versions},
    "plant": {"plant": events.plant, "plant_outages": events.plant_outages},
    "network": {"line_validity": network.line_validity, "stop_validity": network.stop_validity},
}
SUBJECTS = tuple(_TABLES)


def write_truth(
    world: World,
    first: date,
    last: date,
    out_dir: Path,
    *,
    only: Collection[str] = SUBJECTS,
    has_counterfactual: bool = False,
) -> list[Path]:
    """Write the tables of some subjects for the service dates from `first` to `last`, and return their files.

    With `has_counterfactual` the actual passages tell when each would have happened without any event.
    Existing files are replaced. KeyError if a subject is not one of SUBJECTS.
    """
    tables = {name: make for subject in only for name, make in _TABLES[subject].items()}
    if has_counterfactual and "passages" in only:
        tables["actual_passages"] = _by_day(schemas.COMPARED, passages.compared_passages)
    out_dir.mkdir(parents=True, exist_ok=True)
    return [_write(make(world, first, last), out_dir / f"{name}.parquet") for name, make in tables.items()]


def _write(table: pa.Table, path: Path) -> Path:
    temporary = path.with_name(path.name + ".part")
    with temporary.open("wb") as file:
        pq.write_table(table, file, compression="zstd")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    return path

"""A rehearsed hour and a half of the small network, built and published, whose truth is known."""

from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
import httpx2

from transit_emulator.app import create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import build_world
from transit_etl import warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

DAY = date(2026, 11, 18)
START = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)  # a Wednesday, seven o'clock local time
HOURS = 1.5


NAME_STOPS = """
copy (
    select distinct stop_scope, stop_code, line_code, direction
    from '{truth}/scheduled_passages.parquet',
        (values ('timing_points'), ('rated_stops')) as scopes(stop_scope)
    where stop_sequence % 4 = 1
) to '{path}' (header)
"""


class Rehearsed(NamedTuple):
    """A rehearsed, built and published lake, and the folder of its truth."""

    settings: Settings
    truth: Path


def rehearse_a_busy_hour(folder: Path) -> Rehearsed:
    """Rehearse, build and publish below a folder; every fourth stop is a timing point, and rated."""
    world = build_world("small", None, 1)
    write_truth(world, DAY, DAY, folder / "truth")
    judged_stops = folder / "judged_stops.csv"
    with duckdb.connect() as connection:
        connection.execute(NAME_STOPS.format(truth=folder / "truth", path=judged_stops))
    settings = Settings(
        data_dir=folder / "data", window_seconds=3600, timetable_days_ahead=2, judged_stops_file=judged_stops
    )
    rehearse(settings, START, HOURS, transport=httpx2.ASGITransport(create_app(world)))
    warehouse.build(settings)
    warehouse.publish(settings)
    return Rehearsed(settings, folder / "truth")

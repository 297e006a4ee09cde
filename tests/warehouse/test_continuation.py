"""Tables whose rows span several days are the same built at once, day by day, or with a day built late."""

from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.lakes import TUESDAY, Event, Lake, Line, Listed, NewsItem, write_rows
from transit_etl import paths, warehouse
from transit_etl.settings import Settings

pytestmark = [pytest.mark.timeout(900)]

TABLES = (
    "core.lines",
    "core.line_stops",
    "core.news",
    "core.status_episodes",
    "intermediate.line_stops_of_day",
    "core.stop_visits",
)
TERMINI = ("HARBOUR", "HARBOUR", "STATION", "STATION")
STOPS = (["1001", "1002"], ["1001", "1003"], ["1001", "1003"], ["1001", "1002"])
EVENTS = (("DEV",), ("DEV", "GEV"), ("DEV",), ())


def _add_day(settings: Settings, number: int) -> None:
    """Add a day to the lake; a terminus, a stop, a text and an event change on different days."""
    lake = Lake(settings.data_dir.with_name(f"{settings.data_dir.name}-{number}"), settings.operator)
    lake.day = TUESDAY + timedelta(days=number)
    lake.lines("06:00", Line("001-00", "1", TERMINI[number], "HILL"))
    lake.stops("001-00", "06:01", outbound=STOPS[number])
    lake.news("07:00", NewsItem("n1", "Works"), *([NewsItem("n2", "Strike")] if number == 1 else []))
    lake.news_text("07:01", "n1", "From Monday." if number < 2 else "From Tuesday.")
    events = [Event(code, ("1",), "06:00") for code in EVENTS[number]]
    for clock in ("06:30", "23:30"):
        lake.status(clock, *events)
    lake.poll("1001", "08:00", Listed(f"T{number}", "08:01:00"))
    lake.poll("1001", "08:01:30")
    for path in lake.write():
        target = settings.data_dir / path.relative_to(lake.data_dir)
        rows = f"select * replace ('{number}/' || request_id as request_id) from '{path}'"
        if "dataset=status" in str(path):
            rows = f"select * replace (timestamp '2026-11-10 05:00' as started_at) from ({rows})"
        write_rows(rows, target.with_stem(f"day-{number}"))
    for schema in (lake.data_dir / "lake").rglob("schema.parquet"):
        target = settings.data_dir / schema.relative_to(lake.data_dir)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(schema.read_bytes())


def _rows(settings: Settings) -> dict[str, list[str]]:
    with duckdb.connect(paths.build_database(settings.data_dir), read_only=True) as connection:
        return {
            table: sorted(
                str(row) for (row,) in connection.execute(f"select t::varchar from {table} as t").fetchall()
            )
            for table in TABLES
        }


@pytest.mark.long
@pytest.mark.exhaustive
def test_days_built_one_by_one_or_late_give_the_same_as_all_at_once(tmp_path: Path) -> None:
    at_once, one_by_one = (
        Settings(data_dir=tmp_path / name, operator="testville") for name in ("at-once", "one-by-one")
    )
    for number in range(4):
        _add_day(at_once, number)
    warehouse.build(at_once)
    for number in (0, 1, 3, 2):  # the third day comes last
        _add_day(one_by_one, number)
        warehouse.build(one_by_one)
    expected = _rows(at_once)

    assert 2 == len([row for row in expected["core.status_episodes"] if "DEV" in row or "GEV" in row])
    assert len(expected["core.lines"]) == len({"HARBOUR", "STATION"})
    assert expected == _rows(one_by_one)


@pytest.mark.long
@pytest.mark.exhaustive
def test_hours_in_which_nobody_looked_count_once_the_next_day_has_begun(tmp_path: Path) -> None:
    """The last answer of the day comes in the morning, and the next one at noon of the day after."""
    settings = Settings(data_dir=tmp_path / "data", operator="testville")
    lake = Lake(settings.data_dir, settings.operator)
    lake.lines("06:00", Line("001-00", "1", "HARBOUR", "HILL"))
    lake.stops("001-00", "06:01", outbound=STOPS[0])
    lake.timetable("001-00", "06:02", "08:00", "22:00")
    lake.poll("1001", "08:00", Listed("T", "08:01:00"))
    lake.write()
    warehouse.build(settings)
    lake.day = TUESDAY + timedelta(days=1)
    lake.poll("1001", "12:00")
    lake.write()
    warehouse.build(settings)

    with duckdb.connect(paths.build_database(settings.data_dir), read_only=True) as connection:
        evening = "from marts.coverage where service_date = ? and service_hour >= 22"
        assert [(2, 0)] == connection.execute(
            f"select sum(n_due)::int, sum(planned)::int {evening}", [TUESDAY]
        ).fetchall()

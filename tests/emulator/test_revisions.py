from datetime import UTC, date, datetime, timedelta
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from tests.emulator.fixture_types import Send
from transit_emulator.app import create_app
from transit_emulator.interface import render_v1
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world

DAYS = [date(2026, 3, 2) + timedelta(days=step) for step in range(14)]

ROME = ZoneInfo("Europe/Rome")


class Revised(NamedTuple):
    """A change of the timetable of a line for a date."""

    line: int
    day: date
    moment: datetime


@pytest.fixture(scope="module")
def changing() -> World:
    return build_world(seed=5, has_revisions=True)


def texts(world: World, line: int, day: date, now: datetime | None) -> list[str]:
    """List all departures of a line as published at an instant."""
    return [d.text for s in world.timetable(line, day, now) for leg in s.legs for d in leg.departures]


def changes_of(world: World, reason: str) -> list[Revised]:
    """List the changes for one reason of all lines and dates."""
    return [
        Revised(line, day, datetime.fromtimestamp(change.at, UTC))
        for line in range(len(world.network.lines))
        for day in DAYS
        for change in world.timetable_changes(line, day)
        if change.reason == reason
    ]


@pytest.mark.parametrize(
    ("reason", "first_hour", "last_hour"), [("notice", -36, 6), ("late", 6, 22)], ids=["before", "late"]
)
def test_a_timetable_may_be_revised_before_its_day_and_on_the_day_itself(
    changing: World, reason: str, first_hour: int, last_hour: int
) -> None:
    n_changed = 0
    for line, day, moment in changes_of(changing, reason):
        hours = (moment - datetime(day.year, day.month, day.day, tzinfo=ROME)) / timedelta(hours=1)
        before = texts(changing, line, day, moment - timedelta(seconds=1))
        assert first_hour <= hours < last_hour
        n_changed += before != texts(changing, line, day, moment)
    assert n_changed > 5


def test_a_late_change_may_be_about_departures_of_before(changing: World) -> None:
    n_past = 0
    for line, day, moment in changes_of(changing, "late"):
        before, after = (
            {
                (departure.trip_id, departure.departs_at)
                for service in changing.timetable(line, day, now)
                for leg in service.legs
                for departure in leg.departures
            }
            for now in (moment - timedelta(seconds=1), moment)
        )
        n_past += any(departs_at < moment.timestamp() for _, departs_at in before ^ after)

    assert n_past > 2


def test_a_cosmetic_change_is_of_no_departure(changing: World) -> None:
    for reason, field in (("headsign", "targa"), ("service_code", "codice")):
        found = changes_of(changing, reason)
        assert len(found) > 3
        for line, day, moment in found:
            code = changing.network.lines[line].code
            before, after = (
                render_v1.timetable(changing, code, day, now)["servizi"]
                for now in (moment - timedelta(seconds=1), moment)
            )
            assert texts(changing, line, day, moment - timedelta(seconds=1)) == texts(
                changing, line, day, moment
            )
            assert [row[field] for row in before] != [row[field] for row in after] or not after


def test_the_timetable_of_the_past_stays_as_it_was_published_last(changing: World) -> None:
    for line, day in product(range(len(changing.network.lines)), DAYS[:3]):
        end = datetime(day.year, day.month, day.day, 23, tzinfo=UTC)
        assert texts(changing, line, day, end) == texts(changing, line, day, None)


def test_before_its_revision_a_timetable_lacks_some_departures_and_has_others_at_other_times(
    changing: World,
) -> None:
    day = next(
        day for day in DAYS if [change.reason for change in changing.timetable_changes(0, day)] == ["notice"]
    )
    before = texts(changing, 0, day, datetime(2026, 1, 1, tzinfo=UTC))
    after = texts(changing, 0, day, None)

    assert 0.85 * len(after) < len(before) < len(after)
    assert len(set(before) & set(after)) > 0.8 * len(set(after))


def test_notes_and_stops_of_some_lines_change_from_week_to_week(changing: World) -> None:
    weeks = [changing.lines(datetime(2026, 1, 7, tzinfo=UTC) + timedelta(weeks=week)) for week in range(10)]
    notes = [tuple(line.note for line in lines) for lines in weeks]
    stops = [sum(len(listed) for line in lines for listed in line.stops.values()) for lines in weeks]

    assert len(set(notes)) > 3
    assert len(set(stops)) > 3
    assert all(listed[0].order == 1 for lines in weeks for line in lines for listed in line.stops.values())


def test_a_line_without_stops_is_missing_from_the_list_in_some_months(changing: World, send: Send) -> None:
    months = [datetime(2026, 1, 7, tzinfo=UTC) + timedelta(days=28 * month) for month in range(26)]
    closed = [now for now in months if "MM-00" not in {line.code for line in changing.lines(now)}]
    app = create_app(changing, limit_without_token=1_000)

    assert 0 < len(closed) < 13
    assert 404 == send(app, "/api/v1/fermate/MM-00", X_Emulated_Now=closed[0].isoformat()).status_code


def test_truth_and_lists_agree_on_which_lines_and_stops_are_published_when(
    changing: World, send: Send, tmp_path: Path
) -> None:
    first, last = date(2026, 1, 1), date(2026, 12, 31)
    write_truth(changing, first, last, tmp_path, only=["network"])
    lines = pq.read_table(tmp_path / "line_validity.parquet").to_pylist()
    stops = pq.read_table(tmp_path / "stop_validity.parquet").to_pylist()
    app = create_app(changing, limit_without_token=10_000)
    changes = {row["valid_from"] for row in [*lines, *stops]} - {None}

    assert len(changes) > 10
    assert any(row["line_code"] == "MM-00" and row["valid_to"] for row in lines)
    for change, second in product(sorted(changes), (-1, 0)):
        now = change + timedelta(seconds=second)
        headers = {"X_Emulated_Now": now.replace(tzinfo=UTC).isoformat()}
        listed = send(app, "/api/v1/linee", **headers).json()
        expected = {
            (row["line_code"], row["line_number"], row["note"]) for row in lines if is_valid(row, now)
        }
        assert expected == {(line["codice"], line["numero"], line["note"]) for line in listed}
        answer = send(app, "/api/v1/fermate/001-00", **headers).json()
        assert {(stop["codice_fermata"], stop["ordine"]) for stop in answer["andata"]} == {
            (row["stop_code"], row["stop_order"])
            for row in stops
            if is_valid(row, now) and (row["line_code"], row["direction"]) == ("001-00", "outbound")
        }


def is_valid(row: dict[str, Any], now: datetime) -> bool:
    """Tell whether a row of a table of validity holds at an instant."""
    return (row["valid_from"] or now) <= now and (row["valid_to"] is None or now < row["valid_to"])


def test_nothing_is_revised_unless_revisions_are_enabled(world: World) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)

    assert world.lines(early) == world.lines(late)
    assert not any(world.timetable_changes(line, day) for line in range(14) for day in DAYS)


@pytest.mark.long
def test_answers_and_truth_agree_on_the_revisions_of_a_timetable(
    changing: World, send: Send, tmp_path: Path
) -> None:
    write_truth(changing, DAYS[0], DAYS[-1], tmp_path)
    app = create_app(changing, limit_without_token=1_000)
    rows = pq.read_table(tmp_path / "timetable_revisions.parquet").to_pylist()

    assert len(rows) > 20
    for row in rows[:20]:
        for second, n_expected in ((-1, row["n_departures_before"]), (0, row["n_departures"])):
            now = row["revised_at"].replace(tzinfo=UTC) + timedelta(seconds=second)
            path = f"/api/v1/orari/{row['line_code']}/{row['service_date']}"
            services = send(app, path, X_Emulated_Now=now.isoformat()).json()["servizi"]
            legs = [leg for service in services for leg in service["tratte"].values() if leg["descrizione"]]
            assert sum(len(leg["partenze"]) for leg in legs) == n_expected

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.emulator.fixture_types import Send
from transit_emulator.app import create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world

DAYS = [date(2026, 3, 2) + timedelta(days=step) for step in range(14)]


@pytest.fixture(scope="module")
def changing() -> World:
    return build_world(seed=5, has_revisions=True)


def texts(world: World, line: int, day: date, now: datetime | None) -> list[str]:
    """List all departures of a line as published at an instant."""
    return [d.text for s in world.timetable(line, day, now) for leg in s.legs for d in leg.departures]


def test_a_timetable_may_be_revised_once_before_its_day(changing: World) -> None:
    n_changed = 0
    for line in range(len(changing.network.lines)):
        for day in DAYS:
            revised = changing.revised_at(line, day)
            if revised is None:
                continue
            moment = datetime.fromtimestamp(revised, UTC)
            before = texts(changing, line, day, moment - timedelta(seconds=1))
            after = texts(changing, line, day, moment)
            assert after == texts(changing, line, day, None)
            assert moment < datetime(day.year, day.month, day.day, 6, tzinfo=UTC)
            n_changed += before != after
    assert n_changed > 10


def test_before_its_revision_a_timetable_lacks_some_departures_and_has_others_at_other_times(
    changing: World,
) -> None:
    day = next(day for day in DAYS if changing.revised_at(0, day) is not None)
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


def test_nothing_is_revised_unless_revisions_are_enabled(world: World) -> None:
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC)

    assert world.lines(early) == world.lines(late)
    assert all(world.revised_at(line, day) is None for line in range(14) for day in DAYS)


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

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq
import pytest

from tests.emulator.fixture_types import Send
from transit_emulator.app import create_app
from transit_emulator.days.seasons import season_start
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world

SUMMER_DAY = date(2026, 6, 9)
DAYS = [date(2026, 6, 5) + timedelta(days=step) for step in range(12)]
ONE_SECOND = timedelta(seconds=1)
LONG_AGO, LONG_AFTER = datetime(2025, 1, 1, tzinfo=UTC), datetime(2026, 8, 1, tzinfo=UTC)


class Question(NamedTuple):
    """A request of a timetable."""

    day: date
    line_code: str
    now: datetime


@pytest.fixture(scope="module")
def changing() -> World:
    return build_world(seed=5, has_revisions=True)


def announced(world: World, day: date) -> datetime:
    """Return when the timetable of a date's season was announced."""
    at = world.announced_at(day)
    assert at is not None
    return datetime.fromtimestamp(at, UTC)


def departure_seconds(world: World, line: int, day: date, now: datetime | None = None) -> set[int]:
    """Return when a line's trips leave, in seconds of the service day."""
    starts_at = world.schedule(day).starts_at
    legs = [leg for service in world.timetable(line, day, now) for leg in service.legs]
    return {departure.departs_at - starts_at for leg in legs for departure in leg.departures}


def test_seasons_begin_on_second_mondays() -> None:
    days = [date(2026, 1, 1), date(2026, 6, 7), date(2026, 6, 8), date(2026, 9, 13), date(2026, 9, 14)]

    expected = [date(2025, 9, 8), date(2025, 9, 8), date(2026, 6, 8), date(2026, 6, 8), date(2026, 9, 14)]
    actual = [season_start(day) for day in days]

    assert expected == actual


def test_a_new_season_is_announced_one_or_two_weeks_before_it_begins(changing: World) -> None:
    for day in (SUMMER_DAY, date(2026, 10, 1), date(2027, 6, 20)):
        ahead = season_start(day) - announced(changing, day).date()
        assert timedelta(days=7) <= ahead <= timedelta(days=14)


def test_until_it_is_announced_the_timetable_of_the_previous_season_is_published(changing: World) -> None:
    before, after = announced(changing, SUMMER_DAY) - ONE_SECOND, announced(changing, SUMMER_DAY)
    spring_day, n_changed = SUMMER_DAY - timedelta(weeks=2), 0
    for line in range(len(changing.network.lines)):
        if changing.timetable_changes(line, SUMMER_DAY) or changing.timetable_changes(line, spring_day):
            continue
        old, new = (
            departure_seconds(changing, line, spring_day),
            departure_seconds(changing, line, SUMMER_DAY),
        )
        assert departure_seconds(changing, line, SUMMER_DAY, before) == old
        assert departure_seconds(changing, line, SUMMER_DAY, after) == new
        n_changed += old != new
    assert n_changed > 2


def test_a_new_season_moves_withdraws_and_adds_some_trips(changing: World) -> None:
    def departures(day: date) -> dict[str, int]:
        schedule = changing.schedule(day)
        ids = [changing.network.trips[trip].id for trip in schedule.trips]
        return dict(zip(ids, (schedule.scheduled_at[:, 0] - schedule.starts_at).tolist(), strict=True))

    winter, summer = departures(SUMMER_DAY - timedelta(weeks=2)), departures(SUMMER_DAY)
    both = winter.keys() & summer.keys()
    moved = [summer[trip] - winter[trip] for trip in both if summer[trip] != winter[trip]]

    assert 0.02 < len(winter.keys() - summer.keys()) / len(winter) < 0.1
    assert 0.02 < len(summer.keys() - winter.keys()) / len(winter) < 0.1
    assert 0.15 < len(moved) / len(both) < 0.35
    assert {60 * minutes for minutes in range(-6, 7) if minutes} == set(moved)


def test_the_timetable_of_autumn_is_that_of_spring(changing: World) -> None:
    for line in range(len(changing.network.lines)):
        autumn, spring = date(2026, 9, 16), date(2026, 5, 27)
        assert departure_seconds(changing, line, autumn) == departure_seconds(changing, line, spring)


def test_a_news_item_announces_a_new_timetable(changing: World) -> None:
    at = announced(changing, SUMMER_DAY)

    titles = [
        [item.title for item in changing.news(now) if item.about == "season"] for now in (at - ONE_SECOND, at)
    ]

    assert [title for title in titles[1] if title not in titles[0]] == ["Cambio orario di stagione dal 08/06"]


@pytest.mark.long
def test_answers_and_truth_agree_on_the_versions_of_a_timetable(
    changing: World, send: Send, tmp_path: Path
) -> None:
    write_truth(changing, DAYS[0], DAYS[-1], tmp_path)
    app = create_app(changing, limit_without_token=1_000)
    departures: dict[Question, list[str]] = {}
    reasons = set()
    for row in pq.read_table(tmp_path / "timetable_versions.parquet").to_pylist():
        begins = (row["published_at"] or LONG_AGO).replace(tzinfo=UTC)
        ends = (row["replaced_at"] or LONG_AFTER).replace(tzinfo=UTC)
        reasons.add((row["version"], row["reason"]))
        for now in (begins, ends - ONE_SECOND):
            question = Question(row["service_date"], row["line_code"], now)
            departures.setdefault(question, []).append(row["departure_text"])

    assert {(1, "first"), (2, "season"), (3, "notice")} <= reasons
    assert {"late", "headsign", "service_code"} <= {reason for _, reason in reasons}
    for question, expected in list(departures.items())[::9]:
        path = f"/api/v1/orari/{question.line_code}/{question.day}"
        answer = send(app, path, X_Emulated_Now=question.now.isoformat()).json()
        legs = [leg for service in answer["servizi"] for leg in service["tratte"].values()]
        actual = [text for leg in legs if leg["descrizione"] for text in leg["partenze"]]
        assert sorted(expected) == sorted(actual)

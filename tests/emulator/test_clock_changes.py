from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from tests.emulator.fixture_types import Get
from transit_emulator.local_time import day_start
from transit_emulator.world import World

ROME = ZoneInfo("Europe/Rome")
SPRING, AUTUMN = date(2026, 3, 29), date(2026, 10, 25)
SATURDAYS = [SPRING - timedelta(days=1), AUTUMN - timedelta(days=1)]


@pytest.mark.parametrize(
    ("day", "start"),
    [
        (SPRING, datetime(2026, 3, 28, 22, tzinfo=UTC)),
        (AUTUMN, datetime(2026, 10, 24, 23, tzinfo=UTC)),
        (date(2026, 3, 4), datetime(2026, 3, 3, 23, tzinfo=UTC)),
    ],
)
def test_seconds_of_a_service_day_count_from_noon_minus_twelve_hours(day: date, start: datetime) -> None:
    assert day_start(day, ROME) == start.timestamp()


@pytest.mark.parametrize("day", [SPRING, AUTUMN])
def test_departures_by_day_are_at_the_clock_time_the_timetable_says(world: World, day: date) -> None:
    for service in world.timetable(0, day):
        for leg in service.legs:
            for departure in leg.departures:
                clock = datetime.fromtimestamp(departure.departs_at, ROME)
                assert departure.text == f"{clock:%H:%M}"


@pytest.mark.parametrize(("day", "hours"), [(SATURDAYS[0], 23), (SATURDAYS[1], 25)])
def test_the_night_of_a_clock_change_has_its_usual_trips_at_the_usual_intervals(
    world: World, day: date, hours: int
) -> None:
    next_day = day + timedelta(days=1)
    week_before = day - timedelta(days=7)
    seconds = [
        (schedule.scheduled_at - schedule.starts_at)[~schedule.is_added]
        for schedule in map(world.schedule, (day, week_before))
    ]

    assert day_start(next_day + timedelta(days=1), ROME) - day_start(next_day, ROME) == 86_400
    midnight = datetime.combine(next_day, datetime.min.time(), ROME).timestamp()
    next_midnight = datetime.combine(next_day + timedelta(days=1), datetime.min.time(), ROME).timestamp()
    assert next_midnight - midnight == hours * 3_600
    assert (seconds[0] == seconds[1]).all()


def test_hours_past_24_continue_through_the_clock_change(world: World) -> None:
    line = world.line("003-00")
    for day in SATURDAYS:
        night = [
            departure
            for service in world.timetable(line, day)
            for leg in service.legs
            for departure in leg.departures
            if departure.text >= "24:00"
        ]
        assert night
        for departure in night:
            hours, minutes = map(int, departure.text.split(":"))
            assert departure.departs_at == day_start(day, ROME) + hours * 3_600 + minutes * 60


def test_no_passage_is_shown_at_a_clock_time_that_is_skipped(get: Get) -> None:
    shown = [
        row["orario"]
        for minute in range(0, 90, 5)
        for row in get(
            "/api/v1/passaggi/0100", datetime(2026, 3, 29, 0, 30, tzinfo=UTC) + timedelta(minutes=minute)
        ).json()["passaggi"]
    ]

    assert any(text.startswith("01:") for text in shown)
    assert any(text.startswith("03:") for text in shown)
    assert not any(text.startswith("02:") for text in shown)


def test_the_hour_that_occurs_twice_has_passages_both_times(get: Get) -> None:
    first = get("/api/v1/passaggi/0100", datetime(2026, 10, 25, 0, 20, tzinfo=UTC)).json()
    second = get("/api/v1/passaggi/0100", datetime(2026, 10, 25, 1, 20, tzinfo=UTC)).json()

    assert first["passaggi"][0]["orario"].startswith("02:")
    assert second["passaggi"][0]["orario"].startswith("02:")
    assert {row["id_corsa"] for row in first["passaggi"]}.isdisjoint(
        row["id_corsa"] for row in second["passaggi"]
    )


def test_status_starts_are_local_on_both_sides_of_the_change(world: World) -> None:
    for day in (SPRING, AUTUMN):
        for event in world.events(day):
            local = datetime.fromtimestamp(event.started_at, ROME)
            assert local.date() == day

import re
from datetime import UTC, datetime, timedelta

from tests.emulator.fixture_types import Get
from transit_emulator.world import World

MIDNIGHT = datetime(2026, 3, 4, tzinfo=UTC)
HALF_HOURS = [MIDNIGHT + timedelta(minutes=30 * step) for step in range(7 * 48)]


def test_at_any_time_an_event_is_open(world: World) -> None:
    assert all(world.status(now) for now in HALF_HOURS)


def test_events_start_and_end_on_every_day(world: World) -> None:
    for day in range(7):
        open_then = [
            {event.id for event in world.status(now)} for now in HALF_HOURS[48 * day : 48 * day + 48]
        ]
        assert set.union(*open_then) - open_then[0], "something starts"
        assert set.union(*open_then) - open_then[-1], "something ends"


def test_an_event_is_listed_in_its_intervals_and_at_no_other_time(world: World) -> None:
    for back in range(14):
        for event in world.events(MIDNIGHT.date() - timedelta(days=back)):
            for first, until in event.listed:
                edges = [first - 1, first, until - 1, until]
                listed = [event in world.status(datetime.fromtimestamp(at, UTC)) for at in edges]
                assert listed == [False, True, True, False]


def test_in_every_eight_weeks_one_lift_is_out_of_service_for_weeks(world: World) -> None:
    for start in range(0, 224, 56):
        days = [MIDNIGHT.date() + timedelta(days=start + step) for step in range(-28, 84)]
        events = [event for day in days for event in world.events(day) if event.category == "ASC"]
        longest = max(events, key=lambda event: event.ended_at - event.started_at)
        others = [
            event
            for event in events
            if event.plant_id == longest.plant_id
            and event.is_out_of_use
            and longest.id not in (event.id, event.notice_of)
        ]

        assert 14 < (longest.ended_at - longest.started_at) / 86_400 < 24
        assert all(e.ended_at <= longest.started_at or e.started_at >= longest.ended_at for e in others)


def test_a_news_item_may_be_edited_later_and_keeps_its_date(get: Get, world: World) -> None:
    item = next(item for item in world.news(MIDNIGHT) if item.edited_at)
    assert item.edited_at is not None
    before, after = (
        get(f"/api/v1/news/{item.id}", datetime.fromtimestamp(item.edited_at + second, UTC)).json()
        for second in (-1, 0)
    )

    assert before["contenuto"] == item.text
    assert after["contenuto"] == item.edited_text != item.text
    assert before | {"contenuto": ""} == after | {"contenuto": ""}


def test_a_lift_has_one_failure_at_a_time(world: World) -> None:
    for now in HALF_HOURS:
        instant = now.timestamp()
        lifts = [
            event.plant_id
            for event in world.listed_on(now.date())
            if event.is_out_of_use and not event.notice_of and event.started_at <= instant < event.ended_at
        ]
        assert len(lifts) == len(set(lifts))


def test_lines_of_a_status_entry_are_an_array_a_name_or_absent(get: Get) -> None:
    moments = [MIDNIGHT + timedelta(hours=3 * step) for step in range(30 * 8)]
    entries = [entry for now in moments for entry in get("/api/v1/stato_servizio", now).json()["stato"]]

    assert {entry["categoria"] for entry in entries} == {"SG", "ASC", "MM", "FUN"}
    assert {entry["evento"] for entry in entries} == {"DEV", "GEV", "FERS"}
    assert all(isinstance(entry["linee"], str) for entry in entries if entry["categoria"] == "ASC")
    assert any(isinstance(entry.get("linee"), list) for entry in entries)
    assert any("linee" not in entry for entry in entries)
    assert any("causa" not in entry for entry in entries)
    assert all(re.fullmatch(r"[1-9]\d?/[1-9]\d?/2026 \d\d:\d\d", entry["data"]) for entry in entries)


def test_a_category_answers_its_entries_of_the_whole_status(get: Get) -> None:
    for now in HALF_HOURS[::16]:
        whole = get("/api/v1/stato_servizio", now).json()["stato"]
        for category in ("ASC", "SG", "XX"):
            part = get(f"/api/v1/stato_servizio/categoria/{category}", now).json()
            assert part == {"stato": [entry for entry in whole if entry["categoria"] == category]}


def test_news_are_newest_first_with_both_dates_and_each_has_a_detail(get: Get) -> None:
    news = get("/api/v1/news").json()

    assert news
    assert [item["data"] for item in news] == sorted((item["data"] for item in news), reverse=True)
    for item in news:
        published = datetime.fromisoformat(item["data"])
        assert item["data_formattata"] == f"{published + timedelta(hours=1):%d/%m/%Y %H:%M}"
        detail = get(f"/api/v1/news/{item['id']}").json()
        assert list(detail) == ["titolo", "contenuto", "data"]
        assert detail["titolo"] == item["titolo"]
        assert detail["data"] == f"{published + timedelta(hours=1):%Y-%m-%d}"


def test_some_news_are_about_events(world: World) -> None:
    days = [MIDNIGHT.date() + timedelta(days=step) for step in range(-30, 16)]
    ids = {event.id for day in days for event in world.events(day)}
    named = {event_id for item in world.news(MIDNIGHT) for event_id in item.event_ids}

    assert len(named) > 5
    assert named <= ids


def test_a_news_item_can_be_read_from_its_publication_on(get: Get, world: World) -> None:
    item = world.news(MIDNIGHT)[0]
    published = datetime.fromtimestamp(item.published_at, UTC)
    statuses = [
        get(f"/api/v1/news/{item.id}", published + timedelta(seconds=after)).status_code
        for after in (-1, 0, 90 * 86_400)
    ]

    assert statuses == [404, 200, 200]

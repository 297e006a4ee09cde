"""How the status publishes disruptions: everything unusual about it happens, and the truth tells of it."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transit_emulator.days.events import DAY, HOUR, MINUTE, Event
from transit_emulator.days.plant import plants
from transit_emulator.interface import render_v1
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world

FIRST, LAST = date(2026, 10, 1), date(2026, 10, 31)
Row = dict[str, Any]


@pytest.fixture(scope="module")
def city() -> World:
    return build_world("city", seed=3)


@pytest.fixture(scope="module")
def events(city: World) -> list[Event]:
    """Return the events that start in a month with a change of the clocks."""
    return [event for step in range(31) for event in city.events(FIRST + timedelta(days=step))]


@pytest.fixture(scope="module")
def truth(city: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("truth")
    write_truth(city, FIRST, LAST, folder, only=["events", "news", "plant"])
    return folder


def of_class(events: Sequence[Event], name: str) -> list[Event]:
    return [event for event in events if name in event.classes]


def rows(folder: Path, table: str) -> list[Row]:
    found: list[Row] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return found


def entry_at(world: World, event: Event, instant: float) -> Row:
    """Return how the status writes an event at an instant at which it lists it."""
    now = datetime.fromtimestamp(instant, UTC)
    place = [one.id for one in world.status(now)].index(event.id)
    entry: Row = render_v1.status(world, now)["stato"][place]
    return entry


@pytest.mark.parametrize(
    "name",
    [
        "announced", "withdrawn", "flap", "message_edited", "line_added", "line_removed", "cause_edited",
        "start_corrected", "start_rewritten", "padded", "respelled", "slash", "one_text", "spelling",
        "name_respelled", "second_notice", "reduced_hours", "clock_change",
    ],
)  # fmt: skip
def test_a_month_of_the_city_has_some_of_each_class(events: list[Event], name: str) -> None:
    assert len(of_class(events, name)) >= 5


@pytest.mark.parametrize("name", ["announced", "withdrawn", "flap", "second_notice", "clock_change"])
def test_a_month_of_the_city_has_thirty_events_of_each_class_that_is_measured(
    events: list[Event], name: str
) -> None:
    assert len(of_class(events, name)) >= 30


def test_works_are_announced_one_to_fourteen_days_before_they_start(events: list[Event]) -> None:
    ahead = [(event.started_at - event.listed_at) / DAY for event in of_class(events, "announced")]

    assert min(ahead) < 2
    assert 10 < max(ahead) <= 14
    assert all(days > 0.5 for days in ahead)


def test_withdrawn_works_leave_the_list_before_their_start_and_disturb_nothing(
    city: World, events: list[Event]
) -> None:
    for event in of_class(events, "withdrawn"):
        assert event.listed_at < event.unlisted_at < event.started_at
        assert not city.skipped_stops(event)
        assert event not in city.events_around(FIRST)


def test_an_event_may_be_missing_several_times_each_for_three_to_twenty_minutes(events: list[Event]) -> None:
    absences = [
        [(until - after) / MINUTE for (_, after), (until, _) in pairwise(event.listed)]
        for event in of_class(events, "flap")
    ]

    assert {1, 2, 3} == {len(found) for found in absences}
    assert all(3 <= minutes <= 20 for found in absences for minutes in found)
    assert all(len(event.listed) == 1 for event in events if "flap" not in event.classes)


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("message_edited", "messaggio"), ("line_added", "linee"), ("line_removed", "linee"),
        ("cause_edited", "causa"), ("start_corrected", "data"), ("start_rewritten", "data"),
        ("name_respelled", "linee"),
    ],
)  # fmt: skip
def test_an_edit_changes_what_is_listed(city: World, events: list[Event], name: str, field: str) -> None:
    n_changed = 0
    found = of_class(events, name)
    for event in found:
        shown = [
            (at, entry_at(city, event, at))
            for _, first, until in event.listed_versions()
            for at in (first, until - 1)
            if event.is_listed(at)
        ]
        n_changed += len({str(entry.get(field)) for _, entry in shown}) > 1

    assert n_changed > 0.7 * len(found)


def test_a_start_is_corrected_by_minutes_or_hours(events: list[Event]) -> None:
    corrected = [
        event.versions[-1].starts_at - event.versions[0].starts_at
        for event in of_class(events, "start_corrected")
    ]

    assert min(corrected) <= 10 * MINUTE
    assert max(corrected) >= HOUR
    assert all(seconds > 0 for seconds in corrected)


def test_labels_are_padded_slashed_or_one_text(city: World, events: list[Event]) -> None:
    numbers = {line.number for line in city.network.lines}
    for event in of_class(events, "padded"):
        assert {label.lstrip("0") for label in event.versions[0].lines} <= numbers
    padded = [label for event in of_class(events, "padded") for label in event.versions[0].lines]
    slashed = [label for event in of_class(events, "slash") for label in event.versions[0].lines]
    texts = [entry_at(city, event, event.listed_at)["linee"] for event in of_class(events, "one_text")]

    assert any(label.startswith("0") for label in padded)
    assert any(label.endswith("/") and label not in numbers for label in slashed)
    assert all(isinstance(text, str) for text in texts)
    assert any(", " in text for text in texts)


def test_a_second_notice_is_about_the_same_plant_while_the_first_is_listed(events: list[Event]) -> None:
    by_id = {event.id: event for event in events}
    found = of_class(events, "second_notice")
    names = set()
    for second in found:
        first = by_id[second.notice_of]
        assert (first.plant_id, first.started_at, first.ended_at) == (
            second.plant_id, second.started_at, second.ended_at,
        )  # fmt: skip
        assert first.listed_at < second.listed_at < first.unlisted_at
        names.add((first.versions[0].name, second.versions[0].name))

    assert any(first != second for first, second in names)


def test_names_of_plant_are_spelled_in_several_ways(truth: Path) -> None:
    spellings = {name for plant in rows(truth, "plant") for name in plant["spellings"]}

    assert any(name.isupper() for name in spellings)
    assert any(name.startswith(("ASC. ", "FUN. ", "CRE. ")) for name in spellings)
    assert any("  " in name for name in spellings)
    assert any(name.islower() for name in spellings)


def test_there_are_lifts_funiculars_and_a_rack_railway_and_all_are_in_the_truth(
    city: World, truth: Path
) -> None:
    found = {(plant["kind"], plant["category"]) for plant in rows(truth, "plant")}

    assert {("lift", "ASC"), ("funicular", "FUN"), ("rack_railway", "SG")} == found
    assert len(plants(city.network)) == len(rows(truth, "plant"))


def test_reduced_hours_are_announced_and_are_not_out_of_use(events: list[Event], truth: Path) -> None:
    reduced = of_class(events, "reduced_hours")
    named = {event_id for outage in rows(truth, "plant_outages") for event_id in outage["event_ids"]}

    assert all("orario ridotto dal " in event.versions[0].message for event in reduced)
    assert all(event.listed_at < event.started_at for event in reduced)
    assert named.isdisjoint(event.id for event in reduced)


def test_an_outage_is_in_the_truth_once_with_all_notices_of_it(events: list[Event], truth: Path) -> None:
    outages = rows(truth, "plant_outages")
    seconds = {event.id for event in of_class(events, "second_notice")}
    named = [event_id for outage in outages for event_id in outage["event_ids"]]

    assert len(named) == len(set(named))
    assert seconds <= set(named)
    for plant_id in {outage["plant_id"] for outage in outages}:
        times = sorted((row["started_at"], row["ended_at"]) for row in outages if row["plant_id"] == plant_id)
        assert all(end <= start for (_, end), (start, _) in pairwise(times))


def test_events_start_in_both_halves_of_the_hour_that_comes_twice(city: World) -> None:
    starts = [event.started_at for event in of_class(city.events(date(2026, 10, 25)), "clock_change")]
    first = datetime(2026, 10, 25, 0, tzinfo=UTC).timestamp()
    elsewhere = [city.events(day) for day in (date(2026, 3, 29), date(2026, 10, 24))]

    assert any(first <= start < first + HOUR for start in starts)
    assert any(first + HOUR <= start < first + 2 * HOUR for start in starts)
    assert not any(of_class(found, "clock_change") for found in elsewhere)


def test_at_any_time_the_status_is_what_the_truth_says(city: World, truth: Path) -> None:
    versions, listings = rows(truth, "event_versions"), rows(truth, "event_listings")
    listed: dict[str, list[tuple[datetime, datetime]]] = {row["event_id"]: [] for row in listings}
    for row in listings:
        listed[row["event_id"]].append((row["listed_from"], row["listed_to"]))
    for hours in range(0, 31 * 24, 5):
        now = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(hours=hours, minutes=7 * hours % 60)
        at = now.replace(tzinfo=None)
        expected = [
            (row["message"], row["cause"], row["started_text"], ", ".join(row["lines"] or []))
            for row in versions
            if row["valid_from"] <= at < row["valid_to"]
            and any(first <= at < until for first, until in listed[row["event_id"]])
        ]
        actual = [
            (row["messaggio"], row.get("causa"), row["data"], _joined(row.get("linee", [])))
            for row in render_v1.status(city, now)["stato"]
        ]
        assert sorted(map(str, expected)) == sorted(map(str, actual))


def _joined(lines: str | list[str]) -> str:
    return lines if isinstance(lines, str) else ", ".join(lines)


def test_versions_name_the_lines_that_the_labels_stand_for(city: World, truth: Path) -> None:
    disturbed = {row["event_id"]: set(row["line_codes"]) for row in rows(truth, "events")}
    numbers = {line.code: line.number for line in city.network.lines}
    for row in rows(truth, "event_versions"):
        assert set(row["line_codes"]) <= disturbed[row["event_id"]]
        if row["line_codes"]:
            labels = {label.lstrip("0").rstrip("/") for label in row["lines"]}
            assert labels == {numbers[code].rstrip("/") for code in row["line_codes"]}


def test_news_are_about_one_event_two_of_one_line_or_none(truth: Path) -> None:
    news = {row["news_id"]: row for row in rows(truth, "news")}
    events = {row["event_id"]: row for row in rows(truth, "events")}
    by_kind: dict[str, list[Row]] = {}
    for row in news.values():
        by_kind.setdefault(row["about"], []).append(row)

    assert {"event", "events", "topic", "unrelated"} == by_kind.keys()
    assert all(len(found) >= 10 for found in by_kind.values())
    assert all(row["event_id"] is None for kind in ("topic", "unrelated") for row in by_kind[kind])
    for row in by_kind["events"]:
        codes = [set(events[event_id]["line_codes"]) for event_id in row["event_ids"] if event_id in events]
        assert len(codes) < 2 or codes[0] & codes[1]


def test_most_news_about_an_event_do_not_repeat_its_message(truth: Path) -> None:
    messages = {row["event_id"]: row["message"] for row in rows(truth, "event_versions")}
    texts = {row["news_id"]: row["text"] for row in rows(truth, "news_versions") if row["version"] == 1}
    about = [row for row in rows(truth, "news") if row["about"] == "event" and row["event_id"] in messages]
    repeated = [row for row in about if messages[row["event_id"]].split(":")[0] in texts[row["news_id"]]]

    assert 0.1 < len(repeated) / len(about) < 0.5


def test_the_text_of_a_news_item_is_at_any_time_what_the_truth_says(city: World, truth: Path) -> None:
    edited = 0
    for row in rows(truth, "news_versions"):
        at = row["valid_from"].replace(tzinfo=UTC)
        item = city.news_item(row["news_id"], at)
        assert row["text"] == render_v1.news_detail(city, item, at)["contenuto"]
        edited += row["version"] > 1
    for row in rows(truth, "news"):
        ends = row["listed_to"].replace(tzinfo=UTC)
        for second, is_listed in ((-1, True), (0, False)):
            listed = {item.id for item in city.news(ends + timedelta(seconds=second))}
            assert (row["news_id"] in listed) is is_listed

    assert edited > 30

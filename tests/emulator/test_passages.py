import re
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
import pytest

from tests.emulator.fixture_types import Get, Send
from transit_emulator.app import create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world

DAY = date(2026, 3, 4)
MOMENTS = [
    datetime(2026, 3, 4, 5, tzinfo=UTC) + timedelta(minutes=67 * step, seconds=step) for step in range(18)
]
STOPS = ["0100", "0101", "0106", "0125", "0111", "0150", "IS02", "10390"]


Row = dict[str, Any]


class TripId(NamedTuple):
    """A trip of a service date."""

    service_date: date
    trip_id: str


class CallId(NamedTuple):
    """A call of a trip at a stop."""

    service_date: date
    trip_id: str
    stop_sequence: int


@dataclass(frozen=True)
class Truth:
    """What the emulator wrote about three service dates; `calls` are the scheduled ones and added trips'."""

    trips: dict[TripId, Row]
    scheduled: list[Row]
    calls: list[Row]
    passed_at: dict[CallId, datetime]
    full: set[CallId]

    def trip(self, call: Row) -> Row:
        """Return the trip of a call."""
        return self.trips[trip_id(call)]

    def kind(self, call: Row, now: datetime) -> str:
        """Tell from the truth alone whether a call is live, theoretical or not listed at an instant."""
        at = now.replace(tzinfo=None)
        trip, passed_at = self.trip(call), self.passed_at.get(call_id(call))
        is_lost = trip["lost_at"] is not None and at >= trip["lost_at"]
        if trip["live_from"] is not None and at >= trip["live_from"] and not is_lost:
            return "live" if passed_at is not None and at < passed_at else "not listed"
        if trip["is_added"]:
            return "not listed"
        is_off = trip["taken_off_at"] is not None and at >= trip["taken_off_at"]
        is_behind = is_lost and (passed_at is None or at >= passed_at)
        return "not listed" if at >= call["scheduled_at"] or is_off or is_behind else "theoretical"


def trip_id(row: Row) -> TripId:
    return TripId(row["service_date"], row["trip_id"])


def call_id(row: Row) -> CallId:
    return CallId(row["service_date"], row["trip_id"], row["stop_sequence"])


@pytest.fixture(scope="module")
def truth(world: World, tmp_path_factory: pytest.TempPathFactory) -> Truth:
    folder = tmp_path_factory.mktemp("truth")
    write_truth(world, DAY - timedelta(days=1), DAY + timedelta(days=1), folder)
    trips, scheduled, actual = (
        pq.read_table(folder / f"{name}.parquet").to_pylist()
        for name in ("trips", "scheduled_passages", "actual_passages")
    )
    trips_by_id = {trip_id(row): row for row in trips}
    return Truth(
        trips=trips_by_id,
        scheduled=scheduled,
        calls=scheduled + [row for row in actual if trips_by_id[trip_id(row)]["is_added"]],
        passed_at={call_id(row): row["passed_at"] for row in actual},
        full={call_id(row) for row in actual if row["is_full"]},
    )


def test_a_stop_lists_exactly_what_the_truth_says(world: World, truth: Truth) -> None:
    n_listed = 0
    for stop in STOPS:
        calls = [call for call in truth.calls if call["stop_code"] == stop]
        for now in MOMENTS:
            kinds = {call_id(call): truth.kind(call, now) for call in calls}
            for passage in world.passages(stop, now):
                n_listed += 1
                call = CallId(passage.service_date, passage.trip_id, passage.stop_sequence)
                assert kinds[call] == ("theoretical" if passage.is_theoretical else "live")
                assert passage.is_full == (kinds[call] == "live" and call in truth.full)
    assert n_listed > 500


def test_a_skipped_stop_never_lists_the_trip_as_live(world: World, truth: Truth) -> None:
    skipped = [call for call in truth.scheduled if call["is_skipped"]]
    n_theoretical = 0
    for call in skipped:
        trip = truth.trip(call)
        passed = [truth.passed_at.get(CallId(*trip_id(call), n)) for n in range(1, 99)]
        assert trip["n_skipped_stops"] > 0
        assert passed[call["stop_sequence"] - 1] is None
        assert (trip["outcome"] == "not_run") == (not any(passed))
        scheduled_at = call["scheduled_at"].replace(tzinfo=UTC)
        for minutes in (25, 2, 1, 0, -3):
            now = scheduled_at - timedelta(minutes=minutes)
            rows = [row for row in world.passages(call["stop_code"], now) if row.trip_id == trip["trip_id"]]
            assert all(row.is_theoretical for row in rows)
            is_live = trip["live_from"] is not None and now.replace(tzinfo=None) >= trip["live_from"]
            assert not (rows and is_live)
            n_theoretical += len(rows)

    assert len({call["trip_id"] for call in skipped}) > 20
    assert n_theoretical > 20


def test_an_event_names_the_stops_that_its_lines_skip(world: World, tmp_path: Path) -> None:
    write_truth(world, DAY, DAY, tmp_path)
    calls = pq.read_table(tmp_path / "scheduled_passages.parquet").to_pylist()
    events = pq.read_table(tmp_path / "events.parquet").to_pylist()
    skipped = {stop for event in events if event["event"] == "DEV" for stop in event["skipped_stops"]}

    assert all(not event["skipped_stops"] for event in events if event["event"] != "DEV")
    assert {call["stop_code"] for call in calls if call["is_skipped"]} <= skipped


def test_an_added_trip_is_only_listed_live_and_is_in_no_timetable(world: World, truth: Truth) -> None:
    added = [trip for trip in truth.trips.values() if trip["is_added"]]
    departures = {
        TripId(day, world.network.trips[int(world.schedule(day).trips[one.trip])].id)
        for day in {trip["service_date"] for trip in added}
        for line in range(len(world.network.lines))
        for service in world.timetable(line, day)
        for leg in service.legs
        for one in leg.departures
    }
    n_listed = 0
    for call in truth.calls:
        trip = truth.trip(call)
        if trip["is_added"]:
            now = call["passed_at"].replace(tzinfo=UTC) - timedelta(seconds=20)
            rows = [row for row in world.passages(call["stop_code"], now) if row.trip_id == call["trip_id"]]
            assert not any(row.is_theoretical for row in rows)
            n_listed += len(rows)

    assert 0.005 < len(added) / len(truth.trips) < 0.03
    assert n_listed > 100
    assert all(trip["scheduled_departure_at"] is None for trip in added)
    assert not departures & {trip_id(trip) for trip in added}


def test_the_next_two_calls_of_each_line_are_listed(world: World, truth: Truth) -> None:
    margin = timedelta(minutes=12)  # larger than any prediction error
    for stop in STOPS:
        calls = [call for call in truth.calls if call["stop_code"] == stop]
        for now in MOMENTS:
            end = now.replace(tzinfo=None) + timedelta(hours=1) - margin
            expected: Counter[str] = Counter()
            for call in calls:
                kind = truth.kind(call, now)
                at = truth.passed_at[call_id(call)] if kind == "live" else call.get("scheduled_at", end)
                expected[call["line_code"]] += kind != "not listed" and at < end
            listed = Counter(passage.line_code for passage in world.passages(stop, now))
            assert all(listed[line] >= min(2, n) for line, n in expected.items())


def test_at_most_two_passages_of_a_label_are_listed(get: Get) -> None:
    rows = get("/api/v1/passaggi/0100").json()["passaggi"]

    assert max(Counter((row["linea"], row["destinazione"]) for row in rows).values()) == 2


def test_a_tracked_bus_is_listed_until_the_second_it_passes(world: World, truth: Truth) -> None:
    runs = [
        call
        for call in truth.scheduled
        if call["service_date"] == DAY
        and call["line_code"] == "003-00"
        and call["stop_sequence"] == 5
        and truth.trip(call)["outcome"] == "run"
    ]
    for call in runs[10:60]:
        passed_at = truth.passed_at[call_id(call)].replace(tzinfo=UTC)
        before = world.passages(call["stop_code"], passed_at - timedelta(seconds=1))
        after = world.passages(call["stop_code"], passed_at)
        assert call["trip_id"] in [passage.trip_id for passage in before]
        assert call["trip_id"] not in [passage.trip_id for passage in after]


def test_the_prediction_error_shrinks_as_the_bus_comes_near(world: World, truth: Truth) -> None:
    far: list[float] = []
    near: list[float] = []
    for call in truth.scheduled:
        if call["service_date"] != DAY or call["stop_sequence"] != 9 or call["line_code"] != "001-00":
            continue
        passed = truth.passed_at.get(call_id(call))
        if passed is None:
            continue
        at = passed.replace(tzinfo=UTC)
        for minutes, errors in ((12, far), (0.25, near)):
            for passage in world.passages(call["stop_code"], at - timedelta(minutes=minutes)):
                if passage.trip_id == call["trip_id"] and not passage.is_theoretical:
                    errors.append(abs(passage.shown_at - at.timestamp()))
    assert len(near) > 100
    assert sum(near) / len(near) < 10
    assert sum(far) / len(far) > 60


def test_an_answer_does_not_depend_on_earlier_requests(world: World, send: Send) -> None:
    paths = [
        "/api/v1/passaggi/0100",
        "/api/v1/stato_servizio",
        "/api/v1/news",
        "/api/v1/orari/001-00/2026-03-04",
    ]
    now = "2026-03-04T07:12:30Z"
    used = create_app(world)
    for day in range(1, 12):
        send(used, "/api/v1/passaggi/0104", X_Emulated_Now=f"2026-05-{day:02d}T07:00:00Z")
    fresh = create_app(build_world(seed=world.seed))

    expected = [send(used, path, X_Emulated_Now=now).content for path in paths]
    actual = [send(fresh, path, X_Emulated_Now=now).content for path in reversed(paths)]

    assert expected == actual[::-1]


def test_another_seed_changes_passages_but_not_the_timetable(world: World) -> None:
    other = build_world(seed=world.seed + 1)

    schedules = [one.schedule(DAY) for one in (world, other)]
    scheduled = [schedule.scheduled_at[~schedule.is_added] for schedule in schedules]
    passed = [one.motion(DAY).passed_at[: len(scheduled[0])] for one in (world, other)]

    assert (scheduled[0] == scheduled[1]).all()
    assert (passed[0] != passed[1]).mean() > 0.9
    assert schedules[0].is_added.sum() != schedules[1].is_added.sum()


def test_texts_have_the_format_of_displays(get: Get) -> None:
    rows = [
        row
        for stop in ("0100", "0110", "0150", "0140")
        for row in get(f"/api/v1/passaggi/{stop}").json()["passaggi"]
    ]

    assert all(re.fullmatch(r"\d{2}:\d{2}:\d{2}", row["orario"]) for row in rows)
    assert all(re.fullmatch(r"\d{1,2}'", row["attesa"]) for row in rows)
    assert all(row["destinazione"] == row["destinazione"].upper().replace("&APOS;", "&apos;") for row in rows)


def test_labels_may_be_padded_and_may_carry_a_slash(world: World) -> None:
    now = datetime(2026, 3, 4, 11, tzinfo=UTC)
    labels = {p.line_label for stop in world.network.stops for p in world.passages(stop.code, now)}

    assert "1/" in labels | {label.lstrip("0") for label in labels}
    assert any(re.fullmatch(r"0\d\d/?", label) for label in labels)
    assert "18" in labels


def test_the_wait_is_the_time_left_rounded_to_the_nearest_minute(get: Get) -> None:
    now = datetime(2026, 3, 4, 7, 12, 30, tzinfo=UTC)
    for row in get("/api/v1/passaggi/0106", now).json()["passaggi"]:
        shown = datetime.fromisoformat(f"2026-03-04T{row['orario']}+01:00")
        assert abs((shown - now).total_seconds() / 60 - int(row["attesa"][:-1])) <= 0.5


def test_a_railway_without_tracking_lists_only_theoretical_rows(world: World) -> None:
    rows = [
        row
        for hour in range(7, 19)
        for row in world.passages("IS02", datetime(2026, 3, 4, hour, 30, tzinfo=UTC))
    ]

    assert rows
    assert all(row.is_theoretical for row in rows)


def test_buses_pass_at_any_hour_of_any_day(world: World) -> None:
    for hour in range(48):
        now = datetime(2026, 3, 7, tzinfo=UTC) + timedelta(hours=hour)
        assert sum(len(world.passages(stop.code, now)) for stop in world.network.stops) > 80


def test_an_answer_before_midnight_lists_clock_times_after_it(get: Get) -> None:
    now = datetime(2026, 3, 4, 22, 47, 44, tzinfo=UTC)
    times = [row["orario"] for row in get("/api/v1/passaggi/0100", now).json()["passaggi"]]

    assert any(time.startswith("00:") for time in times)
    assert any(time.startswith("23:") for time in times)


def test_writing_the_truth_again_gives_the_same_bytes(world: World, tmp_path: Path) -> None:
    first = [path.read_bytes() for path in write_truth(world, DAY, DAY, tmp_path / "a")]
    again = [path.read_bytes() for path in write_truth(build_world(seed=7), DAY, DAY, tmp_path / "b")]

    assert first == again
    assert not list(tmp_path.rglob("*.part"))

"""What the polls of a stop prove about when a bus passed, in a warehouse built from small stories."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

import pytest

from tests.warehouse.conftest import Rows
from tests.warehouse.lakes import TUESDAY
from transit_etl.paths import lake_glob
from transit_etl.settings import Settings

Ask = Callable[[str], Rows]


@pytest.fixture
def visit(ask: Ask) -> Callable[..., dict[str, Any]]:
    """Return the only visit of a trip, or one of several by its number; instants as UTC clock text."""

    def _visit(trip: str, number: int = 1, stop: str = "%") -> dict[str, Any]:
        where = f"trip_id = '{trip}' and visit_number = {number} and stop_code like '{stop}'"
        rows = ask(f"from core.stop_visits where {where}")
        assert len(rows) == 1
        return {name: _clock(value) for name, value in rows[0].items()}

    return _visit


def _clock(value: object) -> object:
    return f"{value:%H:%M:%S}" if isinstance(value, datetime) else value


class Passing(NamedTuple):
    """When a visit passed, and between which polls."""

    after: str | None
    at: str | None
    before: str | None
    quality: str


def _passing(row: dict[str, Any]) -> Passing:
    return Passing(row["passed_after"], row["passed_at"], row["passed_before"], row["arrival_quality"])


Visit = Callable[..., dict[str, Any]]


def test_a_bus_seen_before_and_gone_after_a_short_interval_is_evidenced(visit: Visit) -> None:
    row = visit("PLAIN")

    assert Passing("07:00:30", "07:01:00", "07:01:20", "evidenced") == _passing(row)
    assert (60, 30, 80) == (row["delay_seconds"], row["delay_low_seconds"], row["delay_high_seconds"])
    assert ("on_time", "theoretical", 1.0) == (
        row["punctuality"],
        row["schedule_source"],
        row["is_full_share"],
    )


def test_a_failed_poll_is_no_evidence_and_leaves_wide_bounds(visit: Visit) -> None:
    row = visit("MISSED")

    assert Passing("07:00:00", "07:05:00", "07:10:00", "bounded") == _passing(row)
    assert (-300, 300, "indeterminate") == (
        row["delay_low_seconds"],
        row["delay_high_seconds"],
        row["punctuality"],
    )


def test_an_answer_with_an_error_row_does_not_say_that_the_bus_is_gone(visit: Visit) -> None:
    assert Passing("07:06:00", "07:07:00", "07:08:00", "bounded") == _passing(visit("ERROR"))


def test_a_listing_with_a_wrapped_wait_is_no_evidence_of_a_bus(visit: Visit) -> None:
    assert Passing("07:00:00", "07:01:00", "07:01:30", "bounded") == _passing(visit("WRAPPED"))


def test_a_bus_behind_two_others_of_its_line_may_be_hidden_not_gone(visit: Visit) -> None:
    assert Passing("07:05:00", "07:10:00", "07:12:00", "bounded") == _passing(visit("HIDDEN"))


def test_a_trip_past_midnight_belongs_to_the_service_day_before(visit: Visit) -> None:
    row = visit("MIDNIGHT")

    assert (TUESDAY, 24, 10) == (row["service_date"], row["service_hour"], row["delay_seconds"])


def test_a_timetable_row_that_never_went_live_is_untracked_and_not_late(visit: Visit) -> None:
    row = visit("PAPER")

    assert Passing(None, None, None, "untracked") == _passing(row)
    assert ("07:20:00", "indeterminate", None) == (
        row["scheduled_at"],
        row["punctuality"],
        row["delay_seconds"],
    )


def test_a_trip_that_comes_to_a_stop_twice_has_two_visits(visit: Visit) -> None:
    assert Passing("07:00:00", "07:02:00", "07:03:00", "bounded") == _passing(visit("LOOP", 1))
    assert Passing("07:03:00", "07:12:00", "07:13:00", "bounded") == _passing(visit("LOOP", 2))


def test_a_prediction_that_jumps_up_is_no_evidence(visit: Visit) -> None:
    assert Passing("07:00:00", "07:05:00", "07:06:00", "bounded") == _passing(visit("JUMP"))


def test_a_bus_that_vanishes_long_before_its_time_was_not_seen_to_pass(visit: Visit) -> None:
    row = visit("VANISHED")

    assert Passing("07:00:00", "07:20:00", None, "estimated") == _passing(row)
    assert row["is_lost"]


def test_a_bus_missing_from_one_answer_has_not_passed(visit: Visit) -> None:
    assert Passing("07:04:00", "07:10:00", "07:11:00", "bounded") == _passing(visit("RETURNED"))


def test_an_answer_that_lost_rows_to_quarantine_proves_no_absence(visit: Visit) -> None:
    assert Passing("07:00:00", "07:02:00", "07:05:00", "bounded") == _passing(visit("QUARANTINED"))


def test_a_bus_replaced_by_a_timetable_row_is_lost_not_gone(visit: Visit) -> None:
    row = visit("REVERTED")

    assert Passing("06:55:00", "07:02:00", None, "estimated") == _passing(row)
    assert row["is_lost"]


def test_a_bus_without_a_later_poll_is_estimated(visit: Visit) -> None:
    assert Passing("07:00:00", "07:05:00", None, "estimated") == _passing(visit("UNFOLLOWED"))


def test_one_missing_row_does_not_prove_that_a_bus_passed_minutes_early(visit: Visit) -> None:
    assert Passing("07:00:00", "07:03:00", None, "estimated") == _passing(visit("OPEN"))


def test_a_passage_still_to_come_when_the_collector_stopped_is_no_visit_yet(ask: Ask) -> None:
    assert [] == ask("from core.stop_visits where trip_id = 'FUTURE'")


def test_a_listing_without_a_trip_stays_in_the_lake(built: Settings, ask: Ask) -> None:
    passages = lake_glob(built.data_dir, "passages")

    assert [{"n": 1}] == ask(f"select count(*) as n from read_parquet('{passages}') where trip_id is null")
    assert [{"n": 0}] == ask("select count(*) as n from core.stop_visits where stop_code = '1014'")


def test_of_lines_that_share_a_number_stop_and_destination_decide_or_none_does(ask: Ask) -> None:
    lines = ask("select trip_id, line_code from core.stop_visits where stop_code like '20%' order by trip_id")

    assert [("ONLY", "002-01"), ("OPEN", None), ("STRANGE", None), ("TOLD", "002-01")] == [
        (row["trip_id"], row["line_code"]) for row in lines
    ]


def test_visits_of_no_known_line_are_counted_under_a_null_line(ask: Ask) -> None:
    query = "select n_visits, line_code from marts.punctuality where line_code is null"

    assert [{"n_visits": 3, "line_code": None}] == ask(query)


def test_a_matched_departure_gives_the_origin_its_schedule(visit: Visit) -> None:
    row = visit("LIVE_ONLY")

    assert ("08:40:00", "timetable", 60) == (
        row["scheduled_at"],
        row["schedule_source"],
        row["delay_seconds"],
    )


def test_a_matched_departure_and_the_running_time_of_other_trips_give_a_later_stop_its_schedule(
    visit: Visit,
) -> None:
    row = visit("P3", stop="4002")

    assert ("09:47:00", "pattern", 60) == (row["scheduled_at"], row["schedule_source"], row["delay_seconds"])


def test_of_lines_that_share_number_and_destination_the_stops_of_the_trip_decide(ask: Ask) -> None:
    rows = ask("select trip_id, line_code from core.stop_visits where stop_code = '5003' order by trip_id")

    assert [("ALONE", None), ("FIFTH", "005-00")] == [(row["trip_id"], row["line_code"]) for row in rows]


def test_trips_end_as_the_evidence_allows(ask: Ask) -> None:
    rows = ask("select trip_id, outcome from core.trips")
    outcomes = {row["trip_id"]: row["outcome"] for row in rows}

    assert "run" == outcomes["PLAIN"]
    assert "tracking_lost" == outcomes["VANISHED"]
    assert "tracking_lost" == outcomes["REVERTED"]
    assert "never_tracked" == outcomes["PAPER"]
    assert "not_observable" == outcomes["UNFOLLOWED"]

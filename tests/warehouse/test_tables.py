"""What the other tables say about the stories: departures, lines, disruptions, news, drift, coverage."""

from collections.abc import Callable
from datetime import datetime

import pytest

from tests.warehouse.conftest import Rows

Ask = Callable[[str], Rows]

pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all


def _clock(value: datetime | None) -> str | None:
    return f"{value:%H:%M}" if value else None


def test_each_departure_takes_one_trip_or_says_why_it_has_none(ask: Ask) -> None:
    rows = ask("from core.scheduled_departures where line_code = '003-00' order by departure_at")

    assert [
        ("08:00", "DUE", "run"),
        ("08:10", None, "not_run"),
        ("08:20", "NEXT", "run"),
        ("08:40", "LIVE", "run"),
        ("08:50", None, "withdrawn"),
        ("22:00", None, "not_observable"),
    ] == [(_clock(row["departure_at"]), row["matched_trip_id"], row["outcome"]) for row in rows]


def test_a_departure_is_valid_from_its_first_answer_to_the_first_without_it(ask: Ask) -> None:
    rows = ask("from core.scheduled_departures where outcome = 'withdrawn'")

    assert [("05:02", "06:02", False)] == [
        (_clock(row["valid_from"]), _clock(row["valid_to"]), row["is_current"]) for row in rows
    ]


def test_a_line_changes_and_ends_with_good_answers_only(ask: Ask) -> None:
    rows = ask("from core.lines where line_code = '009-00' order by valid_from")

    assert [("OLD TOWN", "05:00", "11:00", False), ("NEW TOWN", "11:00", "17:00", False)] == [
        (row["terminus_outbound"], _clock(row["valid_from"]), _clock(row["valid_to"]), row["is_current"])
        for row in rows
    ]


def test_an_event_that_flaps_and_changes_its_wording_is_one_episode(ask: Ask) -> None:
    rows = ask("from core.status_episodes where event = 'DEV'")

    assert [("07:00", "07:04", "07:10", False, 2, "Still diverted.")] == [
        (
            _clock(row["first_seen_at"]),
            _clock(row["ended_after"]),
            _clock(row["ended_before"]),
            row["is_open"],
            row["n_messages"],
            row["message"],
        )
        for row in rows
    ]


def test_an_event_that_comes_back_after_long_is_another_episode(ask: Ask) -> None:
    rows = ask("from core.status_episodes where event = 'GEV' order by first_seen_at")

    assert [(1, False), (2, True)] == [(row["episode_number"], row["is_open"]) for row in rows]


def test_a_failed_poll_does_not_end_an_event(ask: Ask) -> None:
    rows = ask("from core.status_episodes where event = 'XYZ'")

    assert [("07:20", None, True)] == [
        (_clock(row["ended_after"]), _clock(row["ended_before"]), row["is_open"]) for row in rows
    ]


def test_the_length_of_a_disruption_has_a_lower_and_an_upper_bound(ask: Ask) -> None:
    rows = ask("from marts.disruptions where event = 'DEV'")

    assert [(64 * 60, 70 * 60, "DETOUR")] == [
        (row["duration_low_seconds"], row["duration_high_seconds"], row["gtfs_effect"]) for row in rows
    ]


def test_news_have_a_version_per_wording(ask: Ask) -> None:
    rows = ask("from core.news order by news_id, version_number")

    assert [
        ("n1", 1, "From Monday.", "07:00", "08:01", False),
        ("n1", 2, "From Tuesday.", "08:01", "09:00", False),
        ("n2", 1, None, "09:00", None, True),
    ] == [
        (
            row["news_id"],
            row["version_number"],
            row["content"],
            _clock(row["valid_from"]),
            _clock(row["valid_to"]),
            row["is_current"],
        )
        for row in rows
    ]


def test_unknown_keys_and_codes_are_drift(ask: Ask) -> None:
    rows = ask("select kind, name, n from quality.drift order by kind")

    assert [("event", "XYZ", 6), ("key", "piano", 1)] == [
        (row["kind"], row["name"], row["n"]) for row in rows
    ]


def test_validation_results_come_along(ask: Ask) -> None:
    assert [{"dataset": "passages", "expectation": "values_not_null", "is_success": True}] == ask(
        "select dataset, expectation, is_success from quality.validation_results"
    )


def test_coverage_counts_what_was_planned_and_measures_the_longest_gap(ask: Ask) -> None:
    rows = ask("from marts.coverage where stop_code = '1002' order by service_hour")

    assert [(7, 1, 1, 1, 2400, 0), (8, 3, 3, 2, 3000, 600)] == [
        (
            row["service_hour"],
            row["planned"],
            row["sent"],
            row["good"],
            row["longest_gap_seconds"],
            row["covered_seconds"],
        )
        for row in rows
    ]


def test_a_share_under_the_coverage_threshold_is_null_with_its_reason(ask: Ask) -> None:
    rows = ask("from marts.punctuality_shares where line_code = '004-00' and service_hour = 10")

    assert [(None, "coverage under threshold")] == [
        (row["on_time_share"], row["null_reason"]) for row in rows
    ]


def test_where_no_timetable_is_known_nobody_knows_how_much_was_seen(ask: Ask) -> None:
    rows = ask("from marts.punctuality_daily where line_code = '001-00'")

    assert [(0, None, "timetable unknown")] == [
        (row["n_due"], row["on_time_share"], row["null_reason"]) for row in rows
    ]


def test_passages_that_nobody_looked_for_are_due_all_the_same(ask: Ask) -> None:
    rows = ask("from marts.punctuality where line_code = '003-00' order by service_hour")

    assert [(9, 6, 3), (23, 2, 0)] == [(row["service_hour"], row["n_due"], row["n_visits"]) for row in rows]


def test_a_share_over_the_threshold_has_its_bounds(ask: Ask) -> None:
    rows = ask("from marts.punctuality_shares where line_code = '003-00' and service_hour = 9")

    assert [(1.0, 1.0, 1.0, None)] == [
        (row["on_time_share_low"], row["on_time_share"], row["on_time_share_high"], row["null_reason"])
        for row in rows
    ]

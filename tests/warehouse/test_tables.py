"""What the other tables say about the stories: departures, lines, disruptions, news, drift, coverage."""

from collections.abc import Callable

from tests.warehouse.conftest import Rows

Ask = Callable[[str], Rows]


def _clock(column: str) -> str:
    """Select an instant as its UTC clock text, under its own name."""
    return f"strftime({column}, '%H:%M') as {column}"


def test_each_departure_takes_one_trip_or_says_why_it_has_none(ask: Ask) -> None:
    rows = ask(
        f"select {_clock('departure_at')}, matched_trip_id, outcome "
        "from core.scheduled_departures where line_code = '003-00' order by scheduled_departures.departure_at"
    )

    assert [
        {"departure_at": "08:00", "matched_trip_id": "DUE", "outcome": "run"},
        {"departure_at": "08:10", "matched_trip_id": None, "outcome": "not_run"},
        {"departure_at": "08:20", "matched_trip_id": "NEXT", "outcome": "run"},
        {"departure_at": "08:40", "matched_trip_id": "LIVE_ONLY", "outcome": "run"},
        {"departure_at": "08:50", "matched_trip_id": None, "outcome": "withdrawn"},
        {"departure_at": "22:00", "matched_trip_id": None, "outcome": "not_observable"},
    ] == rows


def test_a_timetable_that_is_edited_or_once_empty_invents_no_departure_that_did_not_run(ask: Ask) -> None:
    departures = ask(
        "select strftime(departure_at, '%H:%M') as departs, is_in_force, outcome, count(*) as n "
        "from core.scheduled_departures where line_code = '006-00' group by all order by all"
    )
    delivered = ask(
        "select n_scheduled_trips, n_run, n_not_run from marts.service_delivered where line_code = '006-00'"
    )
    changes = ask(
        f"select {_clock('changed_at')}, n_added, n_removed, n_edited "
        "from marts.timetable_change_counts as counts "
        "where line_code = '006-00' order by counts.changed_at"
    )

    assert [(clock, "run") for clock in ("07:00", "07:20", "07:40", "08:00")] == [
        (row["departs"], row["outcome"]) for row in departures if row["is_in_force"]
    ]
    assert {"edited", "added_late"} == {row["outcome"] for row in departures if not row["is_in_force"]}
    assert [{"n_scheduled_trips": 4, "n_run": 4, "n_not_run": 0}] == delivered
    assert [
        {"changed_at": "07:30", "n_added": 0, "n_removed": 0, "n_edited": 4},
        {
            "changed_at": "08:10",
            "n_added": 1,
            "n_removed": 0,
            "n_edited": 0,
        },  # an empty answer proves nothing
    ] == changes


def test_a_departure_is_valid_from_its_first_answer_to_the_first_without_it(ask: Ask) -> None:
    rows = ask(
        f"select {_clock('valid_from')}, {_clock('valid_to')}, is_current from core.scheduled_departures "
        "where outcome = 'withdrawn'"
    )

    assert [{"valid_from": "05:02", "valid_to": "06:02", "is_current": False}] == rows


def test_only_good_answers_change_or_end_a_line(ask: Ask) -> None:
    rows = ask(
        f"select terminus_outbound, {_clock('valid_from')}, {_clock('valid_to')}, is_current "
        "from core.lines where line_code = '009-00' order by lines.valid_from"
    )

    assert [
        {"terminus_outbound": "OLD TOWN", "valid_from": "05:00", "valid_to": "11:00", "is_current": False},
        {"terminus_outbound": "NEW TOWN", "valid_from": "11:00", "valid_to": "17:00", "is_current": False},
    ] == rows


def test_an_event_that_is_missing_for_a_moment_and_changes_its_wording_is_one_episode(ask: Ask) -> None:
    rows = ask(
        f"select {_clock('first_seen_at')}, {_clock('ended_after')}, {_clock('ended_before')}, is_open, "
        "n_messages, message from core.status_episodes where event = 'DEV'"
    )

    assert [
        {
            "first_seen_at": "07:00",
            "ended_after": "07:04",
            "ended_before": "07:10",
            "is_open": False,
            "n_messages": 2,
            "message": "Still diverted.",
        }
    ] == rows


def test_an_event_that_comes_back_after_long_is_another_episode(ask: Ask) -> None:
    rows = ask(
        "select episode_number, is_open from core.status_episodes where event = 'GEV' order by first_seen_at"
    )

    assert [{"episode_number": 1, "is_open": False}, {"episode_number": 2, "is_open": True}] == rows


def test_a_failed_poll_does_not_end_an_event(ask: Ask) -> None:
    rows = ask(
        f"select {_clock('ended_after')}, {_clock('ended_before')}, is_open from core.status_episodes "
        "where event = 'XYZ'"
    )

    assert [{"ended_after": "07:50", "ended_before": None, "is_open": True}] == rows


def test_the_duration_of_a_disruption_has_a_lower_and_an_upper_bound(ask: Ask) -> None:
    rows = ask(
        "select duration_low_seconds / 60 as low_minutes, duration_high_seconds / 60 as high_minutes, "
        "gtfs_effect from marts.disruptions where event = 'DEV'"
    )

    assert [{"low_minutes": 61, "high_minutes": 70, "gtfs_effect": "DETOUR"}] == rows


def test_news_have_a_version_per_wording(ask: Ask) -> None:
    rows = ask(
        f"select news_id, version_number, content, {_clock('valid_from')}, {_clock('valid_to')} "
        "from core.news order by news_id, version_number"
    )

    assert [
        {
            "news_id": "n1",
            "version_number": 1,
            "content": "From Monday.",
            "valid_from": "07:00",
            "valid_to": "08:01",
        },
        {
            "news_id": "n1",
            "version_number": 2,
            "content": "From Tuesday.",
            "valid_from": "08:01",
            "valid_to": "09:00",
        },
        {"news_id": "n2", "version_number": 1, "content": None, "valid_from": "09:00", "valid_to": None},
    ] == rows


def test_only_the_current_version_of_news_is_marked_as_current(ask: Ask) -> None:
    assert [] == ask("from core.news where is_current <> (valid_to is null)")


def test_undescribed_keys_and_codes_are_drift(ask: Ask) -> None:
    rows = ask("select kind, name, n from quality.drift order by kind")

    assert [{"kind": "event", "name": "XYZ", "n": 7}, {"kind": "key", "name": "piano", "n": 1}] == rows


def test_validation_results_are_in_the_warehouse(ask: Ask) -> None:
    assert [{"dataset": "passages", "expectation": "values_not_null", "is_success": True}] == ask(
        "select dataset, expectation, is_success from quality.validation_results"
    )


def test_coverage_counts_requests_and_measures_the_longest_gap(ask: Ask) -> None:
    rows = ask("select * exclude (operator, service_date, stop_code, ruleset_version) from marts.coverage "
               "where stop_code = '1002' order by service_hour")  # fmt: skip

    assert [
        {
            "service_hour": 7,
            "n_due": 0,
            "planned": 1,
            "sent": 1,
            "good": 1,
            "doubtful": 0,
            "longest_gap_seconds": 2400,
            "covered_seconds": 0,
        },
        {
            "service_hour": 8,
            "n_due": 0,
            "planned": 3,
            "sent": 3,
            "good": 2,
            "doubtful": 0,
            "longest_gap_seconds": 3000,
            "covered_seconds": 600,
        },
    ] == rows


def test_an_hour_in_which_nobody_looked_is_not_covered(ask: Ask) -> None:
    rows = ask(
        "select stop_code, n_due, planned, covered_seconds, longest_gap_seconds from marts.coverage "
        "where service_hour = 23 and stop_code in ('3001', '3002') order by stop_code"
    )
    unseen = {"n_due": 1, "planned": 0, "covered_seconds": 0, "longest_gap_seconds": 3600}

    assert [{"stop_code": "3001", **unseen}, {"stop_code": "3002", **unseen}] == rows


def test_a_share_under_the_coverage_threshold_is_null_with_its_reason(ask: Ask) -> None:
    rows = ask(
        "select on_time_share, null_reason from marts.punctuality_shares "
        "where line_code = '004-00' and service_hour = 10"
    )

    assert [{"on_time_share": None, "null_reason": "coverage under threshold"}] == rows


def test_without_a_timetable_no_passage_is_due_and_the_share_is_null(ask: Ask) -> None:
    rows = ask(
        "select n_due, on_time_share, null_reason from marts.punctuality_daily where line_code = '001-00'"
    )

    assert [{"n_due": 0, "on_time_share": None, "null_reason": "timetable unknown"}] == rows


def test_passages_are_due_whether_or_not_their_stop_was_polled(ask: Ask) -> None:
    rows = ask(
        "select service_hour, n_due, n_visits from marts.punctuality "
        "where line_code = '003-00' order by service_hour"
    )

    assert [
        {"service_hour": 9, "n_due": 6, "n_visits": 3},
        {"service_hour": 23, "n_due": 2, "n_visits": 0},
    ] == rows


def test_a_share_over_the_threshold_has_its_bounds(ask: Ask) -> None:
    rows = ask(
        "select on_time_share_low, on_time_share, on_time_share_high, null_reason "
        "from marts.punctuality_shares where line_code = '003-00' and service_hour = 9"
    )

    assert [
        {"on_time_share_low": 1.0, "on_time_share": 1.0, "on_time_share_high": 1.0, "null_reason": None}
    ] == rows

"""What is expected of tracked trips when answers fail, listings vanish and stops are passed."""

from math import inf

import pytest

from tests.collect.planning.observations import STOPS, failed, good, listing
from tests.collect.planning.trackers import tracker_of, trips_at, visits_at
from transit_etl.collect.planning.stop_patterns import LineStops


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_failed_answer_is_not_read_as_a_bus_that_has_passed(*, is_refused: bool) -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    tracker.observe(failed(STOPS[3], 120.0, is_refused=is_refused))

    assert 100.0 == tracker.stops[STOPS[3]].answered_at
    assert [0] == [trip.n_evidenced for trip in trips_at(tracker, STOPS[3])]


def test_a_bus_listed_and_then_not_within_a_minute_is_evidenced() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    (trip,) = trips_at(tracker, STOPS[3])
    tracker.observe(good(STOPS[3], 150.0))

    assert (1, {1}) == (trip.n_evidenced, trip.evidenced_thirds)


def test_a_bus_listed_and_then_not_after_more_than_a_minute_has_passed_without_evidence() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    (trip,) = trips_at(tracker, STOPS[3])
    tracker.observe(good(STOPS[3], 170.0))

    assert [] == trips_at(tracker, STOPS[3])
    assert 0 == trip.n_evidenced


def test_a_bus_that_vanishes_long_before_it_is_due_has_not_passed() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(1_000.0)]))
    (trip,) = trips_at(tracker, STOPS[3])
    tracker.observe(good(STOPS[3], 150.0))

    assert 0 == trip.n_evidenced


def test_a_bus_that_vanishes_before_its_time_is_still_expected() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[4], 100.0, [listing(190.0)]))
    (trip,) = trips_at(tracker, STOPS[4])
    tracker.observe(good(STOPS[4], 120.0))

    assert [trip] == trips_at(tracker, STOPS[4])
    assert 0 == trip.n_evidenced


def test_a_stop_is_asked_for_a_bus_that_alone_is_listed_as_due_for_minutes() -> None:
    tracker = tracker_of()
    for at in (100.0, 200.0):
        tracker.observe(good(STOPS[3], at, [listing(at)]))
    (held,) = visits_at(tracker, STOPS[3])

    assert held.valuable_from < 200.0


def test_a_stop_is_not_asked_for_a_bus_that_it_lists_as_due_for_minutes_where_many_are() -> None:
    tracker = tracker_of()
    for at in (100.0, 150.0, 200.0):
        tracker.observe(good(STOPS[5], at, [listing(at, f"T{number}") for number in range(9, 40)]))
        tracker.observe(good(STOPS[3], at, [listing(at)]))
    tracker.observe(good(STOPS[2], 210.0, [listing(210.0)]))
    (stuck,) = visits_at(tracker, STOPS[3])
    assert inf == stuck.valuable_from

    tracker.observe(good(STOPS[3], 220.0, [listing(300.0)]))
    (moving,) = visits_at(tracker, STOPS[3])
    assert inf > moving.valuable_from

    tracker.observe(good(STOPS[3], 230.0, [listing(230.0)]))
    assert inf > moving.valuable_from


def test_the_third_bus_of_a_line_is_still_expected_although_only_two_are_listed() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(130.0, "T1"), listing(300.0, "T2")]))
    tracker.observe(good(STOPS[3], 150.0, [listing(200.0, "T3"), listing(250.0, "T4")]))

    assert {"T2", "T3", "T4"} == {trip.trip_id for trip in trips_at(tracker, STOPS[3])}


def test_a_bus_that_a_full_list_has_no_room_for_is_polled_when_one_listed_has_passed() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 100.0, [listing(130.0, "T1"), listing(300.0, "T2")]))
    tracker.observe(good(STOPS[3], 120.0, [listing(280.0, "T3"), listing(290.0, "T4")]))
    (unlisted,) = [visit for visit in visits_at(tracker, STOPS[3]) if visit.trip.trip_id == "T2"]

    assert unlisted.valuable_from >= 280.0


def test_an_answer_that_comes_late_changes_nothing() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[3], 200.0, [listing(400.0)]))
    tracker.observe(good(STOPS[3], 100.0))

    assert 1 == len(trips_at(tracker, STOPS[3]))


def test_a_trip_listed_by_timetable_is_expected_as_late_as_others_turned_out_to_be() -> None:
    tracker = tracker_of()
    for n in range(60):
        at = 10_000.0 * n
        tracker.observe(good(STOPS[4], at, [listing(at + 700.0, f"T{n}", is_live=False)]))
        tracker.observe(good(STOPS[4], at + 600.0, [listing(at + 760.0, f"T{n}")]))
    tracker.observe(good(STOPS[4], 900_000.0, [listing(900_700.0, "last", is_live=False)]))
    (visit,) = visits_at(tracker, STOPS[4])

    assert 900_760.0 == pytest.approx(visit.mean, abs=50.0)
    assert visit.spread < 250.0


def test_a_bus_of_a_circle_is_tracked_from_its_first_stop_and_evidenced_there() -> None:
    tracker = tracker_of(LineStops("15", (STOPS[0], STOPS[1], STOPS[0])))
    tracker.observe(good(STOPS[0], 100.0, [listing(130.0), listing(280.0)]))
    (trip,) = trips_at(tracker, STOPS[0])
    (sooner,) = visits_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[0], 155.0, [listing(280.0)]))
    (later,) = visits_at(tracker, STOPS[0])

    assert (0, 2) == (sooner.position, later.position)
    assert [trip] == trips_at(tracker, STOPS[1])
    assert 1 == trip.n_evidenced


def test_a_stop_that_still_lists_a_bus_is_trusted_more_than_where_it_was_seen_before() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[0], 100.0, [listing(110.0, "V9")]))
    tracker.observe(good(STOPS[0], 150.0))
    tracker.observe(good(STOPS[2], 700.0, [listing(730.0, "V9")]))
    (visit,) = visits_at(tracker, STOPS[2])

    assert 730.0 == pytest.approx(visit.mean, abs=5.0)
    assert 2 == visit.trip.anchor_position


def test_what_an_answer_changes_at_other_stops_is_returned() -> None:
    tracker = tracker_of()
    changed = tracker.observe(good(STOPS[0], 100.0, [listing(110.0)]))

    assert set(STOPS) == {visit.stop.code for visit in changed}


def test_a_visit_long_over_is_forgotten() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[8], 100.0, [listing(150.0)]))
    tracker.observe(good(STOPS[0], 900.0))

    assert [] == trips_at(tracker, STOPS[8])

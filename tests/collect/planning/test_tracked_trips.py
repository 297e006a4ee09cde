"""Which trip a listing is about when ids change, are missing, or are those of vehicles."""

from tests.collect.planning.observations import STOPS, good, listing
from tests.collect.planning.trackers import tracker_of, trips_at
from transit_etl.collect.planning.parameters import DEFAULTS


def test_a_trip_listed_by_timetable_without_an_id_becomes_the_vehicle_that_appears_for_it() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[4], 100.0, [listing(700.0, "", is_live=False)]))
    (scheduled,) = trips_at(tracker, STOPS[4])
    tracker.observe(good(STOPS[4], 160.0, [listing(800.0, "V9")]))

    assert [scheduled] == trips_at(tracker, STOPS[4])
    assert (True, "V9") == (scheduled.is_live, scheduled.trip_id)


def test_two_scheduled_times_at_one_stop_are_two_trips_however_close() -> None:
    tracker = tracker_of()
    times = [listing(700.0, "", is_live=False), listing(940.0, "", is_live=False)]
    tracker.observe(good(STOPS[4], 100.0, times))
    tracker.observe(good(STOPS[4], 160.0, times))

    assert 2 == len(trips_at(tracker, STOPS[4]))


def test_scheduled_times_at_two_stops_are_one_trip_if_they_fit_the_nearest_known_one() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[7], 100.0, [listing(1_500.0, "", is_live=False)]))
    (trip,) = trips_at(tracker, STOPS[7])
    assert trip.pattern is not None
    trip.pattern.running_times.learn(0, 7, 100.0, spread=1.0)  # what was assumed of the way there was wrong
    tracker.observe(good(STOPS[8], 110.0, [listing(1_580.0, "", is_live=False)]))

    assert [trip] == trips_at(tracker, STOPS[8])


def test_a_vehicle_that_sets_out_again_on_a_short_line_is_on_another_trip() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[0], 100.0, [listing(110.0, "V9")]))
    (first,) = trips_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[0], 150.0))
    tracker.observe(good(STOPS[0], 700.0, [listing(760.0, "V9")]))

    assert first not in trips_at(tracker, STOPS[0])


def test_a_vehicle_is_not_a_departure_that_the_same_answer_lists_by_timetable() -> None:
    tracker = tracker_of()
    departures = [listing(700.0, "", is_live=False), listing(1_300.0, "", is_live=False)]
    tracker.observe(good(STOPS[0], 100.0, departures))
    sooner, later = trips_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[0], 760.0, [listing(1_280.0, "V9"), departures[1]]))

    assert ("V9", "") == (sooner.trip_id, later.trip_id)
    assert {sooner, later} == set(trips_at(tracker, STOPS[0]))


def test_a_live_trip_that_is_listed_by_timetable_again_is_missing_until_it_is_live() -> None:
    tracker = tracker_of()
    tracker.observe(good(STOPS[2], 100.0, [listing(400.0)]))
    (trip,) = trips_at(tracker, STOPS[2])
    tracker.observe(good(STOPS[4], 110.0, [listing(600.0, is_live=False)]))
    n_missing = trip.n_missing
    tracker.observe(good(STOPS[5], 120.0, [listing(700.0)]))

    assert (1, 0) == (n_missing, trip.n_missing)


def test_a_trip_that_has_not_been_listed_for_long_is_another_one_when_it_is() -> None:
    tracker, forgotten = tracker_of(), 200.0 + DEFAULTS.matching.forget_trip_seconds
    tracker.observe(good(STOPS[0], 100.0, [listing(150.0)]))
    (first,) = trips_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[1], forgotten))
    tracker.observe(good(STOPS[0], forgotten + 1.0, [listing(150.0)]))

    assert first not in trips_at(tracker, STOPS[0])

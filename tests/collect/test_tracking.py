"""What becomes of the buses that a tracker follows when ids change, answers are lost and rows vanish."""

from collections.abc import Iterable

import pytest

from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.planner import Listing, Observation
from transit_etl.collect.planning.prediction_error import PredictionErrorModel
from transit_etl.collect.planning.state import TrackedTrip, fused
from transit_etl.collect.planning.stop_patterns import UNSURE_OF_SERVED, LineStops, StopPattern, StopPatterns
from transit_etl.collect.planning.tracking import Tracker

STOPS = [f"{number:04}" for number in range(9)]
COURSE = LineStops("15", tuple(STOPS))


def listing(predicted_at: float, trip: str = "T1", *, is_live: bool = True) -> Listing:
    return Listing("15", "CENTRO", trip, predicted_at, is_live)


def good(stop: str, at: float, listings: Iterable[Listing] = ()) -> Observation:
    return Observation(stop, at, is_good=True, listings=tuple(listings))


def runs_at(tracker: Tracker, stop: str) -> list[TrackedTrip]:
    return list(tracker.stops[stop].visits)


def test_timetable_time_without_an_id_becomes_the_vehicle_that_shows_up_for_it() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[4], 100.0, [listing(700.0, "", is_live=False)]))
    (scheduled,) = runs_at(tracker, STOPS[4])
    tracker.observe(good(STOPS[4], 160.0, [listing(800.0, "V9")]))

    assert [scheduled] == runs_at(tracker, STOPS[4])
    assert (True, "V9") == (scheduled.is_live, scheduled.trip_id)


def test_two_timetable_times_at_one_stop_are_two_trips_however_close() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    times = [listing(700.0, "", is_live=False), listing(940.0, "", is_live=False)]
    tracker.observe(good(STOPS[4], 100.0, times))
    tracker.observe(good(STOPS[4], 160.0, times))

    assert 2 == len(runs_at(tracker, STOPS[4]))


def test_a_vehicle_that_sets_out_again_on_a_short_line_is_on_another_trip() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[0], 100.0, [listing(110.0, "V9")]))
    (first,) = runs_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[0], 150.0))
    tracker.observe(good(STOPS[0], 700.0, [listing(760.0, "V9")]))

    assert first not in runs_at(tracker, STOPS[0])


def test_a_bus_that_vanishes_before_its_time_is_still_expected() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[4], 100.0, [listing(190.0)]))
    (run,) = runs_at(tracker, STOPS[4])
    tracker.observe(good(STOPS[4], 120.0))

    assert [run] == runs_at(tracker, STOPS[4])
    assert 0 == run.n_evidenced


def test_a_stop_whose_answer_was_lost_is_asked_again_in_time_for_the_pair() -> None:
    policy = Adaptive([*STOPS, *(f"9{number:03}" for number in range(400))], [COURSE])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    asked_at = next(now for now in range(101, 200) if policy.choose(float(now)) == STOPS[3])
    policy.observe(Observation(STOPS[3], asked_at + 0.2, is_good=False))
    asked_again_at = next(now for now in range(asked_at + 1, 300) if policy.choose(float(now)) == STOPS[3])

    assert asked_again_at <= 159


def test_a_stop_whose_answers_are_lost_again_and_again_is_asked_less_and_less_often() -> None:
    policy = Adaptive([*STOPS, *(f"9{number:03}" for number in range(40))], [COURSE])
    policy.observe(good(STOPS[3], 0.0, [listing(100.0)]))
    asked = 0
    for now in range(1, 101):
        stop = policy.choose(float(now))
        asked += stop == STOPS[3]
        policy.observe(Observation(stop, now + 0.2, is_good=stop != STOPS[3]))

    assert 2 <= asked <= 8


def test_lines_learn_the_running_times_of_a_street_from_each_other() -> None:
    routes = StopPatterns([COURSE, LineStops("16", ("X", STOPS[3], STOPS[4], "Y"))])
    one, other = routes.route_of(("15", "CENTRO"), STOPS[0]), routes.route_of(("16", "MARE"), "X")
    assert one is not None
    assert other is not None
    for _ in range(20):
        one.learn(3, 4, 200.0, spread=10.0)
    other.refresh()

    assert 200.0 == pytest.approx(other.offsets[2] - other.offsets[1], abs=5.0)


def test_what_is_known_of_a_running_time_gets_surer_and_never_quite_sure() -> None:
    route = StopPattern("15", tuple(STOPS))
    before = route.doubt(2, 4)
    for _ in range(500):
        route.learn(2, 4, 150.0, spread=20.0)

    assert 0.0 < route.doubt(2, 4) < before / 10
    assert before == pytest.approx(route.doubt(5, 7))


def test_thirds_are_those_of_the_stops_that_are_served() -> None:
    route = StopPattern("15", tuple(STOPS))
    before = route.third(4)
    for position in (0, 1, 2, 3):
        for _ in range(UNSURE_OF_SERVED):
            route.note_shown(position, is_shown=False)
    after = route.third(4)
    route.note_shown(0, is_shown=True)

    assert (1, 0) == (before, after)
    assert 0 == route.third(0)


def test_two_expectations_that_agree_are_surer_together() -> None:
    mean, spread = fused((100.0, 20.0), (110.0, 20.0))

    assert 105.0 == pytest.approx(mean)
    assert 200.0**0.5 == pytest.approx(spread)


def test_of_two_expectations_that_contradict_each_other_the_surer_counts() -> None:
    assert (400.0, 10.0) == fused((100.0, 60.0), (400.0, 10.0))


def test_errors_that_are_alike_within_a_run_let_the_next_be_foreseen() -> None:
    foresight = PredictionErrorModel()
    for n in range(2_000):
        bias = 1.0 if n % 2 else -1.0
        foresight.compare(bias + (0.2 if n % 3 else -0.4), bias)
    shift, left = foresight.of_run(1.0)

    assert shift > 0.8
    assert left < 0.5


def test_errors_that_are_unlike_within_a_run_correct_nothing() -> None:
    foresight = PredictionErrorModel()
    for n in range(2_000):
        foresight.compare(1.0 if n % 2 else -1.0, 1.0 if n % 4 < 2 else -1.0)
    shift, left = foresight.of_run(1.0)

    assert 0.0 == pytest.approx(shift, abs=0.02)
    assert 1.0 == pytest.approx(left, abs=0.02)


def test_timetable_time_is_expected_as_late_as_buses_turned_out_to_be() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    for n in range(60):
        at = 10_000.0 * n
        tracker.observe(good(STOPS[4], at, [listing(at + 700.0, f"T{n}", is_live=False)]))
        tracker.observe(good(STOPS[4], at + 600.0, [listing(at + 760.0, f"T{n}")]))
    tracker.observe(good(STOPS[4], 900_000.0, [listing(900_700.0, "last", is_live=False)]))
    (visit,) = tracker.stops[STOPS[4]].visits.values()

    assert 900_760.0 == pytest.approx(visit.mean, abs=50.0)
    assert visit.spread < 250.0


def test_a_bus_of_a_circle_is_followed_from_its_first_stop_and_evidenced_there() -> None:
    circle = LineStops("15", (STOPS[0], STOPS[1], STOPS[0]))
    tracker = Tracker(STOPS, StopPatterns([circle]))
    tracker.observe(good(STOPS[0], 100.0, [listing(130.0), listing(280.0)]))
    (run,) = runs_at(tracker, STOPS[0])
    (sooner,) = tracker.stops[STOPS[0]].visits.values()
    tracker.observe(good(STOPS[0], 155.0, [listing(280.0)]))
    (later,) = tracker.stops[STOPS[0]].visits.values()

    assert (0, 2) == (sooner.position, later.position)
    assert [run] == runs_at(tracker, STOPS[1])
    assert 1 == run.n_evidenced


def test_a_vehicle_is_not_a_departure_that_the_same_answer_lists_by_timetable() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    departures = [listing(700.0, "", is_live=False), listing(1_300.0, "", is_live=False)]
    tracker.observe(good(STOPS[0], 100.0, departures))
    sooner, later = runs_at(tracker, STOPS[0])
    tracker.observe(good(STOPS[0], 760.0, [listing(1_280.0, "V9"), departures[1]]))

    assert ("V9", "") == (sooner.trip_id, later.trip_id)
    assert {sooner, later} == set(runs_at(tracker, STOPS[0]))


def test_timetable_times_at_two_stops_are_one_trip_if_they_fit_the_nearest_known_one() -> None:
    routes = StopPatterns([COURSE])
    tracker = Tracker(STOPS, routes)
    tracker.observe(good(STOPS[7], 100.0, [listing(1_500.0, "", is_live=False)]))
    (run,) = runs_at(tracker, STOPS[7])
    assert run.route is not None
    run.route.learn(0, 7, 100.0, spread=1.0)  # what was thought of the way there was wrong
    tracker.observe(good(STOPS[8], 110.0, [listing(1_580.0, "", is_live=False)]))

    assert [run] == runs_at(tracker, STOPS[8])


def test_a_stop_that_still_lists_a_bus_is_believed_against_where_it_was_seen_before() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[0], 100.0, [listing(110.0, "V9")]))
    tracker.observe(good(STOPS[0], 150.0))
    tracker.observe(good(STOPS[2], 700.0, [listing(730.0, "V9")]))
    (visit,) = tracker.stops[STOPS[2]].visits.values()

    assert 730.0 == pytest.approx(visit.mean, abs=5.0)
    assert 2 == visit.run.anchor_position


def test_a_live_bus_that_becomes_timetable_time_again_is_missing_until_it_is_live() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[2], 100.0, [listing(400.0)]))
    (run,) = runs_at(tracker, STOPS[2])
    tracker.observe(good(STOPS[4], 110.0, [listing(600.0, is_live=False)]))
    missed = run.n_missed
    tracker.observe(good(STOPS[5], 120.0, [listing(700.0)]))

    assert (1, 0) == (missed, run.n_missed)


def test_a_bus_that_a_full_list_has_no_room_for_is_looked_for_when_one_listed_has_gone() -> None:
    tracker = Tracker(STOPS, StopPatterns([COURSE]))
    tracker.observe(good(STOPS[3], 100.0, [listing(130.0, "T1"), listing(300.0, "T2")]))
    tracker.observe(good(STOPS[3], 120.0, [listing(280.0, "T3"), listing(290.0, "T4")]))
    (unlisted,) = [visit for visit in tracker.stops[STOPS[3]].visits.values() if visit.run.trip_id == "T2"]

    assert unlisted.worth_from >= 280.0

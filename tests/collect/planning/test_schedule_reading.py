"""What a poll teaches about the schedule: each time once, less beside known ones, and at most a share."""

from dataclasses import replace

import pytest

from tests.collect.planning.observations import LINE, STOPS, good, listing
from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.policy import Listing
from transit_etl.collect.planning.schedule_reading import LineSchedule, ScheduleReading, TimetableDeparture
from transit_etl.collect.planning.state import StopState
from transit_etl.collect.planning.stop_patterns import StopPatterns
from transit_etl.collect.planning.tracking import Tracker

P = DEFAULTS.schedule
SEGMENT = DEFAULTS.running_time.usual_segment_seconds
NOW = 100_000.0
POSITION = 3
SECONDS = 30_000  # of the service day: of a departure half an hour after NOW


def departures(*minutes: float) -> list[TimetableDeparture]:
    """Return departures that leave so many minutes after NOW."""
    return [TimetableDeparture(NOW + 60 * each, SECONDS + round(60 * (each - 30))) for each in minutes]


class Network:
    """A line whose timetable is known, as a tracker sees it."""

    def __init__(self, *minutes: float) -> None:
        self.schedule = LineSchedule(departures(*minutes))
        patterns = StopPatterns([LINE], DEFAULTS)
        self.reading = ScheduleReading({LINE: self.schedule}, patterns, DEFAULTS)
        self.tracker = Tracker(STOPS, patterns, self.reading, DEFAULTS)

    def stop(self, position: int = POSITION) -> StopState:
        """Return the stop at a position."""
        return self.tracker.stops[STOPS[position]]

    def bonus(self, position: int = POSITION, value: float = 1.0, now: float = NOW) -> float:
        """Return what a poll there is worth for the schedule, if it is worth `value` for passages."""
        return self.reading.bonus(self.stop(position), value, now)

    def answer(self, *listings: Listing, position: int = POSITION, at: float = NOW) -> None:
        """Let the stop at a position answer."""
        self.tracker.observe(good(STOPS[position], at, listings))


def scheduled(minutes: float, position: int = POSITION, trip_id: str = "") -> Listing:
    """Return the timetable row of a departure."""
    return listing(NOW + 60 * minutes + SEGMENT * position, trip_id, is_live=False)


@pytest.mark.parametrize("trip_id", ["", "T1"])
def test_a_scheduled_time_is_worth_a_poll_until_it_was_read(trip_id: str) -> None:
    network = Network(30)
    before = network.bonus()
    network.answer(scheduled(30, trip_id=trip_id))

    assert {SECONDS: 1 << POSITION} == network.schedule.read
    assert before > 0.0 == network.bonus(now=NOW + 600.0)


def test_what_was_read_on_another_date_is_worth_nothing() -> None:
    network = Network(30)
    network.schedule.read[SECONDS] = 1 << POSITION

    assert 0.0 == network.bonus()
    assert network.bonus(position=POSITION + 1) > 0.0


def test_a_time_is_worth_less_beside_departures_whose_times_were_read_at_the_stop() -> None:
    alone, beside = Network(30), Network(20, 30)
    beside.schedule.read[SECONDS - 600] = 1 << POSITION

    assert P.told_factor * alone.bonus() == pytest.approx(beside.bonus())


def test_a_departure_that_has_a_vehicle_or_no_room_in_the_list_teaches_nothing() -> None:
    assert 0.0 == Network(4).bonus()
    assert 0.0 == Network(90).bonus()
    assert Network(30, 40).bonus() == Network(30, 40, 50).bonus()


def test_a_time_is_worth_more_the_sooner_it_can_be_read_no_more() -> None:
    assert Network(30).bonus() < Network(10).bonus()


def test_a_departure_that_a_stop_should_have_listed_and_did_not_is_not_asked_for_again() -> None:
    network = Network(30)
    network.answer()

    assert {SECONDS: 1 << POSITION} == network.schedule.unlisted
    assert {} == network.schedule.read
    assert 0.0 == network.bonus(now=NOW + 600.0)


def test_a_departure_for_which_the_list_had_no_room_is_asked_for_again() -> None:
    network = Network(30)
    network.answer(listing(NOW + 60.0, "A"), listing(NOW + 120.0, "B"))

    assert {} == network.schedule.unlisted
    assert network.bonus(now=NOW + 600.0) > 0.0


def test_a_stop_of_no_known_line_teaches_nothing() -> None:
    reading = Network(30).reading

    assert 0.0 == reading.bonus(StopState("9999"), 1.0, NOW)


def test_once_the_share_is_used_up_no_poll_is_worth_more_for_the_schedule_than_for_passages() -> None:
    network, value = Network(10, 20), 0.1
    first = network.bonus(value=value)
    n_choices = round(DEFAULTS.poll.most_saved_choices) + 50
    for _ in range(n_choices):
        network.bonus(value=value)
        network.reading.record_choice(network.stop())

    assert first > value
    assert network.reading.n_choices <= DEFAULTS.poll.most_saved_choices + P.most_share * n_choices
    assert value == network.bonus(value=value)


def test_polls_go_to_stops_that_list_unread_times_and_no_longer_once_they_are_read() -> None:
    parameters = replace(DEFAULTS, schedule=replace(P, most_share=1.0))
    schedule = LineSchedule(departures(15, 25))
    policy = Adaptive(STOPS, [LINE], 60.0, parameters, schedules={LINE: schedule})
    n_chosen = []
    for now in range(int(NOW), int(NOW) + 300, 2):
        stop = policy.choose(float(now))
        policy.observe(
            good(stop, now + 0.1, [scheduled(each, STOPS.index(stop), f"T{each}") for each in (15, 25)])
        )
        n_chosen.append(policy.schedule.n_choices)

    assert {(1 << len(STOPS)) - 1} == set(schedule.read.values())
    assert 0 < n_chosen[-1] <= len(STOPS)
    assert n_chosen[len(n_chosen) // 2] == n_chosen[-1]

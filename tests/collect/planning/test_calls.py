from transit_etl.collect.planning.calls import Calls
from transit_etl.collect.planning.parameters import DEFAULTS

P = DEFAULTS


def test_a_position_where_two_thirds_meet_is_in_none_for_certain() -> None:
    calls = Calls(5, P)

    assert [0, None, 1, None, 2] == [calls.third(position) for position in range(5)]


def test_thirds_are_those_of_the_stops_that_are_served() -> None:
    calls = Calls(9, P)
    before = calls.third(4)
    for position in (0, 1, 2, 3):
        for _ in range(P.listing.telling_answers):
            calls.record_answer(position, is_listed=False)
    after = calls.third(4)
    calls.record_answer(0, is_listed=True)

    assert (1, 0) == (before, after)
    assert 0 == calls.third(0)


def test_a_stop_that_does_not_list_its_trips_is_less_and_less_likely_served() -> None:
    calls = Calls(9, P)
    at_first = calls.probability(4)
    calls.record_answer(4, is_listed=False)
    then = calls.probability(4)
    calls.record_answer(4, is_listed=False)

    assert 1.0 == at_first > then > calls.probability(4) > 0.0


def test_what_is_to_come_counts_the_stops_after_a_position_and_those_of_its_third() -> None:
    assert [(8, 2), (1, 1), (0, 0)] == [Calls(9, P).to_come(position) for position in (0, 7, 8)]

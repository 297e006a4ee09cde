"""How probable it is that buses ran as departures, and which pairs are chosen."""

import math
from collections.abc import Sequence
from itertools import permutations

import pytest

from transit_estimates.matching import least_cost_pairs, pair_probabilities

HEADWAY = 600  # seconds
EARLIEST = 240  # seconds that a bus may leave early
UNPAIRED = 6.0


def _logarithm(delay: float, usual: float) -> float:
    return math.log(max(delay + EARLIEST, 60) / (usual + EARLIEST))


def _probable(
    left_at: Sequence[float], departures: Sequence[float], *, usual: float = 60, known: Sequence[float] = ()
) -> tuple[dict[tuple[int, int], float], dict[int, int]]:
    """Return the probability of each bus and departure, and the departure that each bus is given.

    Any bus may have run as any departure; `known` are delays of buses of the line whose departure is known.
    """
    pairs = [(trip, departure) for trip in range(len(left_at)) for departure in range(len(departures))]
    later = [left_at[trip] - departures[departure] - usual for trip, departure in pairs]
    found = pair_probabilities(
        [trip + 1 for trip, _ in pairs],
        [departure + 1 for _, departure in pairs],
        [_logarithm(each + usual, usual) for each in later],
        later,
        [0.0] * len(pairs),
        sorted(_logarithm(delay, usual) for delay in known) or [0.0],
        [1.0] * len(known) or [0.0],
        len(known),
        UNPAIRED,
    )
    probabilities = {pairs[each["pair"] - 1]: each["probability"] for each in found}
    return probabilities, dict(pairs[each["pair"] - 1] for each in found if each["is_chosen"])


def test_buses_far_apart_most_probably_ran_as_their_departures() -> None:
    probabilities, chosen = _probable([50, HEADWAY - 20, 2 * HEADWAY + 90], [0, HEADWAY, 2 * HEADWAY])

    assert {0: 0, 1: 1, 2: 2} == chosen
    assert all(probabilities[number, number] > 0.9 for number in range(3))


def test_two_buses_that_left_together_have_both_departures_as_probably() -> None:
    probabilities, _ = _probable([30, 31], [0, 60])

    assert probabilities[0, 0] == pytest.approx(0.5, abs=0.05)
    assert probabilities[1, 0] == pytest.approx(0.5, abs=0.05)


def test_each_departure_has_one_bus_at_most() -> None:
    probabilities, chosen = _probable([10, 20, 30, 40], [0, 15, 30])

    assert len(set(chosen.values())) == len(chosen)
    for departure in range(3):
        assert sum(each for pair, each in probabilities.items() if pair[1] == departure) <= 1.001


def test_probabilities_are_about_those_of_all_assignments_together() -> None:
    """Three buses and departures: the sum over the assignments that give all of them one."""
    left_at, departures, known = [40, 200, 330], [0, 150, 260], [20, 50, 60, 80, 100] * 20
    probabilities, _ = _probable(left_at, departures, known=known)
    alone = {
        (trip, departure): _probable([left], [departs], known=known)[0].get((0, 0), 0.001)
        for trip, left in enumerate(left_at)
        for departure, departs in enumerate(departures)
    }
    odds = {pair: each / (1 - each) for pair, each in alone.items()}
    weights = {
        order: math.prod(odds[trip, departure] for trip, departure in enumerate(order))
        for order in permutations(range(3))
    }
    for pair in ((0, 0), (1, 1), (2, 1)):
        exact = sum(weight for order, weight in weights.items() if order[pair[0]] == pair[1])
        assert probabilities.get(pair, 0) == pytest.approx(exact / sum(weights.values()), abs=0.08)


def test_delays_vary_in_proportion_to_the_usual_one() -> None:
    """Ten minutes late is improbable where a minute is usual, and not where nine are."""
    rarely_late, _ = _probable([600], [0], usual=60, known=[30, 60, 90] * 20)
    often_late, _ = _probable([600], [0], usual=540, known=[420, 540, 660] * 20)

    assert rarely_late[0, 0] < 0.9 < often_late[0, 0]


def test_a_bus_has_the_departure_that_known_delays_tell() -> None:
    """It left between two departures, and buses of the line are usually nine minutes late, or hardly."""
    late, chosen_late = _probable([0], [-540, -60], usual=540, known=[500, 540, 580] * 10)
    punctual, chosen_punctual = _probable([0], [-540, -60], usual=60, known=[50, 60, 70] * 10)

    assert ({0: 0}, {0: 1}) == (chosen_late, chosen_punctual)
    assert late[0, 0] > 0.8
    assert punctual[0, 1] > 0.8


def test_what_delay_is_usual_on_the_line_is_learned_with_the_matches() -> None:
    """All left 240 s late, nearer to the next departure: taken for that one, the last bus would have none."""
    departures = [400.0 * number for number in range(12)]
    _, chosen = _probable([each + 240 for each in departures], departures)

    assert {number: number for number in range(12)} == chosen


def test_buses_that_may_all_have_run_as_the_departure_before_may_have_run_as_both() -> None:
    """Not quite as late as usual, or much less late, with one more departure than buses."""
    departures = [400.0 * number for number in range(13)]
    probabilities, _ = _probable([each + 500 for each in departures[:-1]], departures, usual=550)

    assert 0.2 < probabilities[6, 6] < 0.8


def test_where_buses_come_often_all_of_a_line_may_be_later_than_thought() -> None:
    departures = [120.0 * number for number in range(40)]
    pairs = [(trip, departure) for trip in range(40) for departure in range(40)]
    later = [departures[trip] + 300 - departures[departure] - 60 for trip, departure in pairs]
    common = {
        n_known: max(
            each["common_seconds"]
            for each in pair_probabilities(
                [trip + 1 for trip, _ in pairs], [departure + 1 for _, departure in pairs],
                [_logarithm(each + 60, 60) for each in later], later, [0.0] * len(pairs),
                [_logarithm(delay, 60) for delay in (0, 60, 200)], [n_known / 3] * 3, n_known, UNPAIRED,
            )
        )
        for n_known in (0, 90)
    }  # fmt: skip

    assert common[0] > 60 > common[90] > 5


def test_the_same_arguments_give_the_same_probabilities() -> None:
    assert _probable([10, 20, 30], [0, 15, 30]) == _probable([10, 20, 30], [0, 15, 30])


def test_pairs_of_least_cost_together_are_chosen() -> None:
    """The first trip would cost less with the departure that the second needs more."""
    found = least_cost_pairs([1, 1, 2], [1, 2, 2], [340.0, 320.0, 330.0], 1500.0)

    assert [1, 3] == found


def test_a_trip_whose_pairs_cost_more_than_none_stays_alone() -> None:
    assert [2] == least_cost_pairs([1, 2], [1, 2], [1600.0, 100.0], 1500.0)


def test_of_two_trips_with_one_departure_the_better_fitting_gets_it() -> None:
    assert [2] == least_cost_pairs([1, 2], [1, 1], [200.0, 100.0], 1500.0)


def test_a_pair_that_is_not_listed_is_never_chosen() -> None:
    """Both trips can have the first departure alone, the third trip only the second."""
    found = least_cost_pairs([1, 2, 3], [1, 1, 2], [1400.0, 1450.0, 1490.0], 1500.0)

    assert [1, 3] == found


def test_buses_keep_their_order_where_costs_grow_with_the_square_of_the_delay() -> None:
    trips, departures, costs = [], [], []
    for trip, left_at in enumerate((600, 660, 840), start=1):
        for departure, departs_at in enumerate((0, 240, 480), start=1):
            trips.append(trip)
            departures.append(departure)
            costs.append((left_at - departs_at - 300) ** 2 / 1200)

    assert [1, 5, 9] == least_cost_pairs(trips, departures, costs, 1500.0)

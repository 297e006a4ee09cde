"""Buses are assigned to departures one to one, and what is as likely is drawn as often."""

from collections import Counter

from transit_estimates.matching import drawn_pairs, least_cost_pairs

HEADWAY = 600  # seconds


def _drawn(
    left_at: list[float], departures: list[float], spread: float = 100, n_draws: int = 200, seed: str = "line"
) -> list[dict[int, int]]:
    """Return for each draw the departure of each bus; any bus may have run as any departure."""
    pairs = [(trip, departure) for trip in range(len(left_at)) for departure in range(len(departures))]
    found = drawn_pairs(
        [trip + 1 for trip, _ in pairs],
        [departure + 1 for _, departure in pairs],
        [left_at[trip] - departures[departure] for trip, departure in pairs],
        [0.0] * len(pairs),
        spread,
        7,
        n_draws,
        seed,
    )
    draws: list[dict[int, int]] = [{} for _ in range(n_draws + 1)]
    for each in found:
        trip, departure = pairs[each["pair"] - 1]
        draws[each["draw"]][trip] = departure
    return draws


def test_buses_far_apart_are_nearly_always_drawn_with_their_departures() -> None:
    draws = _drawn([50, HEADWAY - 20, 2 * HEADWAY + 90], [0, HEADWAY, 2 * HEADWAY])

    assert sum(draw == {0: 0, 1: 1, 2: 2} for draw in draws) > 0.95 * len(draws)


def test_two_buses_that_left_together_are_drawn_with_both_departures_about_as_often() -> None:
    draws = _drawn([30, 31], [0, 60], n_draws=1000)[1:]
    counts = Counter(draw.get(0) for draw in draws)

    assert 400 < counts[0] < 600
    assert 400 < counts[1] < 600


def test_each_departure_has_one_bus_at_most() -> None:
    for draw in _drawn([10, 20, 30, 40], [0, 15, 30]):
        assert len(set(draw.values())) == len(draw)


def test_a_bus_between_two_departures_has_each_with_its_probability() -> None:
    """A normal distribution would give 1 to 3; that of Student, with a spread that is learned, less."""
    draws = _drawn([100], [0, 200 + 100], n_draws=2000)[1:]
    counts = Counter(draw.get(0) for draw in draws)

    assert 1.5 < counts[0] / counts[1] < 6


def test_what_delay_is_usual_on_the_line_is_learned_with_the_matches() -> None:
    """All left 240 s late, nearer to the next departure: taken for that one, the last bus would have none."""
    departures = [400.0 * number for number in range(12)]
    draws = _drawn([each + 240 for each in departures], departures, spread=150)

    assert {number: number for number in range(12)} == draws[0]


def test_buses_that_may_all_have_run_as_the_departure_before_are_drawn_both_ways() -> None:
    """Left in the middle between two departures, with one more departure than buses."""
    departures = [400.0 * number for number in range(13)]
    draws = _drawn([each + 200 for each in departures[:-1]], departures, spread=300, n_draws=400)[1:]
    is_before = [draw.get(6) == 6 for draw in draws]

    assert 0.2 < sum(is_before) / len(draws) < 0.8


def test_a_line_whose_delays_vary_less_than_others_is_matched_more_surely() -> None:
    """Twenty buses were 5 s late; of two departures 60 s before and 140 s after, one is the more probable."""
    departures = [HEADWAY * float(number) for number in range(20)]
    regular = _drawn([*(each + 5 for each in departures), 20_060], [*departures, 20_000, 20_200])
    alone = _drawn([20_060], [20_000, 20_200])

    assert sum(draw.get(20) == 20 for draw in regular) > 1.1 * sum(draw.get(0) == 0 for draw in alone)


def test_the_same_arguments_give_the_same_draws_and_another_seed_others() -> None:
    buses, departures = [10.0, 20.0, 30.0], [0.0, 15.0, 30.0]

    assert _drawn(buses, departures) == _drawn(buses, departures)
    assert _drawn(buses, departures) != _drawn(buses, departures, seed="other line")


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

"""The functions of the models that SQL cannot express: assignment and chains."""

from transit_etl.warehouse.sql_functions import chain_starts, least_cost_pairs


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


def test_a_chain_begins_with_the_element_that_nothing_leads_to() -> None:
    assert [1, 2, 1, 1] == chain_starts([1, 3], [3, 4])


def test_the_best_link_of_an_element_is_kept_on_each_side() -> None:
    """1 to 3 comes first: neither 1 to 2 nor 2 to 3 is left for them, but 2 to 4 is."""
    assert [1, 2, 1, 2] == chain_starts([1, 1, 2, 2], [3, 2, 3, 4])


def test_without_links_there_are_no_chains() -> None:
    assert [] == chain_starts([], [])

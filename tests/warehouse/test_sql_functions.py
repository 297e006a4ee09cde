"""The functions of the models that SQL cannot express: chains."""

from transit_etl.warehouse.sql_functions import chain_starts


def test_a_chain_begins_with_the_element_that_nothing_leads_to() -> None:
    assert [1, 2, 1, 1] == chain_starts([1, 3], [3, 4])


def test_the_best_link_of_an_element_is_kept_on_each_side() -> None:
    """1 to 3 comes first: neither 1 to 2 nor 2 to 3 is left for them, but 2 to 4 is."""
    assert [1, 2, 1, 2] == chain_starts([1, 1, 2, 2], [3, 2, 3, 4])


def test_without_links_there_are_no_chains() -> None:
    assert [] == chain_starts([], [])

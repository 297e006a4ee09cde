import pytest

from transit_etl.collect.planning.estimates import Estimate, fuse


def test_two_estimates_that_agree_are_surer_together() -> None:
    mean, spread = fuse(Estimate(100.0, 20.0), Estimate(110.0, 20.0), 2.0)

    assert 105.0 == pytest.approx(mean)
    assert 200.0**0.5 == pytest.approx(spread)


def test_the_surer_of_two_estimates_counts_for_more() -> None:
    mean, _ = fuse(Estimate(100.0, 30.0), Estimate(110.0, 10.0), 2.0)

    assert 109.0 == pytest.approx(mean)


def test_of_two_estimates_that_disagree_the_surer_is_taken_alone() -> None:
    assert Estimate(400.0, 10.0) == fuse(Estimate(100.0, 60.0), Estimate(400.0, 10.0), 2.0)

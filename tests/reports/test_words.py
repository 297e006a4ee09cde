"""Sentences say a change only where the intervals do."""

import pytest

from transit_reports.words import change_text, difference, is_told_apart, listed


def share(middle: float, half: float) -> dict[str, float]:
    return {"on_time": middle, "on_time_low": middle - half, "on_time_high": middle + half}


def test_a_difference_has_the_errors_of_both() -> None:
    change = difference(share(0.60, 0.03), share(0.50, 0.04), "on_time")
    assert change is not None

    assert [0.10, 0.05, 0.15] == pytest.approx(
        [change["change"], change["change_low"], change["change_high"]]
    )


def test_of_many_comparisons_each_has_a_wider_interval() -> None:
    alone, of_many = (difference(share(0.60, 0.03), share(0.55, 0.03), "on_time", n) for n in (1, 400))
    assert alone is not None
    assert of_many is not None

    assert is_told_apart(alone)
    assert not is_told_apart(of_many)
    assert "cannot be told apart from March" in change_text(of_many, "March")
    assert change_text(alone, "March").startswith("Against March the difference is +5\u00a0points")


@pytest.mark.parametrize("unknown", [{}, {"on_time": None}])
def test_nothing_is_compared_with_what_is_not_known(unknown: dict[str, None]) -> None:
    assert difference(share(0.6, 0.1), unknown, "on_time") is None
    assert "No comparison with March: too little is known." == change_text(None, "March")


@pytest.mark.parametrize(
    ("names", "text"),
    [([], "none"), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and 1 more")],
)
def test_a_long_list_ends_with_a_number(names: list[str], text: str) -> None:
    assert text == listed(names, most=2)

"""Whose turn it is: floors first, then priority."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transit_etl.collect.priorities import FLOORS, Kind, next_kind

ALL = frozenset(Kind)
ENOUGH = Counter(dict.fromkeys(Kind, 60))


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [
        (ALL, Kind.STATUS),
        (ALL - {Kind.STATUS}, Kind.NEWS),
        ({Kind.PASSAGES, Kind.TIMETABLES, Kind.NETWORK}, Kind.NETWORK),
        ({Kind.PASSAGES, Kind.TIMETABLES}, Kind.TIMETABLES),
        ({Kind.PASSAGES, Kind.LEGACY}, Kind.PASSAGES),
        ({Kind.LEGACY}, Kind.LEGACY),
    ],
)
def test_with_every_floor_met_the_priority_decides(waiting: set[Kind], expected: Kind) -> None:
    assert expected == next_kind(waiting, ENOUGH, 60)


def test_a_long_refresh_of_timetables_cannot_blind_us() -> None:
    waiting = {Kind.TIMETABLES, Kind.PASSAGES}

    assert Kind.PASSAGES == next_kind(waiting, {Kind.TIMETABLES: 46, Kind.PASSAGES: 14}, 60)
    assert Kind.TIMETABLES == next_kind(waiting, {Kind.TIMETABLES: 45, Kind.PASSAGES: 15}, 60)


def test_of_two_kinds_below_their_floor_the_priority_decides() -> None:
    assert Kind.NEWS == next_kind({Kind.PASSAGES, Kind.NEWS, Kind.NETWORK}, {Kind.NETWORK: 60}, 60)


def test_a_kind_below_its_floor_goes_before_a_higher_one_that_has_it() -> None:
    assert Kind.PASSAGES == next_kind({Kind.STATUS, Kind.PASSAGES}, {Kind.STATUS: 3}, 60)


def test_nobody_waiting_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="nobody is waiting"):
        next_kind([], {}, 60)


def test_all_floors_can_be_met_at_once() -> None:
    assert sum(FLOORS.values()) < 1


@pytest.mark.parametrize("allowance", [20, 60, 300])
def test_when_everybody_always_waits_everybody_has_the_floor_of_every_window(allowance: int) -> None:
    granted: list[Kind] = []
    for _ in range(5 * allowance):
        last_minute = Counter(granted[-(allowance - 1) :])
        granted.append(next_kind(ALL, last_minute, allowance))

    for start in range(2 * allowance, 4 * allowance):
        shares = Counter(granted[start : start + allowance])
        assert all(shares[kind] >= int(floor * allowance) for kind, floor in FLOORS.items())


@given(
    st.sets(st.sampled_from(list(Kind)), min_size=1),
    st.dictionaries(st.sampled_from(list(Kind)), st.integers(0, 300)),
    st.floats(1, 300),
)
def test_the_chosen_one_waits_and_no_higher_one_is_passed_over_without_need(
    waiting: set[Kind], granted: dict[Kind, int], allowance: float
) -> None:
    chosen = next_kind(waiting, granted, allowance)
    higher = list(Kind)[: list(Kind).index(chosen)]

    assert chosen in waiting
    if granted.get(chosen, 0) >= FLOORS.get(chosen, 0) * allowance:
        assert not waiting & set(higher)


def test_every_endpoint_counts_as_a_kind() -> None:
    expected = {
        "lines": Kind.NETWORK, "stops": Kind.NETWORK, "timetables": Kind.TIMETABLES,
        "passages": Kind.PASSAGES, "status": Kind.STATUS, "news": Kind.NEWS, "news_details": Kind.NEWS,
        "v0_transits": Kind.LEGACY, "v0_news_details": Kind.LEGACY,
    }  # fmt: skip

    assert expected == {endpoint: Kind.of(endpoint) for endpoint in expected}

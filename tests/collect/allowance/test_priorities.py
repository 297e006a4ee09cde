"""Whose turn it is: floors first, then priority."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transit_etl.collect.allowance.priorities import FLOORS, next_kind
from transit_etl.endpoints import ENDPOINTS, Kind

ALL = frozenset(Kind)
A_WHILE_AGO = dict.fromkeys(Kind, 2)  # permits ago: none of the floors makes a kind due again so soon


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
    granted = {Kind.STATUS: 10, Kind.NEWS: 10, Kind.PASSAGES: 30, Kind.LEGACY: 10}

    assert expected == next_kind(waiting, granted, A_WHILE_AGO)


def test_passages_have_their_floor_during_a_long_refresh_of_timetables() -> None:
    waiting, n_at_floor = {Kind.TIMETABLES, Kind.PASSAGES}, round(60 * FLOORS[Kind.PASSAGES])

    def granted(n_passages: int) -> dict[Kind, int]:
        return {Kind.TIMETABLES: 60 - n_passages, Kind.PASSAGES: n_passages}

    assert Kind.PASSAGES == next_kind(waiting, granted(n_at_floor - 1), A_WHILE_AGO)
    assert Kind.TIMETABLES == next_kind(waiting, granted(n_at_floor), A_WHILE_AGO)


def test_a_kind_with_many_permits_in_a_minute_still_gets_them_evenly() -> None:
    waiting, granted = {Kind.TIMETABLES, Kind.PASSAGES}, {Kind.PASSAGES: 60}
    n_between = round(1 / FLOORS[Kind.PASSAGES]) - 1

    assert Kind.TIMETABLES == next_kind(waiting, granted, {Kind.PASSAGES: n_between - 1})
    assert Kind.PASSAGES == next_kind(waiting, granted, {Kind.PASSAGES: n_between})


def test_of_two_kinds_that_are_due_the_priority_decides() -> None:
    assert Kind.NEWS == next_kind({Kind.PASSAGES, Kind.NEWS, Kind.NETWORK}, {Kind.NETWORK: 60}, {})


def test_a_kind_that_is_due_goes_before_a_higher_one_that_has_its_floor() -> None:
    assert Kind.PASSAGES == next_kind({Kind.STATUS, Kind.PASSAGES}, {Kind.STATUS: 3}, {Kind.STATUS: 0})


def test_a_kind_that_never_had_a_permit_is_due() -> None:
    assert Kind.LEGACY == next_kind({Kind.LEGACY, Kind.NETWORK}, {}, {Kind.NETWORK: 0})


def test_without_a_waiting_kind_an_error_is_raised() -> None:
    with pytest.raises(ValueError, match="no kind is waiting"):
        next_kind([], {}, {})


def test_all_floors_can_be_met_at_once() -> None:
    assert sum(FLOORS.values()) < 1


@pytest.mark.parametrize("allowance", [20, 60, 120])
def test_when_every_kind_always_waits_each_floor_is_met_and_spread_evenly(allowance: int) -> None:
    granted = _grants_when_all_wait([Kind.PASSAGES] * allowance, 5 * allowance)

    for kind, floor in FLOORS.items():
        turns = [turn for turn, granted_kind in enumerate(granted) if granted_kind is kind]
        assert len(turns) >= 0.95 * floor * len(granted) - 1
        assert max(after - before for before, after in pairwise(turns)) <= 1 / floor + len(FLOORS)


def _grants_when_all_wait(minute_before: list[Kind], n: int) -> list[Kind]:
    granted = list(minute_before)
    for _ in range(n):
        since = {kind: granted[::-1].index(kind) for kind in granted}
        granted.append(next_kind(ALL, Counter(granted[-len(minute_before) :]), since))
    return granted[len(minute_before) :]


@given(
    st.sets(st.sampled_from(list(Kind)), min_size=1),
    st.dictionaries(st.sampled_from(list(Kind)), st.integers(0, 300)),
    st.dictionaries(st.sampled_from(list(Kind)), st.integers(0, 300)),
)
def test_the_chosen_kind_waits_and_without_a_floor_it_has_the_highest_priority(
    waiting: set[Kind], granted: dict[Kind, int], since: dict[Kind, int]
) -> None:
    chosen = next_kind(waiting, granted, since)

    assert chosen in waiting
    if chosen not in FLOORS:
        assert chosen is next(kind for kind in Kind if kind in waiting)


def test_every_endpoint_counts_as_a_kind() -> None:
    expected = {
        "lines": Kind.NETWORK, "stops": Kind.NETWORK, "timetables": Kind.TIMETABLES,
        "passages": Kind.PASSAGES, "status": Kind.STATUS, "news": Kind.NEWS, "news_details": Kind.NEWS,
        "v0_transits": Kind.LEGACY, "v0_news_details": Kind.LEGACY,
    }  # fmt: skip

    assert expected == {endpoint: ENDPOINTS[endpoint].kind for endpoint in expected}

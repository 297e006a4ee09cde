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


def test_a_long_refresh_of_timetables_cannot_blind_us() -> None:
    waiting = {Kind.TIMETABLES, Kind.PASSAGES}

    assert Kind.PASSAGES == next_kind(waiting, {Kind.TIMETABLES: 46, Kind.PASSAGES: 14}, A_WHILE_AGO)
    assert Kind.TIMETABLES == next_kind(waiting, {Kind.TIMETABLES: 45, Kind.PASSAGES: 15}, A_WHILE_AGO)


def test_a_minute_full_of_passages_does_not_blind_us_for_the_next() -> None:
    waiting, granted = {Kind.TIMETABLES, Kind.PASSAGES}, {Kind.PASSAGES: 60}

    assert Kind.TIMETABLES == next_kind(waiting, granted, {Kind.PASSAGES: 2})
    assert Kind.PASSAGES == next_kind(waiting, granted, {Kind.PASSAGES: 3})


def test_of_two_kinds_that_are_due_the_priority_decides() -> None:
    assert Kind.NEWS == next_kind({Kind.PASSAGES, Kind.NEWS, Kind.NETWORK}, {Kind.NETWORK: 60}, {})


def test_a_kind_that_is_due_goes_before_a_higher_one_that_has_its_floor() -> None:
    assert Kind.PASSAGES == next_kind({Kind.STATUS, Kind.PASSAGES}, {Kind.STATUS: 3}, {Kind.STATUS: 0})


def test_a_kind_that_never_had_a_permit_is_due() -> None:
    assert Kind.LEGACY == next_kind({Kind.LEGACY, Kind.NETWORK}, {}, {Kind.NETWORK: 0})


def test_nobody_waiting_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no kind is waiting"):
        next_kind([], {}, {})


def test_all_floors_can_be_met_at_once() -> None:
    assert sum(FLOORS.values()) < 1


@pytest.mark.parametrize("allowance", [20, 60, 120])
def test_when_everybody_always_waits_every_floor_is_met_and_spread_evenly(allowance: int) -> None:
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
def test_the_chosen_one_waits_and_without_a_floor_it_is_the_highest(
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

"""A state of the budget that is damaged anywhere is either refused or as safe as an undamaged one."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.collect.allowance.budgets import refused_or_safe
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.state_text import dumps
from transit_etl.endpoints import Kind

LIMITS = Limits(60)
NOW = 1_772_000_000.0
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(list(Kind))
)
VALUES = st.recursive(
    SCALARS, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=3)
)


def _used_state() -> BudgetState:
    state = BudgetState()
    for turn, kind in enumerate(Kind):
        state.advance(NOW + 2 * turn, LIMITS, None)
        state.ask(NOW + 2 * turn, uuid4().hex, kind, LIMITS)
    state.ask(NOW + 20, "waiting", Kind.NEWS, LIMITS)
    state.lease("one", "0001", NOW + 90)
    state.slow_down(NOW + 21, NOW + 12, 7.0, LIMITS)
    return state


TEXT = dumps(_used_state())


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - JSON
    """Yield the path of every value in a JSON document."""
    yield path
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for name, member in members:
        yield from _places(member, (*path, name))


def _replaced(document: Any, path: tuple[Any, ...], value: object) -> object:  # noqa: ANN401 - JSON
    if not path:
        return value
    document[path[0]] = _replaced(document[path[0]], path[1:], value)
    return document


@given(st.sampled_from(list(_places(json.loads(TEXT)))), VALUES)
@settings(max_examples=500, deadline=None)
def test_a_state_with_any_value_replaced_is_refused_or_safe(path: tuple[Any, ...], value: object) -> None:
    refused_or_safe(json.dumps(_replaced(json.loads(TEXT), path, value)))


@given(st.integers(0, len(TEXT)), st.integers(0, 20), st.text(max_size=10))
@settings(max_examples=500, deadline=None)
def test_a_state_with_any_part_overwritten_is_refused_or_safe(at: int, length: int, other: str) -> None:
    refused_or_safe(TEXT[:at] + other + TEXT[at + length :])

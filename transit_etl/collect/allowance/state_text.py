"""Writes the state of a request budget as text, reads it back and checks that it is possible."""

import itertools
import json
from collections import Counter, deque
from typing import Any

from transit_base.errors import MISSHAPEN, TransitError
from transit_etl.collect.allowance.budget_state import (
    LONGEST_BLOCK_SECONDS,
    SMALLEST_SHARE,
    BudgetState,
    Demand,
    Lease,
)
from transit_etl.endpoints import Kind

FORMAT = 1
_TIMES = ("touched_at", "granted_at", "paced_at", "blocked_until", "slowed_at")
_LATEST = 1e11  # seconds: about the year 5100
_AHEAD_SECONDS = 60.0  # a clock that is set back by less than a second again and again moves nothing


class OtherVersionError(TransitError):
    """The state was written by another version of this program, which may be running."""


class DamagedStateError(TransitError):
    """The state cannot be read, or no caller can have left it so."""


def dumps(state: BudgetState) -> str:
    """Write a state as text."""
    seldom = {"leases": state.leases, "is_lost": state.is_lost}
    fields = {
        "format": FORMAT,
        **{name: getattr(state, name) for name in _TIMES},
        "slow_share": state.slow_share,
        "granted_since": state.granted_since,
        "permits": list(state.permits),
        "demands": state.demands,
        **{name: value for name, value in seldom.items() if value},
    }
    return json.dumps(fields, separators=(",", ":"))


def loads(text: str) -> BudgetState:
    """Read a state back; OtherVersionError or DamagedStateError if the text is none of this version."""
    try:
        fields = json.loads(text)
        version = fields["format"]
        state = _state_of(fields) if version == FORMAT else None
    except MISSHAPEN as error:
        raise DamagedStateError(f"its state is unreadable: {error!r}") from error
    if state is None:
        raise OtherVersionError(f"its state has format {version}, this version has {FORMAT}")
    if not _is_possible(state):
        raise DamagedStateError("its state holds numbers that cannot be")
    return state


def _state_of(fields: dict[str, Any]) -> BudgetState:
    permits = [(float(at), Kind(kind)) for at, kind in fields["permits"]]
    return BudgetState(
        permits=deque(permits),
        counts=Counter(kind for _, kind in permits),
        granted_since={Kind(kind): int(n) for kind, n in fields["granted_since"].items()},
        leases={
            key: Lease(str(owner), float(until)) for key, (owner, until) in fields.get("leases", {}).items()
        },
        demands={
            caller: Demand(Kind(kind), float(since), float(seen), float(ready))
            for caller, (kind, since, seen, ready) in fields["demands"].items()
        },
        slow_share=float(fields["slow_share"]),
        is_lost=bool(fields.get("is_lost")),
        **{name: float(fields[name]) for name in _TIMES},
    )


def _is_possible(state: BudgetState) -> bool:
    """Tell whether a caller can have left it so; NaN fails every comparison."""
    latest = state.touched_at + _AHEAD_SECONDS
    permits = [at for at, _ in state.permits]
    past = [state.granted_at, state.slowed_at, *permits]
    ahead = [state.paced_at, state.blocked_until, *(lease.until for lease in state.leases.values())]
    ahead += [at for demand in state.demands.values() for at in demand[1:]]
    return (
        0 <= state.touched_at < _LATEST
        and SMALLEST_SHARE <= state.slow_share <= 1
        and all(-_LATEST < at <= latest for at in past)
        and all(-_LATEST < at <= latest + LONGEST_BLOCK_SECONDS for at in ahead)
        and all(earlier <= later for earlier, later in itertools.pairwise(permits))
    )

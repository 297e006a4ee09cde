"""Says how the request allowance is used: requests by kind in the last hour, and the current rate."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import SqlStore
from transit_etl.endpoints import ENDPOINTS, Kind
from transit_etl.operations.status.last_hour import EndpointRequests
from transit_etl.settings import CollectSettings


@dataclass(frozen=True, slots=True)
class KindRequests:
    """The requests of a kind in the last hour; `share` is of the allowance of that hour.

    `n_last_minute` and `n_sent` count attempts, retries included; `n_not_sent` counts requests that got no
    permit in time; `endpoints` splits `n_sent` by endpoint.
    """

    kind: str
    n_last_minute: int
    n_sent: int
    n_good: int
    n_rate_limited: int
    n_not_sent: int
    share: float
    endpoints: dict[str, int]
    last_good_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast requests may be sent at this moment, and how many of each kind wait for a permit.

    `rate_per_minute` is less than the allowance after a 429, until it has recovered.
    """

    rate_per_minute: float
    blocked_until: datetime | None
    waiting: dict[str, int]


def requests_by_kind(requests: Iterable[EndpointRequests], rate_per_minute: int) -> list[KindRequests]:
    """Add up the requests of each kind that has an endpoint among them, in order of priority.

    Endpoints that are not in the table, such as those of another version, are of no kind.
    """
    by_kind: dict[Kind, list[EndpointRequests]] = {kind: [] for kind in Kind}
    for each in requests:
        if each.endpoint in ENDPOINTS:
            by_kind[ENDPOINTS[each.endpoint].kind].append(each)
    return [_sum(kind, some, rate_per_minute * 60) for kind, some in by_kind.items() if some]


def read_pace(settings: CollectSettings) -> Pace | None:
    """Read the budget's state as it was left last; None if it has not been used yet."""
    state = SqlStore(settings.budget_url, settings.credential).peek()
    if state is None:
        return None
    now = settings.clock.now()
    at = settings.clock.to_real(now).timestamp()  # the budget is kept in real time
    blocked_until = settings.clock.from_real(datetime.fromtimestamp(state.blocked_until, UTC))
    return Pace(
        rate_per_minute=round(state.rate(at, Limits(settings.rate_per_minute)), 1),
        blocked_until=blocked_until if blocked_until > now else None,
        waiting=dict(Counter(demand.kind.value for demand in state.demands.values())),
    )


def _sum(kind: Kind, requests: Sequence[EndpointRequests], allowed: float) -> KindRequests:
    n_sent = sum(each.n_last_hour for each in requests)
    answered = [each.last_good_at for each in requests if each.last_good_at]
    return KindRequests(
        kind=kind.value,
        n_last_minute=sum(each.n_last_minute for each in requests),
        n_sent=n_sent,
        n_good=sum(each.n_good for each in requests),
        n_rate_limited=sum(each.n_rate_limited for each in requests),
        n_not_sent=sum(each.n_not_sent for each in requests),
        share=round(n_sent / allowed, 4),
        endpoints={each.endpoint: each.n_last_hour for each in requests if each.n_last_hour},
        last_good_at=max(answered, default=None),
    )

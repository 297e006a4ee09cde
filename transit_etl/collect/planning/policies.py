"""Names the policies that can decide which stop is asked about next; the setting `policy` picks one."""

from collections.abc import Callable, Iterable, Mapping

from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.cover import Cover
from transit_etl.collect.planning.planner import Policy, Rotation
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.settings import PolicyName

MakePolicy = Callable[[Iterable[str], Iterable[LineStops], float], Policy]


def policy_of(
    name: PolicyName, stop_codes: Iterable[str], courses: Iterable[LineStops], rate_per_minute: float
) -> Policy:
    """Return a new policy over the stops and courses of a network, for an allowance."""
    return POLICIES[name](stop_codes, courses, rate_per_minute)


def _rotation(stop_codes: Iterable[str], _courses: Iterable[LineStops], _rate_per_minute: float) -> Policy:
    return Rotation(stop_codes)


def _cover(stop_codes: Iterable[str], courses: Iterable[LineStops], _rate_per_minute: float) -> Policy:
    return Cover(stop_codes, courses)


POLICIES: Mapping[PolicyName, MakePolicy] = {
    PolicyName.ADAPTIVE: Adaptive,
    PolicyName.COVER: _cover,
    PolicyName.ROTATION: _rotation,
}

"""Makes the policy that the setting `policy` names."""

from collections.abc import Iterable

from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.cover import Cover
from transit_etl.collect.planning.parameters import DEFAULTS, PlannerParameters
from transit_etl.collect.planning.policy import Policy, Rotation
from transit_etl.collect.planning.schedule_reading import Schedules
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.settings import PolicyName


def policy_of(
    name: PolicyName,
    stop_codes: Iterable[str],
    all_line_stops: Iterable[LineStops],
    rate_per_minute: float,
    parameters: PlannerParameters = DEFAULTS,
    *,
    schedules: Schedules | None = None,
) -> Policy:
    """Return a new policy over the stops and lines of a network, for a permit rate.

    It reads the times of `schedules`, if it can learn, and notes in them which ones it has read.
    """
    match name:
        case PolicyName.ADAPTIVE:
            return Adaptive(stop_codes, all_line_stops, rate_per_minute, parameters, schedules=schedules)
        case PolicyName.COVER:
            return Cover(stop_codes, all_line_stops)
        case PolicyName.ROTATION:
            return Rotation(stop_codes)

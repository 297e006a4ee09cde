"""Generates failures of lifts as functions of the seed and the date; in each period one lasts weeks."""

from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.days.events import (
    HOUR,
    LIFTS,
    LONGEST_DAYS,
    MINUTE,
    Event,
    duration,
    event_id,
    has_no_cause,
    listing_lag,
    one_of,
)
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Network

_FAILING_SHARE = 0.3  # of the lifts on a date
_PERIOD_DAYS = 56  # in each period one lift is out of service for weeks


class _LongFailure(NamedTuple):
    """A lift that is out of service for weeks, from its first date to its last."""

    lift: str
    first: date
    last: date


def lift_failures(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield at most one failure per lift and day; it ends before the lift's next one."""
    for lift in network.lifts:
        start = _failure_start(network, seed, lift, day)
        if start is None:
            continue
        name = f"{seed}/{day.isoformat()}/{lift}"
        next_failure = _failure_start(network, seed, lift, day + ONE_DAY)
        end = start + duration(name, 6 * HOUR, 0.9, 20 * HOUR)
        long = _long_failure(network, seed, day)
        if lift == long.lift and day == long.first:
            end = at_local(long.last, 15 * HOUR, network.zone)
        elif next_failure is not None:
            end = max(start + 20 * MINUTE, min(end, next_failure - 10 * MINUTE))
        yield Event(
            id=event_id(name),
            event=one_of(("GEV", "FERS"), name, "kind"),
            category=LIFTS,
            cause=None if has_no_cause(name) else "guasto tecnico",
            message=f"Ascensore {lift} fuori servizio.",
            started_at=start,
            listed_at=start + listing_lag(name),
            ended_at=end,
            facility=f"Ascensore {lift}",
        )


def _long_failure(network: Network, seed: int, day: date) -> _LongFailure:
    """Return the failure that lasts weeks in the period of eight weeks that a date is in."""
    period = day.toordinal() // _PERIOD_DAYS
    name = f"{seed}/weeks/{period}"
    first = date.fromordinal(period * _PERIOD_DAYS + noise.pick(20, name, "first"))
    last = first + ONE_DAY * (15 + noise.pick(LONGEST_DAYS - 16, name, "days"))
    return _LongFailure(network.lifts[noise.pick(len(network.lifts), name, "which")], first, last)


def _failure_start(network: Network, seed: int, lift: str, day: date) -> int | None:
    name = f"{seed}/{day.isoformat()}/{lift}"
    long = _long_failure(network, seed, day)
    if lift == long.lift and long.first <= day <= long.last:
        return at_local(day, 9 * HOUR, network.zone) if day == long.first else None
    if noise.unit(name, "fails") >= _FAILING_SHARE:
        return None
    return at_local(
        day, (5 + noise.pick(17, name, "h")) * HOUR + noise.pick(60, name, "m") * 60, network.zone
    )

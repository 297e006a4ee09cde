"""Generates what happens to lifts, funiculars and rack railways, as functions of the seed and the date.

In each period of eight weeks one lift is out of service for weeks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.days.events import (
    BUSES,
    DAY,
    FUNICULARS,
    HOUR,
    LIFTS,
    LONGEST_DAYS,
    MINUTE,
    Event,
    Version,
    duration,
    event_id,
    has_no_cause,
    listing_lag,
    one_of,
)
from transit_emulator.days.publication import SHARES, days_ahead, delisting_lag, published
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Network

_FAILING_SHARE, _RAILWAY_FAILING_SHARE = 0.3, 0.08  # of the lifts, and of the railways, on a date
_REDUCED_SHARE = 0.02  # of the plant on a date: hours are reduced from it on
_PERIOD_DAYS = 56  # in each period one lift is out of service for weeks
_WORTH_TWO_NOTICES = 2 * HOUR
_MONTHS = (
    "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno",
    "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre",
)  # fmt: skip
_RACK = "Cremagliera"


@dataclass(frozen=True, slots=True)
class Plant:
    """A lift, a funicular or a rack railway; `draw` keys its failures."""

    id: str
    name: str
    kind: str
    category: str
    draw: str
    failing_share: float


class _LongFailure(NamedTuple):
    """A lift that is out of service for weeks, from its first date to its last."""

    lift: str
    first: date
    last: date


def plants(network: Network) -> list[Plant]:
    """Return the plant of a network; a rack railway is listed among the buses, as upstreams do."""
    found = [
        Plant(f"lift/{lift}", f"Ascensore {lift}", "lift", LIFTS, lift, _FAILING_SHARE)
        for lift in network.lifts
    ]
    for name in network.railways:
        kind, category = ("rack_railway", BUSES) if name.startswith(_RACK) else ("funicular", FUNICULARS)
        found.append(Plant(f"{kind}/{name}", name, kind, category, name, _RAILWAY_FAILING_SHARE))
    return found


def plant_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the failures of a date, each with its second notice if there is one, and the reduced hours."""
    for plant in plants(network):
        failure = _failure(network, seed, plant, day)
        if failure is not None:
            yield published(failure)
            yield from _second_notice(failure, plant)
        yield from _reduced_hours(network, seed, plant, day)


def _failure(network: Network, seed: int, plant: Plant, day: date) -> Event | None:
    """Return the failure of a plant that starts on a date, if any; it ends before the plant's next one."""
    start = _failure_start(network, seed, plant, day)
    if start is None:
        return None
    name = f"{seed}/{day.isoformat()}/{plant.draw}"
    next_failure = _failure_start(network, seed, plant, day + ONE_DAY)
    end = start + duration(name, 6 * HOUR, 0.9, 20 * HOUR)
    long = _long_failure(network, seed, day)
    if long and plant.draw == long.lift and day == long.first:
        end = at_local(long.last, 15 * HOUR, network.zone)
    elif next_failure is not None:
        end = max(start + 20 * MINUTE, min(end, next_failure - 10 * MINUTE))
    listed_at = start + listing_lag(name)
    version = Version(
        valid_from=listed_at,
        cause=None if has_no_cause(name) else "guasto tecnico",
        message=f"{plant.name} fuori servizio.",
        starts_at=start,
        name=plant.name,
    )
    return Event(
        id=event_id(name),
        event=one_of(("GEV", "FERS"), name, "kind"),
        category=plant.category,
        started_at=start,
        ended_at=end,
        listed=((listed_at, end + min(delisting_lag(name), 9 * MINUTE)),),
        versions=(version,),
        plant_id=plant.id,
        is_out_of_use=True,
    )


def _second_notice(failure: Event, plant: Plant) -> Iterator[Event]:
    """Yield another notice about a failure, which begins while the first one is listed; mostly none."""
    name = f"{failure.id}/second notice"
    lasts = failure.ended_at - failure.listed_at
    if lasts < _WORTH_TWO_NOTICES or noise.unit(name) >= SHARES.second_notice:
        return
    listed_at = failure.listed_at + int(lasts * (0.1 + 0.7 * noise.unit(name, "at"))) // MINUTE * MINUTE
    version = replace(
        failure.versions[0],
        valid_from=listed_at,
        message=f"Si informa che l'impianto {plant.name} non è disponibile.",
        starts_at=failure.started_at if noise.unit(name, "same start") < 0.5 else listed_at,  # noqa: PLR2004 - half
        name=plant.name,
    )
    second = replace(
        failure,
        id=event_id(name),
        listed=((listed_at, failure.unlisted_at + noise.pick(3, name, "longer") * MINUTE),),
        versions=(version,),
        notice_of=failure.id,
        classes=("second_notice",),
    )
    yield published(second)


def _reduced_hours(network: Network, seed: int, plant: Plant, day: date) -> Iterator[Event]:
    """Yield planned works with reduced hours from a date on: announced before, and not out of use."""
    name = f"{seed}/{day.isoformat()}/{plant.draw}/reduced"
    if noise.unit(name) >= _REDUCED_SHARE:
        return
    start = at_local(day, 8 * HOUR, network.zone)
    end = start + (3 + noise.pick(8, name, "days")) * DAY
    listed_at = start - days_ahead(name, 7)
    message = f"{plant.name}: orario ridotto dal {day.day} {_MONTHS[day.month - 1]} per lavori programmati."
    event = Event(
        id=event_id(name),
        event="GEV",
        category=plant.category,
        started_at=start,
        ended_at=end,
        listed=((listed_at, end + delisting_lag(name)),),
        versions=(Version(listed_at, "lavori programmati", message, start, name=plant.name),),
        plant_id=plant.id,
        classes=("announced", "reduced_hours"),
    )
    yield published(event)


def _long_failure(network: Network, seed: int, day: date) -> _LongFailure | None:
    """Return the failure that lasts weeks in the period of eight weeks that a date is in."""
    if not network.lifts:
        return None
    period = day.toordinal() // _PERIOD_DAYS
    name = f"{seed}/weeks/{period}"
    first = date.fromordinal(period * _PERIOD_DAYS + noise.pick(20, name, "first"))
    last = first + ONE_DAY * (15 + noise.pick(LONGEST_DAYS - 16, name, "days"))
    return _LongFailure(network.lifts[noise.pick(len(network.lifts), name, "which")], first, last)


def _failure_start(network: Network, seed: int, plant: Plant, day: date) -> int | None:
    name = f"{seed}/{day.isoformat()}/{plant.draw}"
    long = _long_failure(network, seed, day)
    if long and plant.draw == long.lift and long.first <= day <= long.last:
        return at_local(day, 9 * HOUR, network.zone) if day == long.first else None
    if noise.unit(name, "fails") >= plant.failing_share:
        return None
    return at_local(
        day, (5 + noise.pick(17, name, "h")) * HOUR + noise.pick(60, name, "m") * 60, network.zone
    )

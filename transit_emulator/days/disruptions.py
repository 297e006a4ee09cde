"""Generates diversions, suspensions and delays as functions of the seed and the date."""

from collections.abc import Iterator
from datetime import date
from itertools import pairwise

from transit_emulator import noise
from transit_emulator.days.events import (
    BUSES,
    DAY,
    DIVERTED,
    HOUR,
    METRO,
    MINUTE,
    Event,
    Version,
    duration,
    event_id,
    has_no_cause,
    listing_lag,
    one_of,
)
from transit_emulator.days.plant import plant_events
from transit_emulator.days.publication import SHARES, days_ahead, delisting_lag, published
from transit_emulator.local_time import at_local
from transit_emulator.networks.network import Network

_KINDS = (DIVERTED, DIVERTED, DIVERTED, "GEV", "FERS")
_WORKS, _MARCH = "lavori stradali", "manifestazione"
_CAUSES = (_WORKS, _MARCH, "incidente", "veicolo in sosta irregolare", "allerta meteo")
_PHRASES = {DIVERTED: "deviata", "GEV": "con possibili ritardi", "FERS": "fermate sospese"}
_GENERAL = 0.36  # of the GEV events: those without `linee`
_METRO_STOPS = 0.25  # of the days: those on which the metro is suspended
_LONGEST = 4 * DAY  # a longer event is neither edited nor missing from the list for some minutes
_LINES_PER_EVENT = 12
_LATEST_CHANGE = 5  # local hour: clocks are set before it


def events_starting_on(network: Network, seed: int, day: date) -> tuple[Event, ...]:
    """Return the events that start on a local date, or were to start on it, by start."""
    found = [
        *_bus_events(network, seed, day),
        *_withdrawn(network, seed, day),
        *_in_repeated_hour(network, seed, day),
        *plant_events(network, seed, day),
        *_metro(network, seed, day),
    ]
    return tuple(sorted(found, key=lambda event: (event.started_at, event.id)))


def _bus_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the day's events; Monday's first lasts a week, so that one event is always open."""
    lines = _lines(network)
    for number in range(_n_events(lines)):
        name = f"{seed}/{day.isoformat()}/{number}"
        is_works = number == 0 and day.weekday() == 0
        start = at_local(day, 7 * HOUR if is_works else _start_second(name), network.zone)
        lasts = 7 * DAY + 4 * HOUR if is_works else duration(name, 5 * HOUR, 1.1, 3 * DAY)
        kind = DIVERTED if is_works else one_of(_KINDS, name, "kind")
        yield _bus_event(network, lines, name, start=start, lasts=lasts, kind=kind)


def _withdrawn(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the works that are announced for a date, taken from the list before, and never done."""
    lines = _lines(network)
    for number in range(_n_events(lines)):
        name = f"{seed}/{day.isoformat()}/withdrawn/{number}"
        if noise.unit(name) < SHARES.withdrawn_per_event:
            start = at_local(day, _start_second(name), network.zone)
            lasts = duration(name, 8 * HOUR, 0.8, 2 * DAY)
            yield _bus_event(network, lines, name, start=start, lasts=lasts, kind=DIVERTED, is_withdrawn=True)


def _in_repeated_hour(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield events that start within the hour that comes twice when clocks go back; none on other dates."""
    hours = [at_local(day, hour * HOUR, network.zone) for hour in range(_LATEST_CHANGE + 1)]
    first = next((begins for begins, ends in pairwise(hours) if ends - begins == 2 * HOUR), None)
    if first is None:
        return
    lines = _lines(network)
    for number in range(2 * _n_events(lines)):
        name = f"{seed}/{day.isoformat()}/repeated/{number}"
        start = first + noise.pick(2 * 60, name, "minute") * MINUTE
        lasts = duration(name, 4 * HOUR, 0.8, DAY)
        yield _bus_event(
            network, lines, name, start=start, lasts=lasts, kind="GEV", classes=("clock_change",)
        )


def _lines(network: Network) -> list[int]:
    return [position for position, line in enumerate(network.lines) if line.is_active and line.is_tracked]


def _n_events(lines: list[int]) -> int:
    return 3 + len(lines) // _LINES_PER_EVENT if lines else 0


def _bus_event(
    network: Network,
    lines: list[int],
    name: str,
    *,
    start: int,
    lasts: int,
    kind: str,
    is_withdrawn: bool = False,
    classes: tuple[str, ...] = (),
) -> Event:
    hit = sorted({lines[noise.pick(len(lines), name, n)] for n in range(1 + noise.pick(3, name, "n"))})
    numbers = tuple(dict.fromkeys(network.lines[position].number for position in hit))
    is_general = kind == "GEV" and not classes and noise.unit(name, "general") < _GENERAL
    cause = one_of((_WORKS, _MARCH) if is_withdrawn else _CAUSES, name, "cause")
    subject = "Rete" if is_general else "Linee " + ", ".join(numbers)
    is_announced = is_withdrawn or (
        cause in (_WORKS, _MARCH) and not classes and noise.unit(name, "announced") < SHARES.announced
    )
    ahead = days_ahead(name, 14) if is_announced else 0
    listed_at = start - ahead if is_announced else start + listing_lag(name)
    until = start + lasts + delisting_lag(name)
    if is_withdrawn:
        until = listed_at + int((ahead - HOUR) * (0.1 + 0.9 * noise.unit(name, "withdrawn at")))
        classes = ("withdrawn",)
    elif is_announced:
        classes = ("announced",)
    positions = tuple(
        tuple(position for position in hit if network.lines[position].number == number) for number in numbers
    )
    version = Version(
        valid_from=listed_at,
        cause=None if has_no_cause(name) else cause,
        message=f"{subject}: {_PHRASES[kind]} per {cause}.",
        starts_at=start // (30 * MINUTE) * (30 * MINUTE) if is_announced else start,
        lines=() if is_general else numbers,
        positions=() if is_general else positions,
    )
    event = Event(
        id=event_id(name),
        event=kind,
        category=BUSES,
        started_at=start,
        ended_at=start + lasts,
        listed=((listed_at, until),),
        versions=(version,),
        line_positions=() if is_general else tuple(hit),
        is_withdrawn=is_withdrawn,
        classes=classes,
    )
    return event if lasts > _LONGEST else published(event, _CAUSES, {line.number for line in network.lines})


def _metro(network: Network, seed: int, day: date) -> Iterator[Event]:
    name = f"{seed}/{day.isoformat()}/metro"
    has_metro = any(line.code.startswith(METRO) for line in network.lines)
    if not has_metro or noise.unit(name, "stops") >= _METRO_STOPS:
        return
    start = at_local(day, _start_second(name), network.zone)
    end = start + duration(name, HOUR, 0.6, 5 * HOUR)
    listed_at = start + 2 * MINUTE
    message = "Metropolitana: servizio sospeso."
    yield Event(
        id=event_id(name),
        event="FERS",
        category=METRO,
        started_at=start,
        ended_at=end,
        listed=((listed_at, end + delisting_lag(name)),),
        versions=(Version(listed_at, None, message, start, name="Metropolitana"),),
    )


def _start_second(name: str) -> int:
    """Return when in the day an event starts, to the minute: mostly between 06:00 and 22:00."""
    if noise.unit(name, "at night") < 0.15:  # noqa: PLR2004 - the share of starts spread over the whole day
        return noise.pick(24 * 60, name, "minute") * MINUTE
    return 6 * HOUR + noise.pick(16 * 60, name, "minute") * MINUTE

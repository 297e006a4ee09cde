"""Generates diversions, suspensions and delays as functions of the seed and the date."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date

from transit_emulator import noise
from transit_emulator.days.events import (
    BUSES,
    DAY,
    DIVERTED,
    HOUR,
    METRO,
    MINUTE,
    Event,
    duration,
    event_id,
    has_no_cause,
    listing_lag,
    one_of,
)
from transit_emulator.days.lift_failures import lift_failures
from transit_emulator.local_time import at_local
from transit_emulator.networks.network import Network

_KINDS = (DIVERTED, DIVERTED, DIVERTED, "GEV", "FERS")
_CAUSES = ("lavori stradali", "manifestazione", "incidente", "veicolo in sosta irregolare", "allerta meteo")
_PHRASES = {DIVERTED: "deviata", "GEV": "con possibili ritardi", "FERS": "fermate sospese"}
_GENERAL = 0.36  # of the GEV events: those without `linee`
_METRO_STOPS = 0.25  # of the days: those on which the metro is suspended
_EDITED_SHARE, _UNLISTED_SHARE = 0.3, 0.06
_LONGEST = 4 * DAY  # a longer event is neither edited nor missing from the list for some minutes
_ADDENDUM = "Aggiornamento: si prevedono tempi lunghi."


def events_starting_on(network: Network, seed: int, day: date) -> tuple[Event, ...]:
    """Return the events that start on a local date, by start."""
    found = [
        *_bus_events(network, seed, day),
        *lift_failures(network, seed, day),
        *_metro(network, seed, day),
    ]
    return tuple(sorted(found, key=lambda event: (event.started_at, event.id)))


def _bus_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the day's events; Monday's first lasts a week, so that one event is always open."""
    lines = [position for position, line in enumerate(network.lines) if line.is_active and line.is_tracked]
    if not lines:
        return
    for number in range(3 + len(lines) // 12):
        name = f"{seed}/{day.isoformat()}/{number}"
        is_works = number == 0 and day.weekday() == 0
        start = at_local(day, 7 * HOUR if is_works else _start_second(name), network.zone)
        lasts = 7 * DAY + 4 * HOUR if is_works else duration(name, 5 * HOUR, 1.1, 3 * DAY)
        kind = DIVERTED if is_works else one_of(_KINDS, name, "kind")
        yield _bus_event(network, lines, name, start=start, lasts=lasts, kind=kind)


def _bus_event(network: Network, lines: list[int], name: str, *, start: int, lasts: int, kind: str) -> Event:
    hit = sorted({lines[noise.pick(len(lines), name, n)] for n in range(1 + noise.pick(3, name, "n"))})
    numbers = tuple(dict.fromkeys(network.lines[position].number for position in hit))
    is_general = kind == "GEV" and noise.unit(name, "general") < _GENERAL
    cause = one_of(_CAUSES, name, "cause")
    subject = "Rete" if is_general else "Linee " + ", ".join(numbers)
    message = f"{subject}: {_PHRASES[kind]} per {cause}."
    listed_at = start + listing_lag(name)
    event = Event(
        id=event_id(name),
        event=kind,
        category=BUSES,
        cause=None if has_no_cause(name) else cause,
        message=message,
        started_at=start,
        listed_at=listed_at,
        ended_at=start + lasts,
        line_numbers=() if is_general else numbers,
        line_positions=() if is_general else tuple(hit),
    )
    return event if lasts > _LONGEST else _perhaps_unlisted(_perhaps_edited(event, name), name)


def _perhaps_edited(event: Event, name: str) -> Event:
    """Return the event, some of them with a message that changes while it is listed."""
    if noise.unit(name, "edited") >= _EDITED_SHARE:
        return event
    edited_at = event.listed_at + int((event.ended_at - event.listed_at) * noise.unit(name, "edited at"))
    return replace(event, edited_at=edited_at, edited_message=f"{event.message} {_ADDENDUM}")


def _perhaps_unlisted(event: Event, name: str) -> Event:
    """Return the event, some of them missing from the list for some minutes."""
    latest_start = event.ended_at - event.listed_at - 40 * MINUTE
    if latest_start <= 0 or noise.unit(name, "flaps") >= _UNLISTED_SHARE:
        return event
    absent_from = event.listed_at + 10 * MINUTE + int(latest_start * noise.unit(name, "flaps at"))
    return replace(
        event,
        absent_from=absent_from,
        absent_until=absent_from + (3 + noise.pick(18, name, "flaps for")) * MINUTE,
    )


def _metro(network: Network, seed: int, day: date) -> Iterator[Event]:
    name = f"{seed}/{day.isoformat()}/metro"
    has_metro = any(line.code.startswith(METRO) for line in network.lines)
    if not has_metro or noise.unit(name, "stops") >= _METRO_STOPS:
        return
    start = at_local(day, _start_second(name), network.zone)
    yield Event(
        id=event_id(name),
        event="FERS",
        category=METRO,
        cause=None,
        message="Metropolitana: servizio sospeso.",
        started_at=start,
        listed_at=start + 2 * MINUTE,
        ended_at=start + duration(name, HOUR, 0.6, 5 * HOUR),
        facility="Metropolitana",
    )


def _start_second(name: str) -> int:
    """Return when in the day an event starts, to the minute: mostly between 06:00 and 22:00."""
    if noise.unit(name, "at night") < 0.15:  # noqa: PLR2004 - the share of starts spread over the whole day
        return noise.pick(24 * 60, name, "minute") * MINUTE
    return 6 * HOUR + noise.pick(16 * 60, name, "minute") * MINUTE

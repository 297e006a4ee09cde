"""Makes diversions, suspensions and broken lifts that come and go as functions of the seed and the date."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from math import exp

from transit_etl.emulator import noise
from transit_etl.emulator.local_time import ONE_DAY, at_local
from transit_etl.emulator.network import Network

LONGEST_DAYS = 9
BUSES, LIFTS, METRO = "SG", "ASC", "MM"
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_KINDS = ("DEV", "DEV", "DEV", "GEV", "FERS")
_CAUSES = ("lavori stradali", "manifestazione", "incidente", "veicolo in sosta irregolare", "allerta meteo")
_PHRASES = {"DEV": "deviata", "GEV": "con possibili ritardi", "FERS": "fermate sospese"}
_WITHOUT_CAUSE, _GENERAL = 0.2, 0.36  # without `causa`; of GEV events, those without `linee`
_LIFT_FAILS, _METRO_STOPS = 0.3, 0.25


@dataclass(frozen=True, slots=True)
class Event:
    """A disruption, listed in [listed_at, ended_at); `lines` holds line numbers, one name, or None."""

    id: str
    event: str
    category: str
    lines: tuple[str, ...] | str | None
    cause: str | None
    message: str
    started_at: int
    listed_at: int
    ended_at: int
    line_positions: tuple[int, ...] = ()


def events_starting_on(network: Network, seed: int, day: date) -> tuple[Event, ...]:
    """Return the events that start on a local date, by start."""
    found = [*_bus_events(network, seed, day), *_lift_events(network, seed, day), *_metro(network, seed, day)]
    return tuple(sorted(found, key=lambda event: (event.started_at, event.id)))


def _bus_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the day's events; Monday's first lasts into the next one, so that something is always open."""
    lines = [position for position, line in enumerate(network.lines) if line.is_active and line.is_tracked]
    if not lines:
        return
    for number in range(3 + len(lines) // 12):
        name = f"{seed}/{day.isoformat()}/{number}"
        is_works = number == 0 and day.weekday() == 0
        start = at_local(day, 7 * _HOUR if is_works else _start_second(name), network.zone)
        lasts = 7 * _DAY + 4 * _HOUR if is_works else _seconds(name, 5 * _HOUR, 1.1, 3 * _DAY)
        kind = "DEV" if is_works else _one_of(_KINDS, name, "kind")
        yield _bus_event(network, lines, name, start=start, lasts=lasts, kind=kind)


def _bus_event(network: Network, lines: list[int], name: str, *, start: int, lasts: int, kind: str) -> Event:
    hit = sorted({lines[noise.pick(len(lines), name, n)] for n in range(1 + noise.pick(3, name, "n"))})
    numbers = tuple(dict.fromkeys(network.lines[position].number for position in hit))
    is_general = kind == "GEV" and noise.unit(name, "general") < _GENERAL
    cause = _one_of(_CAUSES, name, "cause")
    subject = "Rete" if is_general else "Linee " + ", ".join(numbers)
    return Event(
        id=_event_id(name),
        event=kind,
        category=BUSES,
        lines=None if is_general else numbers,
        cause=None if noise.unit(name, "no cause") < _WITHOUT_CAUSE else cause,
        message=f"{subject}: {_PHRASES[kind]} per {cause}.",
        started_at=start,
        listed_at=start + noise.pick(10, name, "lag") * _MINUTE,
        ended_at=start + lasts,
        line_positions=() if is_general else tuple(hit),
    )


def _lift_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield at most one failure per lift and day; it ends before the lift's next one."""
    for lift in network.lifts:
        start = _lift_failure(network, seed, lift, day)
        if start is None:
            continue
        name = f"{seed}/{day.isoformat()}/{lift}"
        following = _lift_failure(network, seed, lift, day + ONE_DAY)
        end = start + _seconds(name, 6 * _HOUR, 0.9, 20 * _HOUR)
        if following is not None:
            end = max(start + 20 * _MINUTE, min(end, following - 10 * _MINUTE))
        yield Event(
            id=_event_id(name),
            event=_one_of(("GEV", "FERS"), name, "kind"),
            category=LIFTS,
            lines=f"Ascensore {lift}",
            cause=None if noise.unit(name, "no cause") < _WITHOUT_CAUSE else "guasto tecnico",
            message=f"Ascensore {lift} fuori servizio.",
            started_at=start,
            listed_at=start + noise.pick(10, name, "lag") * _MINUTE,
            ended_at=end,
        )


def _lift_failure(network: Network, seed: int, lift: str, day: date) -> int | None:
    name = f"{seed}/{day.isoformat()}/{lift}"
    if noise.unit(name, "fails") >= _LIFT_FAILS:
        return None
    return at_local(
        day, (5 + noise.pick(17, name, "h")) * _HOUR + noise.pick(60, name, "m") * 60, network.zone
    )


def _metro(network: Network, seed: int, day: date) -> Iterator[Event]:
    name = f"{seed}/{day.isoformat()}/metro"
    has_metro = any(line.code.startswith(METRO) for line in network.lines)
    if not has_metro or noise.unit(name, "stops") >= _METRO_STOPS:
        return
    start = at_local(day, _start_second(name), network.zone)
    yield Event(
        id=_event_id(name),
        event="FERS",
        category=METRO,
        lines="Metropolitana",
        cause=None,
        message="Metropolitana: servizio sospeso.",
        started_at=start,
        listed_at=start + 2 * _MINUTE,
        ended_at=start + _seconds(name, _HOUR, 0.6, 5 * _HOUR),
    )


def _start_second(name: str) -> int:
    """Return when in the day an event starts, to the minute: mostly between 06:00 and 22:00."""
    if noise.unit(name, "at night") < 0.15:  # noqa: PLR2004 - the share of starts spread over the whole day
        return noise.pick(24 * 60, name, "minute") * _MINUTE
    return 6 * _HOUR + noise.pick(16 * 60, name, "minute") * _MINUTE


def _seconds(name: str, median: int, spread: float, longest: int) -> int:
    """Return a duration, skewed to the right, in whole seconds."""
    draw = sum(noise.unit(name, "lasts", n) for n in range(12)) - 6  # nearly normal
    return int(min(longest, max(12 * _MINUTE, median * exp(spread * draw))))


def _one_of(choices: tuple[str, ...], name: str, what: str) -> str:
    return choices[noise.pick(len(choices), name, what)]


def _event_id(name: str) -> str:
    return f"{noise.key(name, 'id'):016x}"

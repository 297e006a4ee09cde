"""Generates diversions, suspensions and lift failures as functions of the seed and the date."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from math import exp
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Network

LONGEST_DAYS = 24
DIVERTED = "DEV"
BUSES, LIFTS, METRO = "SG", "ASC", "MM"
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_KINDS = (DIVERTED, DIVERTED, DIVERTED, "GEV", "FERS")
_CAUSES = ("lavori stradali", "manifestazione", "incidente", "veicolo in sosta irregolare", "allerta meteo")
_PHRASES = {DIVERTED: "deviata", "GEV": "con possibili ritardi", "FERS": "fermate sospese"}
_WITHOUT_CAUSE = 0.2  # of the events: those without `causa`
_GENERAL = 0.36  # of the GEV events: those without `linee`
_LIFT_FAILS, _METRO_STOPS = 0.3, 0.25
_PERIOD_DAYS = 56  # in each period one lift is out of service for weeks
_EDITED_SHARE, _FLAPPING_SHARE = 0.3, 0.06
_LONGEST = 4 * _DAY  # a longer event is neither edited nor missing from the list for some minutes
_ADDENDUM = "Aggiornamento: si prevedono tempi lunghi."


@dataclass(frozen=True, slots=True)
class Event:
    """A disruption, listed in [listed_at, ended_at).

    It is about lines, given by their numbers, about a facility, such as a lift, or about the whole network.
    Its message may change at `edited_at`; it may be missing from the list within [absent_from,
    absent_until). All three are 0 where that does not happen.
    """

    id: str
    event: str
    category: str
    cause: str | None
    message: str
    started_at: int
    listed_at: int
    ended_at: int
    line_numbers: tuple[str, ...] = ()
    line_positions: tuple[int, ...] = ()
    facility: str = ""
    edited_at: int = 0
    edited_message: str = ""
    absent_from: int = 0
    absent_until: int = 0

    def is_listed(self, instant: float) -> bool:
        """Tell whether the status lists the event at an instant."""
        is_on = self.listed_at <= instant < self.ended_at
        return is_on and not self.absent_from <= instant < self.absent_until

    def message_at(self, instant: float) -> str:
        """Return the message as it reads at an instant."""
        return self.edited_message if self.edited_at and instant >= self.edited_at else self.message


class _LongFailure(NamedTuple):
    """A lift that is out of service for weeks, from its first date to its last."""

    lift: str
    first: date
    last: date


def events_starting_on(network: Network, seed: int, day: date) -> tuple[Event, ...]:
    """Return the events that start on a local date, by start."""
    found = [*_bus_events(network, seed, day), *_lift_events(network, seed, day), *_metro(network, seed, day)]
    return tuple(sorted(found, key=lambda event: (event.started_at, event.id)))


def _bus_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield the day's events; Monday's first lasts a week, so that one event is always open."""
    lines = [position for position, line in enumerate(network.lines) if line.is_active and line.is_tracked]
    if not lines:
        return
    for number in range(3 + len(lines) // 12):
        name = f"{seed}/{day.isoformat()}/{number}"
        is_works = number == 0 and day.weekday() == 0
        start = at_local(day, 7 * _HOUR if is_works else _start_second(name), network.zone)
        lasts = 7 * _DAY + 4 * _HOUR if is_works else _seconds(name, 5 * _HOUR, 1.1, 3 * _DAY)
        kind = DIVERTED if is_works else _one_of(_KINDS, name, "kind")
        yield _bus_event(network, lines, name, start=start, lasts=lasts, kind=kind)


def _bus_event(network: Network, lines: list[int], name: str, *, start: int, lasts: int, kind: str) -> Event:
    hit = sorted({lines[noise.pick(len(lines), name, n)] for n in range(1 + noise.pick(3, name, "n"))})
    numbers = tuple(dict.fromkeys(network.lines[position].number for position in hit))
    is_general = kind == "GEV" and noise.unit(name, "general") < _GENERAL
    cause = _one_of(_CAUSES, name, "cause")
    subject = "Rete" if is_general else "Linee " + ", ".join(numbers)
    message = f"{subject}: {_PHRASES[kind]} per {cause}."
    listed_at = start + noise.pick(10, name, "lag") * _MINUTE
    event = Event(
        id=_event_id(name),
        event=kind,
        category=BUSES,
        cause=None if noise.unit(name, "no cause") < _WITHOUT_CAUSE else cause,
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
    latest_start = event.ended_at - event.listed_at - 40 * _MINUTE
    if latest_start <= 0 or noise.unit(name, "flaps") >= _FLAPPING_SHARE:
        return event
    absent_from = event.listed_at + 10 * _MINUTE + int(latest_start * noise.unit(name, "flaps at"))
    return replace(
        event,
        absent_from=absent_from,
        absent_until=absent_from + (3 + noise.pick(18, name, "flaps for")) * _MINUTE,
    )


def _lift_events(network: Network, seed: int, day: date) -> Iterator[Event]:
    """Yield at most one failure per lift and day; it ends before the lift's next one."""
    for lift in network.lifts:
        start = _lift_failure(network, seed, lift, day)
        if start is None:
            continue
        name = f"{seed}/{day.isoformat()}/{lift}"
        next_failure = _lift_failure(network, seed, lift, day + ONE_DAY)
        end = start + _seconds(name, 6 * _HOUR, 0.9, 20 * _HOUR)
        long = _long_failure(network, seed, day)
        if lift == long.lift and day == long.first:
            end = at_local(long.last, 15 * _HOUR, network.zone)
        elif next_failure is not None:
            end = max(start + 20 * _MINUTE, min(end, next_failure - 10 * _MINUTE))
        yield Event(
            id=_event_id(name),
            event=_one_of(("GEV", "FERS"), name, "kind"),
            category=LIFTS,
            cause=None if noise.unit(name, "no cause") < _WITHOUT_CAUSE else "guasto tecnico",
            message=f"Ascensore {lift} fuori servizio.",
            started_at=start,
            listed_at=start + noise.pick(10, name, "lag") * _MINUTE,
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


def _lift_failure(network: Network, seed: int, lift: str, day: date) -> int | None:
    name = f"{seed}/{day.isoformat()}/{lift}"
    long = _long_failure(network, seed, day)
    if lift == long.lift and long.first <= day <= long.last:
        return at_local(day, 9 * _HOUR, network.zone) if day == long.first else None
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
        cause=None,
        message="Metropolitana: servizio sospeso.",
        started_at=start,
        listed_at=start + 2 * _MINUTE,
        ended_at=start + _seconds(name, _HOUR, 0.6, 5 * _HOUR),
        facility="Metropolitana",
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

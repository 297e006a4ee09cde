"""Revises published timetables and lines: a later request may get other departures, texts, notes or stops."""

from dataclasses import replace
from datetime import date, timedelta
from typing import NamedTuple

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule
from transit_emulator.days.timetable import Departure, Leg, Service, departure_text
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Line, Network

_HOUR = 3600
_REVISED_SHARE = 0.2  # of the timetables of a line for a date
_LATE_SHARE = 0.1  # of them: changed on the day itself, some after the departures that the change is about
_COSMETIC_SHARE = 0.1  # of them: another headsign, or another service code, and the same departures
_MISSING_SHARE, _MOVED_SHARE = 0.06, 0.08  # of the departures, before the revision
_LARGEST_MOVE_MINUTES = 10
_NOTE_SHARE, _STOP_SHARE = 0.1, 0.1  # of the lines in a week
_CLOSED_DAYS, _CLOSED_SHARE = 28, 0.15  # of the lines without stops: not published for so many days


class Change(NamedTuple):
    """A change of a timetable: when it is published, and why; see `changes`."""

    at: int
    reason: str


def changes(network: Network, seed: int, line: Line, day: date) -> list[Change]:
    """Return how the timetable of a line for a date is revised, in order; mostly not at all.

    `notice` is before 06:00 of the date, `late` after that, and `headsign` and `service_code` are cosmetic.
    """
    name = f"{seed}/{line.code}/{day.isoformat()}/revision"
    found = []
    if noise.unit(name) < _REVISED_SHARE:
        hours_after_noon = noise.pick(42, name, "hours")  # from two days before at noon to 06:00 of the day
        noon = at_local(day - 2 * ONE_DAY, 12 * _HOUR, network.zone)
        found.append(Change(noon + hours_after_noon * _HOUR, "notice"))
    if noise.unit(name, "late") < _LATE_SHARE:
        minutes = 6 * 60 + noise.pick(16 * 60, name, "late at")
        found.append(Change(at_local(day, minutes * 60, network.zone), "late"))
    if noise.unit(name, "cosmetic") < _COSMETIC_SHARE:
        reason = ("headsign", "service_code")[noise.pick(2, name, "what")]
        minutes = noise.pick(3 * 24 * 60, name, "cosmetic at")  # until 22:00 of the day
        last = at_local(day, 22 * _HOUR, network.zone)
        found.append(Change(last - minutes * 60, reason))
    return sorted(found)


def before_change(
    network: Network, schedule: Schedule, line: Line, services: tuple[Service, ...], *, seed: int, reason: str
) -> tuple[Service, ...]:
    """Return a timetable as it was before a change for some reason."""
    if reason == "headsign":
        return tuple(_with_old_headsigns(service) for service in services)
    if reason == "service_code":
        return tuple(replace(service, code=f"{service.code}V") for service in services)
    return before_revision(network, schedule, line, services, f"{seed}/{reason}")


def _with_old_headsigns(service: Service) -> Service:
    """Return a service whose legs go, by their text, to a place named in another way."""
    legs = (
        replace(leg, headsign=f"{leg.headsign} FS", description=f"{leg.description} FS")
        if leg.description else leg
        for leg in service.legs
    )  # fmt: skip
    return replace(service, legs=tuple(legs))


def before_revision(
    network: Network, schedule: Schedule, line: Line, services: tuple[Service, ...], draw: str
) -> tuple[Service, ...]:
    """Return a timetable as it was before its revision: some departures missing, some at other times."""
    name = f"{draw}/{schedule.service_date.isoformat()}"

    def earlier_leg(leg: Leg) -> Leg:
        found = [_earlier(network, schedule, line, departure, name) for departure in leg.departures]
        kept = sorted((departure for departure in found if departure), key=lambda one: one.departs_at)
        return replace(leg, departures=tuple(kept))

    return tuple(replace(service, legs=tuple(map(earlier_leg, service.legs))) for service in services)


def _earlier(
    network: Network, schedule: Schedule, line: Line, departure: Departure, name: str
) -> Departure | None:
    trip = departure.trip_id
    draw = noise.unit(name, trip, "before revision")
    if draw < _MISSING_SHARE:
        return None
    if draw >= _MISSING_SHARE + _MOVED_SHARE:
        return departure
    minutes = 1 + noise.pick(_LARGEST_MOVE_MINUTES, name, trip, "moved by")
    departs_at = departure.departs_at + 60 * minutes
    text = departure_text(network, schedule, departs_at, past_24=line.counts_past_24)
    return replace(departure, departs_at=departs_at, text=text)


def is_published_on(line: Line, seed: int, day: date) -> bool:
    """Tell whether the lines list has a line on a date; one of no stop is missing in some months."""
    month = (day.toordinal() - 1) // _CLOSED_DAYS  # begins on a Monday
    return bool(line.stops) or noise.unit(seed, line.code, month, "closed") >= _CLOSED_SHARE


def line_on(line: Line, seed: int, day: date) -> Line:
    """Return a line as it is published on a date: in some weeks with another note, or with one stop fewer."""
    name = f"{seed}/{line.code}/{(day - timedelta(days=day.weekday())).isoformat()}"
    if noise.unit(name, "note") < _NOTE_SHARE:
        line = replace(line, note=f"{line.note} Percorso modificato per lavori".strip())
    if noise.unit(name, "stop") < _STOP_SHARE:
        line = _without_a_stop(line, name)
    return line


def _without_a_stop(line: Line, name: str) -> Line:
    """Return a line without one of its listed stops; never without one of its ends."""
    stops = dict(line.stops)
    for direction, listed in line.stops.items():
        if len(listed) > 3:  # noqa: PLR2004 - two ends and two between
            skipped = 1 + noise.pick(len(listed) - 2, name, "which", direction)
            stops[direction] = listed[:skipped] + listed[skipped + 1 :]
    return replace(line, stops=stops)

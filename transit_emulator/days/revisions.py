"""Revises published timetables and lines: a later request may get other departures, notes or stops."""

from dataclasses import replace
from datetime import date, timedelta

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule
from transit_emulator.days.timetable import Departure, Leg, Service, departure_text
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Line, Network

_HOUR = 3600
_REVISED_SHARE = 0.2  # of the timetables of a line for a date
_MISSING_SHARE, _MOVED_SHARE = 0.06, 0.08  # of the departures, before the revision
_LARGEST_MOVE_MINUTES = 10
_NOTE_SHARE, _STOP_SHARE = 0.1, 0.1  # of the lines in a week


def revised_at(network: Network, seed: int, line: Line, day: date) -> int | None:
    """Return when the final timetable of a line for a date is published; None if it never changes."""
    name = f"{seed}/{line.code}/{day.isoformat()}/revision"
    if noise.unit(name) >= _REVISED_SHARE:
        return None
    hours_after_noon = noise.pick(42, name, "hours")  # from two days before at noon to 06:00 of the day
    return at_local(day - 2 * ONE_DAY, 12 * _HOUR, network.zone) + hours_after_noon * _HOUR


def before_revision(
    network: Network, schedule: Schedule, line: Line, services: tuple[Service, ...], seed: int
) -> tuple[Service, ...]:
    """Return a timetable as it was before its revision: some departures missing, some at other times."""
    name = f"{seed}/{schedule.service_date.isoformat()}"

    def earlier_leg(leg: Leg) -> Leg:
        found = [_earlier(network, schedule, line, departure, name) for departure in leg.departures]
        kept = sorted((departure for departure in found if departure), key=lambda one: one.departs_at)
        return replace(leg, departures=tuple(kept))

    return tuple(replace(service, legs=tuple(map(earlier_leg, service.legs))) for service in services)


def _earlier(
    network: Network, schedule: Schedule, line: Line, departure: Departure, name: str
) -> Departure | None:
    trip = network.trips[int(schedule.trips[departure.trip])].id
    draw = noise.unit(name, trip, "before revision")
    if draw < _MISSING_SHARE:
        return None
    if draw >= _MISSING_SHARE + _MOVED_SHARE:
        return departure
    minutes = 1 + noise.pick(_LARGEST_MOVE_MINUTES, name, trip, "moved by")
    departs_at = departure.departs_at + 60 * minutes
    text = departure_text(network, schedule, departs_at, past_24=line.counts_past_24)
    return replace(departure, departs_at=departs_at, text=text)


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

"""Lists the departures from the origin of a line on a date, by service and direction."""

from dataclasses import dataclass

from transit_emulator.days.schedule import Schedule
from transit_emulator.local_time import DAY_SECONDS, local
from transit_emulator.networks.network import INBOUND, OUTBOUND, Network


@dataclass(frozen=True, slots=True)
class Departure:
    """A scheduled departure from the origin; `trip` is a row of its schedule, `text` what is written."""

    trip: int
    trip_id: str
    departs_at: int
    text: str


@dataclass(frozen=True, slots=True)
class Leg:
    """One direction of a service (`tratta`); a junk leg has no description."""

    direction: int
    description: str
    headsign: str
    departures: tuple[Departure, ...]


@dataclass(frozen=True, slots=True)
class Service:
    """A service of a line: usually both directions between two termini."""

    code: str
    is_slash: bool
    legs: tuple[Leg, ...]


def timetable(network: Network, schedule: Schedule, line: int) -> tuple[Service, ...]:
    """Return the services of a line on the schedule's date; a leg without trips has no departures."""
    codes: dict[str, list[int]] = {}
    for pattern in network.patterns_of_line.get(line, []):
        codes.setdefault(network.patterns[pattern].service_code, []).append(pattern)
    services = [_service(network, schedule, code, patterns) for code, patterns in sorted(codes.items())]
    if services and network.lines[line].has_junk_service:
        services.append(_junk(services[0]))
    return tuple(services)


def _service(network: Network, schedule: Schedule, code: str, patterns: list[int]) -> Service:
    legs = []
    for direction in (OUTBOUND, INBOUND):
        here = [pattern for pattern in patterns if network.patterns[pattern].direction == direction]
        if here:
            legs.append(_leg(network, schedule, here))
        elif direction == OUTBOUND:
            legs.append(Leg(OUTBOUND, "Nessuna corsa", "", ()))
    return Service(code, any(network.patterns[pattern].is_slash for pattern in patterns), tuple(legs))


def _leg(network: Network, schedule: Schedule, patterns: list[int]) -> Leg:
    first = network.patterns[patterns[0]]
    origin = network.stops[first.stops[0]].name
    line = network.lines[first.line]
    rows = [row for pattern in patterns for row in schedule.rows_of_pattern(network, pattern)]
    found = [_departure(network, schedule, row, past_24=line.counts_past_24) for row in rows]
    found.sort(key=lambda departure: (departure.departs_at, departure.trip))
    return Leg(first.direction, f"{origin} - {first.headsign}", first.headsign, tuple(found))


def _departure(network: Network, schedule: Schedule, row: int, *, past_24: bool) -> Departure:
    departs_at = int(schedule.scheduled_at[row, 0])
    trip_id = network.trips[int(schedule.trips[row])].id
    return Departure(row, trip_id, departs_at, departure_text(network, schedule, departs_at, past_24=past_24))


def departure_text(network: Network, schedule: Schedule, departs_at: int, *, past_24: bool) -> str:
    """Return `HH:MM`: local clock time, or hours above 24 after midnight if `past_24`."""
    seconds = departs_at - schedule.starts_at
    if past_24 and seconds >= DAY_SECONDS:
        return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}"
    return local(departs_at, network.zone).strftime("%H:%M")


def _junk(main: Service) -> Service:
    """Return an irregular entry, as real timetables have: a leg without a description that repeats times."""
    return Service("99", is_slash=False, legs=(Leg(OUTBOUND, "", "", main.legs[0].departures[:2]),))

"""Lists the departures from the origin of a line on a date, by service and direction."""

from dataclasses import dataclass

from transit_emulator.days.schedule import Schedule
from transit_emulator.local_time import DAY_SECONDS, local
from transit_emulator.networks.network import INBOUND, OUTBOUND, Network


@dataclass(frozen=True, slots=True)
class Departure:
    """A scheduled departure from the origin; `text` is how the timetable writes it."""

    trip: int
    departs_at: int
    text: str


@dataclass(frozen=True, slots=True)
class Leg:
    """One direction of a service; junk legs have no description."""

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


def timetable(network: Network, plan: Schedule, line: int) -> tuple[Service, ...]:
    """Return the services of a line on the schedule's date; legs that do not run have no departures."""
    codes: dict[str, list[int]] = {}
    for pattern in network.patterns_of_line.get(line, []):
        codes.setdefault(network.patterns[pattern].service_code, []).append(pattern)
    services = [_service(network, plan, code, patterns) for code, patterns in sorted(codes.items())]
    if services and network.lines[line].has_junk_service:
        services.append(_junk(services[0]))
    return tuple(services)


def _service(network: Network, plan: Schedule, code: str, patterns: list[int]) -> Service:
    legs = []
    for direction in (OUTBOUND, INBOUND):
        here = [pattern for pattern in patterns if network.patterns[pattern].direction == direction]
        if here:
            legs.append(_leg(network, plan, here))
        elif direction == OUTBOUND:
            legs.append(Leg(OUTBOUND, "Nessuna corsa", "", ()))
    return Service(code, any(network.patterns[pattern].is_slash for pattern in patterns), tuple(legs))


def _leg(network: Network, plan: Schedule, patterns: list[int]) -> Leg:
    first = network.patterns[patterns[0]]
    origin = network.stops[first.stops[0]].name
    line = network.lines[first.line]
    rows = [row for pattern in patterns for row in plan.rows_of_pattern(network, pattern)]
    found = [
        Departure(
            row,
            int(plan.scheduled_at[row, 0]),
            departure_text(network, plan, int(plan.scheduled_at[row, 0]), past_24=line.counts_past_24),
        )
        for row in rows
    ]
    found.sort(key=lambda departure: (departure.departs_at, departure.trip))
    return Leg(first.direction, f"{origin} - {first.headsign}", first.headsign, tuple(found))


def departure_text(network: Network, plan: Schedule, departs_at: int, *, past_24: bool) -> str:
    """Return `HH:MM`: the local clock, or hours counted on past 24 where the line writes so."""
    seconds = departs_at - plan.starts_at
    if past_24 and seconds >= DAY_SECONDS:
        return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}"
    return local(departs_at, network.zone).strftime("%H:%M")


def _junk(main: Service) -> Service:
    """Return what real timetables also carry: a leg without a description that repeats times."""
    return Service("99", is_slash=False, legs=(Leg(OUTBOUND, "", "", main.legs[0].departures[:2]),))

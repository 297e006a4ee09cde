"""Builds the small network: fourteen lines around the clock, with each irregularity of a real network."""

from dataclasses import dataclass, replace

from transit_emulator.networks.assembly import (
    Band,
    DirectionSpec,
    LineSpec,
    assemble,
    departures,
    listed_stops,
    place_at,
)
from transit_emulator.networks.calendar import HOLIDAY, SATURDAY, WORKDAY, WeekCalendar
from transit_emulator.networks.network import INBOUND, OUTBOUND, Line, Network, Stop

# Each place with hundreds of metres east and north of the harbour, on a coast that runs north.
_MAP = """Piazza Fontane 4 0|Via dei Mercanti 8 1|Ponte Vecchio 12 3|Largo Sole 15 6|Corso Italia 17 10
Stazione Nord 18 14|Via Pace 19 18|Piazza Verdi 22 21|Ospedale 26 22|Via del Campo 30 23|Porta Nuova 34 24
Via Roma 38 25|San Martino 41 28|Colle Alto 44 31|Via Fiume 12 16|Molo Antico 7 17|Lungomare 1 4 20
Lungomare 2 3 24|Villa Serena 4 28|Sant'Anna 7 31|Via Torino 19 4|Mercato 22 6|Via Napoli 25 9|Stadio 24 13
Via Gallo 22 16|Fiera 26 -2|Via Olmi 30 -1|Piazza Bandiera 33 2|Scuole 36 5|Via Rio 39 8|Valle 1 42 12
Valle 2 44 16|Cimitero 46 20|Borgo Sotto 50 21|Via Moro 38 1|Cave 42 0|Belvedere 39 29|Castello 36 31
Giardini 33 28|Pra' Lungo 47 26"""
_LISTED = [entry.rsplit(" ", 2) for row in _MAP.splitlines() for entry in row.split("|")]
_PLACES = tuple(name for name, _, _ in _LISTED)
_WHERE = tuple((100 * int(east), 100 * int(north)) for _, east, north in _LISTED)
_FIVE_DIGIT_PLACE = 39
_RAIL_STOPS = {"IS01": (3_000, 3_600), "IS02": (2_800, 4_300), "IS03": (2_600, 5_100), "IS04": (2_400, 6_000)}
_LIFTS = ("Castello", "Belvedere", "Porta Nuova", "Via Torino", "Colle Alto", "Molo Antico")
_RAILWAYS = ("Funicolare Sant'Anna", "Cremagliera Città Alta")


@dataclass(frozen=True, slots=True)
class _Route:
    """A line, given by the places it serves and its headway by day."""

    code: str
    number: str
    places: tuple[int, ...]
    every_minutes: float
    note: str = ""
    is_circular: bool = False
    is_night_only: bool = False
    counts_past_24: bool = False
    has_junk_service: bool = False
    short_until: int = 0


_ROUTES = (
    _Route("001-00", "1", (*range(14),), 8, short_until=8, has_junk_service=True),
    _Route("003-00", "3", (0, 1, 2, 3, 4, 5, 14, 15, 16, 17, 18, 19), 10, counts_past_24=True),
    _Route("005-00", "5", (20, 21, 22, 23, 24, 6, 7, 8, 9), 8),
    _Route("005-03", "5/", (20, 21, 22, 23, 24, 6), 15, note="Limitata a Via Pace"),
    _Route("018-00", "18", (*range(25, 34),), 10),
    _Route("018-01", "18", (25, 26, 27, 28, 34, 35), 20, counts_past_24=True),
    _Route("018-02", "18/", (25, 26, 27, 28), 20, note="Corse scolastiche"),
    _Route("034-00", "34", (10, 11, 36, 37, 38, 10), 10, note="Linea circolare", is_circular=True),
    _Route("607-00", "607", (13, 39, 32, 33), 20, counts_past_24=True),
    _Route("N1-00", "N1", (0, 1, 2, 3, 20, 21), 15, is_night_only=True),
)


def small_network() -> Network:
    """Return the network, which is independent of any seed."""
    stops = [
        Stop(_stop_code(place, side), name, place_at(*_WHERE[place], side))
        for place, name in enumerate(_PLACES)
        for side in (0, 1)
    ]
    stops += [Stop(code, f"Ferrovia {code}", place_at(*where)) for code, where in _RAIL_STOPS.items()]
    specs = [_spec(route, stops) for route in _ROUTES]
    return assemble("small", WeekCalendar(), stops, [*specs, *_odd_lines(stops)], _LIFTS, railways=_RAILWAYS)


def _stop_code(place: int, side: int) -> str:
    if place == _FIVE_DIGIT_PLACE:
        return f"1{place:03d}{side}"
    return f"{100 + 2 * place + side:04d}"


def _bands(route: _Route, slower: float) -> list[Band]:
    day, night = route.every_minutes * slower, max(12.0, route.every_minutes * slower)
    if route.is_night_only:
        return [Band(22, 28, night)]
    return [Band(4, 6, night), Band(6, 21, day), Band(21, 28, night)]


def _departures(route: _Route, offset_minutes: float) -> dict[str, tuple[int, ...]]:
    slower = {WORKDAY: 1.0, SATURDAY: 1.25, HOLIDAY: 1.5}
    return {kind: departures(_bands(route, factor), offset_minutes) for kind, factor in slower.items()}


def _spec(route: _Route, stops: list[Stop]) -> LineSpec:
    out = tuple(2 * place for place in route.places)
    back = () if route.is_circular else tuple(2 * place + 1 for place in reversed(route.places))
    first, last = _PLACES[route.places[0]], _PLACES[route.places[-1]]
    directions = [DirectionSpec(OUTBOUND, out, last, _departures(route, 0))]
    if back:
        directions.append(DirectionSpec(INBOUND, back, first, _departures(route, route.every_minutes / 2)))
    if route.short_until:
        directions += _short_runs(route, out, back)
    listed = {OUTBOUND: listed_stops(route.code + "_1", stops, out)}
    if back:
        listed[INBOUND] = listed_stops(route.code + "_2", stops, back)
    line = Line(
        route.code,
        route.number,
        (first, last),
        listed,
        note=route.note,
        counts_past_24=route.counts_past_24,
        has_junk_service=route.has_junk_service,
    )
    return LineSpec(line, tuple(directions))


def _short_runs(route: _Route, out: tuple[int, ...], back: tuple[int, ...]) -> list[DirectionSpec]:
    half_hourly = replace(route, every_minutes=30)
    until = _PLACES[route.places[route.short_until - 1]]
    return [
        DirectionSpec(
            OUTBOUND, out[: route.short_until], until, _departures(half_hourly, 3), "02", is_slash=True
        ),
        DirectionSpec(
            INBOUND, back[-route.short_until :], _PLACES[0], _departures(half_hourly, 18), "02", is_slash=True
        ),
    ]


def _odd_lines(stops: list[Stop]) -> list[LineSpec]:
    """Return a Tuesday line, an inactive line, a railway without predictions and a metro without stops."""
    market = (60, 62, 78)
    weekly = DirectionSpec(OUTBOUND, market, "Pra' Lungo", {"TUE": departures([Band(7, 13, 60)])})
    rail = tuple(range(len(stops) - len(_RAIL_STOPS), len(stops)))
    hourly = {kind: departures([Band(6, 22, 60)]) for kind in (WORKDAY, SATURDAY, HOLIDAY)}
    train = [
        DirectionSpec(OUTBOUND, rail, "Casella", hourly),
        DirectionSpec(INBOUND, rail[::-1], "Manin", hourly),
    ]
    train_stops = {
        OUTBOUND: listed_stops("FGC-10_1", stops, rail),
        INBOUND: listed_stops("FGC-10_2", stops, rail[::-1]),
    }
    market_stops = {OUTBOUND: listed_stops("740-00_1", stops, market)}
    closed_stops = {OUTBOUND: listed_stops("374-00_1", stops, (40, 42, 44))}
    return [
        LineSpec(
            Line("740-00", "740", ("Valle 1", "Pra' Lungo"), market_stops, note="Si effettua il martedì"),
            (weekly,),
        ),
        LineSpec(Line("374-00", "374", ("Via Torino", "Via Napoli"), closed_stops, is_active=False)),
        LineSpec(Line("FGC-10", "FGC", ("Manin", "Casella"), train_stops, is_tracked=False), tuple(train)),
        LineSpec(Line("MM-00", "MM", ("Brin", "Brignole"), {})),
    ]

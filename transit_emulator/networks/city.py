"""Builds the city network (234 lines, 2,718 stops, about 8,000 trips on a working day) and the metropolis.

The metropolis (about 5,000 stops, 12,000 trips) is too large for the free allowance.
"""

from collections.abc import Iterator

from transit_emulator import noise
from transit_emulator.networks.assembly import (
    Band,
    DirectionSpec,
    LineSpec,
    assemble,
    departures,
    listed_stops,
)
from transit_emulator.networks.calendar import HOLIDAY, SATURDAY, WORKDAY, WeekCalendar
from transit_emulator.networks.city_lines import CityLine, city_lines
from transit_emulator.networks.city_map import METRO_STOPS, SPECIAL_STOPS, CityMap, CitySize, city_map
from transit_emulator.networks.city_variants import with_variant
from transit_emulator.networks.network import INBOUND, OUTBOUND, Line, ListedStop, Network, Stop
from transit_emulator.networks.traffic import HEAVY

_SLOWER = {WORKDAY: 1.0, SATURDAY: 1.35, HOLIDAY: 1.8}
_FIRST_HOUR, _LAST_HOUR = 5.0, 24.5
_PAST_24_SHARE, _JUNK_SHARE = 0.5, 0.05
_SHORT_EVERY_MINUTES = 60.0
_N_LIFTS = 12
_RAILWAYS = (
    "Funicolare Righi", "Funicolare Sant'Anna", "Funicolare Università", "Cremagliera Città Alta",
)  # fmt: skip
_CITY = CitySize(
    n_places=1_347, n_coast=44, n_main=24, n_local=88, n_slash=40, n_night=12, first_local=30,
)  # fmt: skip
_METROPOLIS = CitySize(
    n_places=2_494, n_coast=50, n_main=32, n_local=160, n_slash=70, n_night=20, first_local=200,
)  # fmt: skip


def city_network() -> Network:
    """Return the network of the city, which is independent of any seed."""
    return _network("city", _CITY)


def metropolis_network() -> Network:
    """Return the network of the metropolis, which is independent of any seed."""
    return _network("metropolis", _METROPOLIS)


def _network(name: str, size: CitySize) -> Network:
    city = city_map(size)
    specs = [_spec(city, line) for line in city_lines(city)]
    lifts = [f"{number} {city.names[100 + 37 * number]}" for number in range(1, _N_LIFTS + 1)]
    return assemble(
        name,
        WeekCalendar(),
        city.stops,
        [*specs, *_rails(city.stops)],
        lifts,
        railways=_RAILWAYS,
        traffic=HEAVY,
    )


def _spec(city: CityMap, line: CityLine) -> LineSpec:
    out = tuple(2 * place for place in line.places)
    back = () if line.is_circular else tuple(2 * place + 1 for place in reversed(line.places))
    directions = _directions(city, line, out, back) if line.is_active and line.places else ()
    return LineSpec(_line(city, line, {OUTBOUND: out, INBOUND: back}), directions)


def _line(city: CityMap, line: CityLine, sequences: dict[int, tuple[int, ...]]) -> Line:
    listed = {
        direction: listed_stops(f"{line.code}_{direction + 1}", city.stops, stops)
        for direction, stops in sequences.items()
        if stops
    }
    ends = (city.names[line.places[0]], city.names[line.places[-1]]) if line.places else ("", "")
    return Line(
        code=line.code,
        number=line.number,
        termini=ends,
        stops=listed,
        is_active=line.is_active,
        note=line.note,
        counts_past_24=noise.unit("past 24", line.code) < _PAST_24_SHARE,
        has_junk_service=noise.unit("junk", line.code) < _JUNK_SHARE,
    )


def _directions(
    city: CityMap, line: CityLine, out: tuple[int, ...], back: tuple[int, ...]
) -> tuple[DirectionSpec, ...]:
    first, last = city.names[line.places[0]], city.names[line.places[-1]]
    half = (line.day_minutes or line.other_minutes) / 2
    directions = [DirectionSpec(OUTBOUND, out, last, _departures(line, _shift(line, 0)))]
    if back:
        directions.append(DirectionSpec(INBOUND, back, first, _departures(line, _shift(line, 1) + half)))
    varied = [each for spec in directions for each in _varied(city, line, spec)]
    if line.has_short_runs:
        varied += _short_runs(city, line, out, back)
    return tuple(varied)


def _varied(city: CityMap, line: CityLine, spec: DirectionSpec) -> Iterator[DirectionSpec]:
    headsigns = [city.names[stop // 2] for stop in spec.stops]
    return with_variant(f"{line.code}/{spec.direction}", spec, headsigns)


def _shift(line: CityLine, direction: int) -> float:
    return noise.pick(60, "shift", line.code, direction)


def _short_runs(
    city: CityMap, line: CityLine, out: tuple[int, ...], back: tuple[int, ...]
) -> list[DirectionSpec]:
    kept = len(out) // 2
    times = {WORKDAY: departures([Band(7.0, 20.0, _SHORT_EVERY_MINUTES)], _shift(line, 2))}
    until, start = city.names[line.places[kept - 1]], city.names[line.places[0]]
    return [
        DirectionSpec(OUTBOUND, out[:kept], until, times, "02", is_slash=True),
        DirectionSpec(INBOUND, back[-kept:], start, times, "02", is_slash=True),
    ]


def _departures(line: CityLine, offset_minutes: float) -> dict[str, tuple[int, ...]]:
    """Return the departures by kind of day; a line that runs on one weekday has only that one."""
    if line.only_on:
        return {line.only_on: departures(_bands(line, 1.0), offset_minutes)}
    return {kind: departures(_bands(line, slower), offset_minutes) for kind, slower in _SLOWER.items()}


def _bands(line: CityLine, slower: float) -> list[Band]:
    first, last = line.hours
    if line.is_night:
        return [Band(first, last, line.other_minutes)]
    bands = [Band(first, last, line.day_minutes * slower)]
    if line.other_minutes:
        bands += [
            Band(_FIRST_HOUR, first, line.other_minutes * slower),
            Band(last, _LAST_HOUR, line.other_minutes * slower),
        ]
    return bands


def _rails(stops: tuple[Stop, ...]) -> list[LineSpec]:
    """Return the lines without live predictions: metro, the railway and six funiculars."""
    position = {stop.code: number for number, stop in enumerate(stops)}
    metro = tuple(position[code] for code in METRO_STOPS)
    plants = [position[code] for code in SPECIAL_STOPS]
    slopes = [tuple(plants[first : first + 2]) for first in range(4, len(plants), 2)]
    return [
        _rail("MM-00", "MM", stops, metro, 7.0),
        _rail("FGC-10", "FGC", stops, tuple(plants[:4]), 80.0),
        *(_rail(f"F{number}-00", f"F{number}", stops, ends, 15.0) for number, ends in enumerate(slopes, 1)),
    ]


def _rail(
    code: str, number: str, stops: tuple[Stop, ...], called: tuple[int, ...], minutes: float
) -> LineSpec:
    first, last = stops[called[0]].name, stops[called[-1]].name
    times = {kind: departures([Band(6.5, 21.0, minutes * slower)]) for kind, slower in _SLOWER.items()}
    listed: dict[int, tuple[ListedStop, ...]] = {
        OUTBOUND: listed_stops(code + "_1", stops, called),
        INBOUND: listed_stops(code + "_2", stops, called[::-1]),
    }
    line = Line(code, number, (first, last), listed, is_tracked=False, note="Senza previsioni in tempo reale")
    return LineSpec(
        line,
        (DirectionSpec(OUTBOUND, called, last, times), DirectionSpec(INBOUND, called[::-1], first, times)),
    )

"""Generates the map of a city: a coast road, valleys that branch off, and two stops at each place."""

from dataclasses import dataclass
from functools import cached_property

from transit_emulator import noise
from transit_emulator.networks.assembly import place_at
from transit_emulator.networks.network import Stop

_SHORTEST_VALLEY, _LONGEST_VALLEY = 12, 32
_FIVE_DIGIT_PLACES = 99  # two stops each
_BETWEEN_PLACES = 400.0  # metres
_GOLDEN_RATIO = 0.618034
METRO_STOPS = tuple(f"MM{number:02d}" for number in range(1, 9))
SPECIAL_STOPS = tuple(f"IS{number:02d}" for number in range(1, 17))

_WAYS = ("Via", "Corso", "P.za", "Salita", "Largo", "Via", "Viale", "Passo", "Via", "Scalinata")
_NAMES = """Avio Bruno Cairoli Dante Europa Ferrari Gallino Isonzo Lagaccio Manzoni Negri Oriani Piave
Quarto Rossetti Sardegna Torti Untoria Volta Zara Amarena Bolzano Cantore Donghi Emilia Fillak Giro
Imperia Lodi Molassana Napoli Orgiero Pastore Quezzi Robino Struppa Tanini Usodimare Vesuvio Zella
Aspromonte Borgoratti Costanzi Doria Erzelli Foce Granarolo Irpinia Linneo Menotti Nervi Olmo Pra'"""
_QUARTERS = """Centro Ponente Levante Porto Marina Castello Valbisagno Collina Fornaci Serra Borzoli
Albaro Oregina Teglia Begato Apparizione Sant'Ilario Crevari Voltri Quinto"""


@dataclass(frozen=True, slots=True)
class CitySize:
    """How much a city has of everything; local lines are numbered from `first_local`."""

    n_places: int
    n_coast: int
    n_main: int
    n_local: int
    n_slash: int
    n_night: int
    first_local: int


@dataclass(frozen=True, slots=True)
class Valley:
    """A road that leaves the coast at the place `mouth` and leads to `places`, in this order."""

    mouth: int
    places: tuple[int, ...]


@dataclass(frozen=True)
class CityMap:
    """The first places follow the coast, the others lie in valleys; place `p` has stops `2p` and `2p + 1`."""

    size: CitySize
    valleys: tuple[Valley, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """A name for each place."""
        return tuple(_place_name(place) for place in range(self.size.n_places))

    @cached_property
    def stops(self) -> tuple[Stop, ...]:
        """All stops: two for each place, then the stations of metro, railway and funiculars."""
        sides = [
            Stop(_code(2 * place + side, self.size.n_places), name, place_at(*where, side))
            for place, (name, where) in enumerate(zip(self.names, self._metres, strict=True))
            for side in (0, 1)
        ]
        plants = [
            Stop(code, f"Stazione {code}", place_at(_BETWEEN_PLACES * number, _BETWEEN_PLACES / 2))
            for number, code in enumerate((*METRO_STOPS, *SPECIAL_STOPS))
        ]
        return (*sides, *plants)

    @cached_property
    def _metres(self) -> list[tuple[float, float]]:
        """Metres east and north of each place: the coast runs east, valleys north, each somewhat askew."""
        coast = [(_BETWEEN_PLACES * place, 0.0) for place in range(self.size.n_coast)]
        return coast + [
            (coast[valley.mouth][0] + step * _BETWEEN_PLACES * _slope(number), step * _BETWEEN_PLACES)
            for number, valley in enumerate(self.valleys)
            for step in range(1, len(valley.places) + 1)
        ]

    def coast(self, first: int, last: int) -> list[int]:
        """Return the places along the coast from one to another, both included."""
        step = 1 if last >= first else -1
        return list(range(first, last + step, step))

    def local_route(self, valley: int, coast_places: int, depth: int) -> list[int]:
        """Return the places from `coast_places` before a valley's mouth to `depth` places up the valley."""
        here = self.valleys[valley]
        last = self.size.n_coast - 1
        start = here.mouth + (-coast_places if here.mouth > last // 2 else coast_places)
        start = min(max(start, 0), last)
        return [*self.coast(start, here.mouth), *here.places[:depth]]

    def through_route(self, from_valley: int, to_valley: int, depths: tuple[int, int]) -> list[int]:
        """Return the places down one valley, along the coast, and up another."""
        first, last = self.valleys[from_valley], self.valleys[to_valley]
        down = list(reversed(first.places[: depths[0]]))
        return [*down, *self.coast(first.mouth, last.mouth), *last.places[: depths[1]]]


def city_map(size: CitySize) -> CityMap:
    """Return the map, which is always the same for a size."""
    valleys: list[Valley] = []
    place = size.n_coast
    while place < size.n_places:
        number = len(valleys)
        span = _LONGEST_VALLEY - _SHORTEST_VALLEY + 1
        length = min(_SHORTEST_VALLEY + noise.pick(span, "valley", number), size.n_places - place)
        valleys.append(Valley(noise.pick(size.n_coast, "mouth", number), tuple(range(place, place + length))))
        place += length
    return CityMap(size, tuple(valleys))


def _code(number: int, n_places: int) -> str:
    """Return a stop's code: four digits, five for the stops of the last places."""
    fives = 2 * (n_places - _FIVE_DIGIT_PLACES)
    return f"{number + 1:04d}" if number < fives else f"{10_001 + number - fives}"


def _slope(valley: int) -> float:
    return valley * _GOLDEN_RATIO % 1 - 0.5  # no two alike, also of valleys with the same mouth


def _place_name(place: int) -> str:
    names, quarters = _NAMES.split(), _QUARTERS.split()
    way, name = _WAYS[noise.pick(len(_WAYS), "way", place)], names[noise.pick(len(names), "name", place)]
    return f"{way} {name} {1 + place % 9} ({quarters[place % len(quarters)]})"

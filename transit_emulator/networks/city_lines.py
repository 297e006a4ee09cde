"""Generates the lines of the city: codes, numbers, routes and headways, as irregular as real ones."""

from collections.abc import Iterator
from dataclasses import dataclass

from transit_emulator import noise
from transit_emulator.networks.city_map import CityMap

N_CIRCULAR, N_LETTERED, N_WITHOUT_STOPS, N_LIFT_LINES = 9, 19, 27, 12
_SHARED_TWICE, _SHARED_MOST = 11, 5  # how many numbers have two line codes; how many codes 189/ has
_PROVINCE_SHARE = 0.4
_Minutes = tuple[float, float]


@dataclass(frozen=True, slots=True)
class CityLine:
    """A line, given by its places.

    `day_minutes` is the headway by day, `other_minutes` in the early and late hours (0: no service).
    """

    code: str
    number: str
    places: tuple[int, ...]
    day_minutes: float = 0.0
    other_minutes: float = 0.0
    hours: tuple[float, float] = (5.5, 21.0)
    note: str = ""
    only_on: str = ""
    is_circular: bool = False
    is_night: bool = False
    is_active: bool = True
    has_short_runs: bool = False


def city_lines(city: CityMap) -> list[CityLine]:
    """Return all bus lines, and the lines that have no listed stops."""
    main = list(_main_lines(city))
    local = list(_local_lines(city))
    return [
        *main,
        *local,
        *_slash_lines([*main, *local], city.size.n_slash),
        *_shared_numbers(city, local),
        *_night_lines(city),
        *_lettered_lines(city),
        *_lines_without_stops(),
    ]


def _main_lines(city: CityMap) -> Iterator[CityLine]:
    """Yield the main lines: between two valleys, or along the coast."""
    n_valleys = len(city.valleys)
    for number in range(1, city.size.n_main + 1):
        start = noise.pick(n_valleys, "main", number)
        end = (start + 1 + noise.pick(n_valleys - 1, "main to", number)) % n_valleys
        depths = (3 + noise.pick(6, "from", number), 3 + noise.pick(6, "to", number))
        yield CityLine(
            code=f"{number:03d}-00",
            number=str(number),
            places=tuple(city.through_route(start, end, depths)),
            day_minutes=10.0 + noise.pick(10, "headway", number),
            other_minutes=25.0,
            hours=(6.0, 21.0),
            has_short_runs=number % 3 == 0,
        )


def _local_lines(city: CityMap) -> Iterator[CityLine]:
    """Yield the lines of a valley: first one to the end of each, then more; the last nine are circular."""
    for step in range(city.size.n_local):
        valley = step % len(city.valleys)
        number = _local_number(city, step)
        whole = len(city.valleys[valley].places)
        depth = whole if step < len(city.valleys) else max(6, whole - 2 - noise.pick(8, "depth", step))
        route = city.local_route(valley, noise.pick(3, "coast", step), depth)
        loop = route[-8:]
        is_circular = step >= city.size.n_local - N_CIRCULAR
        yield CityLine(
            code=f"{number:03d}-00",
            number=str(number),
            places=(*loop, loop[0]) if is_circular else tuple(route),
            day_minutes=float(48 + 4 * noise.pick(14, "local headway", step)),
            other_minutes=float(60 if noise.unit("local evening", step) < 0.5 else 0),  # noqa: PLR2004 - half
            hours=(6.0, 20.5),
            is_circular=is_circular,
            is_active=step % 23 != 22,  # noqa: PLR2004 - a few are closed
            note="Non effettua servizio festivo" if step % 11 == 0 else "",
        )


def _local_number(city: CityMap, step: int) -> int:
    """Return a number that no other local line has; some are numbers of provincial lines."""
    is_province = noise.unit("province", step) < _PROVINCE_SHARE
    return 601 + step if is_province else city.size.first_local + step


def _slash_lines(lines: list[CityLine], n_lines: int) -> Iterator[CityLine]:
    """Yield short variants, with a line code of their own and a slash after the number."""
    running = [line for line in lines if line.is_active and not line.is_circular]
    for step in range(n_lines):
        whole = running[step * len(running) // n_lines]
        kept = max(6, len(whole.places) * 2 // 3)
        yield CityLine(
            code=f"{whole.code[:3]}-03",
            number=whole.number + "/",
            places=whole.places[:kept],
            day_minutes=150.0,
            hours=(6.5, 19.0),
            note="Corse scolastiche" if step % 7 == 0 else "",
        )


def _shared_numbers(city: CityMap, local: list[CityLine]) -> Iterator[CityLine]:
    """Yield lines that share their number: eleven pairs, and five with the number 189/."""
    for step in range(_SHARED_TWICE):
        other = local[3 * step + 1]
        yield _rare_line(city, f"{other.code[:3]}-01", other.number, step)
    for variant in range(_SHARED_MOST):
        only_on = "TUE" if variant == 1 else ""
        note = "Si effettua solo il martedì" if only_on else ""
        yield _rare_line(city, f"189-{variant:02d}", "189/", 100 + variant, note=note, only_on=only_on)


def _rare_line(
    city: CityMap, code: str, number: str, step: int, *, note: str = "", only_on: str = ""
) -> CityLine:
    valley = noise.pick(len(city.valleys), "rare", step)
    depth = min(len(city.valleys[valley].places), 9 + noise.pick(9, "rare depth", step))
    places = tuple(city.local_route(valley, 2, depth))
    return CityLine(code, number, places, day_minutes=120.0, hours=(6.5, 20.0), note=note, only_on=only_on)


def _night_lines(city: CityMap) -> Iterator[CityLine]:
    n_valleys = len(city.valleys)
    for number in range(1, city.size.n_night + 1):
        start, end = noise.pick(n_valleys, "night", number), noise.pick(n_valleys, "night to", number)
        route = city.through_route(start, end, (6, 6)) if start != end else city.local_route(start, 9, 12)
        yield CityLine(
            f"N{number}-00", f"N{number}", tuple(route), other_minutes=45.0, hours=(21.5, 28.0), is_night=True
        )


def _lettered_lines(city: CityMap) -> Iterator[CityLine]:
    for step in range(N_LETTERED):
        letter = "GIT"[step % 3]
        number = f"{letter}{step + 1}"
        yield _rare_line(city, f"{number}-{'00' if letter == 'I' else '03'}", number, 200 + step)


def _lines_without_stops() -> Iterator[CityLine]:
    """Yield lifts and services on demand: they are lines, but no stop is listed for them."""
    for step in range(N_WITHOUT_STOPS):
        if step < N_LIFT_LINES:
            yield CityLine(f"AS{step + 1:02d}-00", f"AS{step + 1}", (), note="Ascensore")
        else:
            number = f"T{370 + step}"
            yield CityLine(f"{number}-00", number, (), note="Servizio a chiamata")

"""Gives some lines of the city a second pattern, which a few of their trips follow."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transit_emulator import noise
from transit_emulator.networks.assembly import DirectionSpec

_SHARE = 0.3  # of the directions: those with a second pattern
_ONE_IN = 10  # of their trips
_FEWEST_STOPS = 12
_DETOUR_STOPS = 3


def with_variant(name: str, spec: DirectionSpec, headsigns: Sequence[str]) -> Iterator[DirectionSpec]:
    """Yield a direction, some without a tenth of its trips, which follow another pattern.

    That one either leaves out some stops between, which the timetable does not tell, or ends at three
    quarters of the way, as a service of its own; `headsigns` names the end of a trip at each stop.
    """
    if len(spec.stops) < _FEWEST_STOPS or noise.unit("variant", name) >= _SHARE:
        yield spec
        return
    first = noise.pick(_ONE_IN, "variant", name, "first")
    numbered = {kind: list(enumerate(leaves, start=first)) for kind, leaves in spec.departures.items()}
    main, other = (
        {
            kind: tuple(at for number, at in leaves if (number % _ONE_IN == 0) is is_other)
            for kind, leaves in numbered.items()
        }
        for is_other in (False, True)
    )
    yield replace(spec, departures=main)
    n_stops = len(spec.stops)
    if spec.stops[0] == spec.stops[-1] or noise.unit("variant", name, "detour") < 0.5:  # noqa: PLR2004 - half
        start = 1 + noise.pick(n_stops - _DETOUR_STOPS - 2, "variant", name, "detour at")
        stops = spec.stops[:start] + spec.stops[start + _DETOUR_STOPS :]
        yield replace(spec, departures=other, stops=stops)
    else:
        kept = n_stops * 3 // 4
        yield replace(
            spec, departures=other, stops=spec.stops[:kept], headsign=headsigns[kept - 1], service_code="03",
            is_slash=True,
        )  # fmt: skip

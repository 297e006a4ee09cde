"""Gives some lines of the city a second pattern, which a few of their trips follow."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from transit_emulator import noise
from transit_emulator.networks.assembly import DirectionSpec

_SHARE = 0.3  # of the directions: those with a second pattern
_DETOUR_SHARE = 0.5  # of the second patterns: those that leave out stops between
_ONE_IN = 10  # of the trips of a direction follow its second pattern
_FEWEST_STOPS, _DETOUR_STOPS = 12, 3


def with_variant(name: str, spec: DirectionSpec, headsigns: Sequence[str]) -> Iterator[DirectionSpec]:
    """Yield a direction of a line; some without a tenth of its trips, and with these on another pattern.

    That pattern either leaves out stops between, which the timetable does not tell, or ends at three quarters
    of the way, as a service of its own; `headsigns` names the end of a trip at each stop.
    """
    if len(spec.stops) < _FEWEST_STOPS or noise.unit("variant", name) >= _SHARE:
        yield spec
        return
    first = noise.pick(_ONE_IN, "variant", name, "first")
    other = {kind: leaves[first::_ONE_IN] for kind, leaves in spec.departures.items()}
    main = {
        kind: tuple(sorted(set(leaves) - set(other[kind]))) for kind, leaves in spec.departures.items()
    }  # fmt: skip
    yield replace(spec, departures=main)
    is_circular = spec.stops[0] == spec.stops[-1]
    is_detour = is_circular or noise.unit("variant", name, "detour") < _DETOUR_SHARE
    varied = _with_detour(name, spec) if is_detour else _short(spec, headsigns)
    yield replace(varied, departures=other)


def _with_detour(name: str, spec: DirectionSpec) -> DirectionSpec:
    start = 1 + noise.pick(len(spec.stops) - _DETOUR_STOPS - 2, "variant", name, "detour at")
    return replace(spec, stops=spec.stops[:start] + spec.stops[start + _DETOUR_STOPS :])


def _short(spec: DirectionSpec, headsigns: Sequence[str]) -> DirectionSpec:
    kept = len(spec.stops) * 3 // 4
    return replace(
        spec, stops=spec.stops[:kept], headsign=headsigns[kept - 1], service_code="03", is_slash=True
    )

"""What the tests of planning share: a line of nine stops, and what its stops list."""

from collections.abc import Iterable

from transit_etl.collect.planning.policy import Listing, Observation
from transit_etl.collect.planning.stop_patterns import LineStops

STOPS = [f"{number:04}" for number in range(9)]
LINE = LineStops("15", tuple(STOPS))


def listing(predicted_at: float, trip_id: str = "T1", *, is_live: bool = True) -> Listing:
    return Listing("15", "CENTRO", trip_id, predicted_at, is_live)


def good(stop: str, at: float, listings: Iterable[Listing] = ()) -> Observation:
    return Observation(stop, at, is_good=True, listings=tuple(listings))


def failed(stop: str, at: float, *, is_refused: bool = False) -> Observation:
    return Observation(stop, at, is_good=False, is_refused=is_refused)

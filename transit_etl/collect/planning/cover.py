"""The cover policy: asks in turn a few stops that together see every line in both directions.

A baseline to compare the adaptive policy with.
"""

from collections.abc import Iterable

from transit_etl.collect.planning.policy import Rotation
from transit_etl.collect.planning.stop_patterns import LineStops


class Cover(Rotation):
    """Rotates over a small set of stops that has a stop of each line and direction."""

    def __init__(self, stop_codes: Iterable[str], all_line_stops: Iterable[LineStops]) -> None:
        known = frozenset(stop_codes)
        super().__init__(covering(known, all_line_stops) or known)


def covering(stop_codes: Iterable[str], all_line_stops: Iterable[LineStops]) -> list[str]:
    """Return known stops, sorted, so that each line and direction with a known stop has one of them.

    A greedy set cover: each time the stop with the most lines and directions that have none yet.
    """
    known = frozenset(stop_codes)
    uncovered: dict[str, set[int]] = {}
    for number, line_stops in enumerate(all_line_stops):
        for code in known.intersection(line_stops.stop_codes):
            uncovered.setdefault(code, set()).add(number)
    chosen: list[str] = []
    while uncovered:
        best = max(sorted(uncovered), key=lambda code: len(uncovered[code]))
        covered = uncovered.pop(best)
        chosen.append(best)
        uncovered = {code: left for code, numbers in uncovered.items() if (left := numbers - covered)}
    return sorted(chosen)

"""Asks in turn few stops that together see every line and direction: a baseline, and a core to build on."""

from collections import deque
from collections.abc import Iterable

from transit_etl.collect.planning.planner import Observation
from transit_etl.collect.planning.stop_patterns import LineStops


class Cover:
    """Rotates over a smallest set of stops through which every course passes, as a greedy choice finds it."""

    def __init__(self, stop_codes: Iterable[str], courses: Iterable[LineStops]) -> None:
        known = frozenset(stop_codes)
        self._turn = deque(covering(known, courses) or sorted(known))

    def observe(self, observation: Observation) -> None:
        """Learn nothing."""

    def choose(self, now: float) -> str:  # noqa: ARG002 - the turn is the same at any time
        """Return the stop whose turn it is."""
        self._turn.rotate(-1)
        return self._turn[-1]


def covering(stop_codes: Iterable[str], courses: Iterable[LineStops]) -> list[str]:
    """Return stops, sorted, so that each course with a known stop has one of them.

    Taken is each time the stop with the most courses that have none yet, so that there are few.
    """
    known = frozenset(stop_codes)
    through: dict[str, set[int]] = {}
    for number, course in enumerate(courses):
        for code in known.intersection(course.stop_codes):
            through.setdefault(code, set()).add(number)
    chosen: list[str] = []
    while through:
        best = max(sorted(through), key=lambda code: len(through[code]))
        covered = through.pop(best)
        chosen.append(best)
        through = {code: left for code, numbers in through.items() if (left := numbers - covered)}
    return sorted(chosen)

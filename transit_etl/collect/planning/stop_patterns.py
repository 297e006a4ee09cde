"""Learns which buses serve which stops, and how long they take from one stop to the next."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

USUAL_HOP_SECONDS = 75.0
SHORTEST_HOP_SECONDS, LONGEST_HOP_SECONDS = 8.0, 900.0
USUAL_HOP_SPREAD, _LEAST_HOP_SPREAD = 40.0, 3.0
UNSURE_OF_SERVED = 4  # a stop that so often lists no bus that should come, and never one, has none
THIRD_MARGIN = 0.12
_REFRESH_SECONDS = 30.0  # so often a route takes over what other lines on it have learned

Service = tuple[str, str]  # a line label and a destination, as a stop shows them


@dataclass(frozen=True, slots=True)
class LineStops:
    """The stops of one direction of a line in order, and the label that stops show for the line."""

    label: str
    stop_codes: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Segment:
    """How long buses take from a stop to the next on average, and the variance of what is known of it."""

    seconds: float = USUAL_HOP_SECONDS
    variance: float = USUAL_HOP_SPREAD**2


@dataclass(slots=True, eq=False)
class StopPattern:
    """A course with what was learned of it: `offsets` are the seconds from its first stop to each stop."""

    label: str
    stop_codes: tuple[str, ...]
    hops: list[Segment] = field(default_factory=list)
    offsets: list[float] = field(default_factory=list)
    seen_at: float = float("-inf")
    refreshed_at: float = float("-inf")
    _doubts: list[float] = field(default_factory=list)
    _shown: list[list[int]] = field(default_factory=list)  # by position: how often not, and how often
    _thirds: list[int | None] = field(default_factory=list)
    _to_come: list[tuple[int, int]] = field(default_factory=list)
    _positions: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.hops = self.hops or [Segment() for _ in self.stop_codes[1:]]
        self.refresh()
        self._shown = [[0, 0] for _ in self.stop_codes]
        self._divide([True] * len(self.stop_codes))
        for position, code in enumerate(self.stop_codes):
            self._positions.setdefault(code, []).append(position)

    def like(self) -> "StopPattern":
        """Return a route over the same stops that begins with what this one has learned."""
        return StopPattern(self.label, self.stop_codes, hops=self.hops)

    def positions(self, stop_code: str) -> list[int]:
        """Return where a stop comes along the route: once as a rule, twice at the ends of a circle."""
        return self._positions.get(stop_code, [])

    def note_shown(self, position: int, *, is_shown: bool) -> None:
        """Remember whether the stop at a position listed a bus that it should have, if buses call there."""
        counts = self._shown[position]
        counts[is_shown] += 1
        if (counts[False] == UNSURE_OF_SERVED and not counts[True]) or (
            counts[True] == 1 and counts[False] >= UNSURE_OF_SERVED
        ):
            self._divide([not no or yes > 0 or no < UNSURE_OF_SERVED for no, yes in self._shown])

    def _divide(self, is_served: list[bool]) -> None:
        """Part the route in thirds, and count for each stop what is still to come."""
        self._thirds = _thirds(is_served)
        n_behind = len(self._thirds) - 1
        self._to_come = [
            (n_behind - position, self._thirds[position + 1 :].count(third))
            for position, third in enumerate(self._thirds)
        ]

    def is_served(self, position: int) -> float:
        """Return how likely it is that a bus calls at a position: short runs leave some out."""
        not_shown, shown = self._shown[position]
        return (shown + 2.0) / (shown + not_shown + 2.0)

    def third(self, position: int) -> int | None:
        """Return 0, 1 or 2: which third of the calls a position surely lies in; no bus may call there."""
        return self._thirds[position]

    def to_come(self, position: int) -> tuple[int, int]:
        """Return how many stops come after a position, and how many of them in the same third."""
        return self._to_come[position]

    def between(self, earliest: float, latest: float) -> range:
        """Return the positions whose offset lies within an interval."""
        return range(bisect_left(self.offsets, earliest), bisect_left(self.offsets, latest))

    def doubt(self, start: int, end: int) -> float:
        """Return the variance of what is known of the time between two positions, in square seconds."""
        return abs(self._doubts[end] - self._doubts[start])

    def learn(self, start: int, end: int, seconds: float, spread: float) -> None:
        """Take over that a bus took so long from one position to a later one, give or take `spread`.

        The difference to what is known is shared out among the hops by how little is known of each, and
        the less of it counts the surer they are: a Kalman filter of which only the diagonal is kept.
        """
        hops = self.hops[start:end]
        known, doubt = sum(hop.seconds for hop in hops), sum(hop.variance for hop in hops)
        seconds = min(max(seconds, len(hops) * SHORTEST_HOP_SECONDS), len(hops) * LONGEST_HOP_SECONDS)
        error, total = seconds - known, doubt + spread * spread
        for hop in hops:
            share = hop.variance / total
            hop.seconds = min(LONGEST_HOP_SECONDS, max(SHORTEST_HOP_SECONDS, hop.seconds + share * error))
            hop.variance = max(_LEAST_HOP_SPREAD**2, hop.variance * (1.0 - share))
        self.refresh()

    def keep_fresh(self, at: float) -> None:
        """Take over now and then what other lines have learned of the streets they share with this one."""
        if at - self.refreshed_at > _REFRESH_SECONDS:
            self.refreshed_at = at
            self.refresh()

    def refresh(self) -> None:
        """Take over what is known of the hops by now; lines that share one learn of it from each other."""
        self.offsets = list(accumulate([hop.seconds for hop in self.hops], initial=0.0))
        self._doubts = list(accumulate([hop.variance for hop in self.hops], initial=0.0))


def _thirds(is_served: list[bool]) -> list[int | None]:
    """Return the third of the served positions that each lies in, None near where two of them meet."""
    n_served, n_before = max(1, sum(is_served)), 0
    found: list[int | None] = []
    for served in is_served:
        along = 3.0 * (n_before + 0.5) / n_served
        low, high = (min(2, max(0, int(along + margin))) for margin in (-THIRD_MARGIN, THIRD_MARGIN))
        found.append(low if low == high else None)
        n_before += served
    return found


class StopPatterns:
    """All routes, and which of them a service runs on: the one that has most of the stops it is seen at."""

    def __init__(self, courses: Iterable[LineStops]) -> None:
        between: dict[tuple[str, str], Segment] = defaultdict(Segment)  # all lines take the same streets
        self.all = [
            StopPattern(
                course.label, course.stop_codes, [between[hop] for hop in pairwise(course.stop_codes)]
            )
            for course in courses
            if course.stop_codes
        ]
        self.through: dict[str, list[StopPattern]] = {}
        self._serving: dict[tuple[str, str], list[StopPattern]] = {}
        for route in self.all:
            for code in dict.fromkeys(route.stop_codes):
                self.through.setdefault(code, []).append(route)
                self._serving.setdefault((route.label, code), []).append(route)
        self._votes: dict[Service, dict[StopPattern, float]] = {}
        self._own: dict[tuple[Service, StopPattern], StopPattern] = {}

    def route_of(self, service: Service, stop_code: str) -> StopPattern | None:
        """Return the route a service seen at a stop runs on, and count this stop for it.

        Each service learns running times of its own: a short run leaves stops of the line out.
        """
        label = service[0]
        candidates = self._serving.get((label, stop_code))
        candidates = candidates or self._serving.get((label.removesuffix("/"), stop_code))  # a short run
        if not candidates:
            return None
        votes = self._votes.setdefault(service, {})
        for route in candidates:
            votes[route] = votes.get(route, 0.0) + 1.0 / len(candidates)
        route = max(candidates, key=lambda candidate: votes[candidate])
        own = self._own.get((service, route))
        if own is None:
            own = self._own[service, route] = route.like()
        return own

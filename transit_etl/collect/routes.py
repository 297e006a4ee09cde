"""Learns which buses serve which stops, and how long they take from one stop to the next."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

USUAL_HOP_SECONDS = 75.0
SHORTEST_HOP_SECONDS, LONGEST_HOP_SECONDS = 8.0, 900.0
SLOWEST_LEARNING = 0.1
SURE_OF_SERVED = 60
THIRD_MARGIN = 0.12

Service = tuple[str, str]  # a line label and a destination, as a stop shows them


@dataclass(frozen=True, slots=True)
class Course:
    """The stops of one direction of a line in order, and the label that stops show for the line."""

    label: str
    stop_codes: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Route:
    """A course with what was learned of it: `offsets` are the seconds from its first stop to each stop."""

    label: str
    stop_codes: tuple[str, ...]
    offsets: list[float] = field(default_factory=list)
    seen_at: float = float("-inf")
    _n_learned: list[int] = field(default_factory=list)
    _first: int = 1_000_000
    _last: int = -1
    _n_served: int = 0
    _positions: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.offsets = self.offsets or [USUAL_HOP_SECONDS * n for n in range(len(self.stop_codes))]
        self._n_learned = [0] * len(self.stop_codes)
        for position, code in enumerate(self.stop_codes):
            self._positions.setdefault(code, []).append(position)

    def like(self) -> "Route":
        """Return a route over the same stops that begins with what this one has learned."""
        return Route(self.label, self.stop_codes, list(self.offsets))

    def positions(self, stop_code: str) -> list[int]:
        """Return where a stop comes along the route: once as a rule, twice at the ends of a circle."""
        return self._positions.get(stop_code, [])

    def note_served(self, position: int) -> None:
        """Take note that buses call at a position."""
        self._first = min(self._first, position)
        self._last = max(self._last, position)
        self._n_served += 1

    def third(self, position: int) -> int | None:
        """Return 0, 1 or 2: which third of the served part of the route a position surely lies in."""
        first, last = 0, len(self.stop_codes) - 1
        if self._n_served >= SURE_OF_SERVED:
            first, last = self._first, self._last
        return _third(position - first, last - first + 1)

    def between(self, earliest: float, latest: float) -> range:
        """Return the positions whose offset lies within an interval."""
        return range(bisect_left(self.offsets, earliest), bisect_left(self.offsets, latest))

    def learn(self, start: int, end: int, seconds: float, slowest: float = SLOWEST_LEARNING) -> None:
        """Take over how long a bus took from one position to a later one, all hops alike.

        The first observations count fully, later ones for at least the share `slowest`.
        """
        known = self.offsets[end] - self.offsets[start]
        hops = end - start
        seconds = min(max(seconds, hops * SHORTEST_HOP_SECONDS), hops * LONGEST_HOP_SECONDS)
        pace = max(slowest, 1.0 / (1 + min(self._n_learned[start:end])))
        factor = 1.0 + pace * (seconds - known) / known
        origin, shift = self.offsets[start], known * (factor - 1.0)
        for position in range(start, end):
            self._n_learned[position] += 1
            self.offsets[position + 1] = origin + (self.offsets[position + 1] - origin) * factor
        for position in range(end + 1, len(self.offsets)):
            self.offsets[position] += shift


@lru_cache(maxsize=65_536)
def _third(n_before: int, n_stops: int) -> int | None:
    along = 3.0 * (n_before + 0.5) / n_stops
    low, high = int(along - THIRD_MARGIN), int(along + THIRD_MARGIN)
    return min(2, max(0, low)) if min(2, max(0, low)) == min(2, max(0, high)) else None


class Routes:
    """All routes, and which of them a service runs on: the one that has most of the stops it is seen at."""

    def __init__(self, courses: Iterable[Course]) -> None:
        self.all = [Route(course.label, course.stop_codes) for course in courses if course.stop_codes]
        self.through: dict[str, list[Route]] = {}
        self._serving: dict[tuple[str, str], list[Route]] = {}
        for route in self.all:
            for code in dict.fromkeys(route.stop_codes):
                self.through.setdefault(code, []).append(route)
                self._serving.setdefault((route.label, code), []).append(route)
        self._votes: dict[Service, dict[Route, float]] = {}
        self._own: dict[tuple[Service, Route], Route] = {}
        self._shown: dict[tuple[Service, str], list[int]] = {}

    def route_of(self, service: Service, stop_code: str) -> Route | None:
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

    def note_shown(self, service: Service, stop_code: str, *, is_shown: bool) -> None:
        """Remember whether a stop that should list a service did."""
        counts = self._shown.setdefault((service, stop_code), [0, 0])
        counts[is_shown] += 1

    def is_served(self, service: Service, stop_code: str) -> float:
        """Return how likely it is that a service calls at a stop of its route: short runs do not."""
        not_shown, shown = self._shown.get((service, stop_code), (0, 0))
        return (shown + 2.0) / (shown + not_shown + 2.0)

"""Holds the stop patterns of a network and finds the one that a listed trip follows."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from transit_etl.collect.planning.calls import Calls
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.running_times import RunningTimes, Segment

LineDestination = tuple[str, str]  # a line label and a destination, as a stop shows them


@dataclass(frozen=True, slots=True)
class LineStops:
    """The stops of a line in one direction, in order, and the label under which stops show the line."""

    label: str
    stop_codes: tuple[str, ...]


class StopPattern:
    """A sequence of stops with what was learned of the trips along it.

    `observed_at` is when a good answer last came from any of its stops.
    """

    __slots__ = ("_positions", "calls", "label", "observed_at", "running_times", "stop_codes")

    def __init__(
        self, line_stops: LineStops, parameters: PlannerParameters, segments: list[Segment] | None = None
    ) -> None:
        self.label, self.stop_codes = line_stops.label, line_stops.stop_codes
        if segments is None:
            segments = [Segment.unknown(parameters) for _ in self.stop_codes[1:]]
        self.running_times = RunningTimes(segments, parameters)
        self.calls = Calls(len(self.stop_codes), parameters)
        self.observed_at = -inf
        self._positions: dict[str, list[int]] = {}
        for position, code in enumerate(self.stop_codes):
            self._positions.setdefault(code, []).append(position)

    def positions(self, stop_code: str) -> list[int]:
        """Return where a stop comes in the pattern: usually once, at the ends of a circle twice."""
        return self._positions.get(stop_code, [])


class StopPatterns:
    """All stop patterns of a network, and which of them the trips of a line and destination follow.

    Patterns share the segments between the same two stops, so what one line learns helps the others.
    """

    def __init__(self, all_line_stops: Iterable[LineStops], parameters: PlannerParameters) -> None:
        self._parameters = parameters
        self._segments: dict[tuple[str, str], Segment] = defaultdict(lambda: Segment.unknown(parameters))
        self.all = [
            StopPattern(each, parameters, [self._segments[stops] for stops in pairwise(each.stop_codes)])
            for each in all_line_stops
            if each.stop_codes
        ]
        self.through: dict[str, list[StopPattern]] = {}
        self._of_line: dict[tuple[str, str], list[StopPattern]] = {}
        for pattern in self.all:
            for code in dict.fromkeys(pattern.stop_codes):
                self.through.setdefault(code, []).append(pattern)
                self._of_line.setdefault((pattern.label, code), []).append(pattern)
        self._votes: dict[LineDestination, dict[StopPattern, float]] = {}
        self._own: dict[tuple[LineDestination, StopPattern], StopPattern] = {}

    def running_seconds(self, stop_codes: Sequence[str]) -> float:
        """Return how long a bus takes along some stops on average."""
        return sum(self._segments[stops].seconds for stops in pairwise(stop_codes))

    def pattern_of(self, shown: LineDestination, stop_code: str) -> StopPattern | None:
        """Return the pattern of the trips shown with this line and destination at a stop.

        It is the pattern of the line that has most of the stops that showed them so far; this stop is
        counted. Each line and destination learns its own calls, because short variants leave stops out.
        """
        label = shown[0]
        candidates = self._of_line.get((label, stop_code))
        candidates = candidates or self._of_line.get((label.removesuffix("/"), stop_code))  # a short variant
        if not candidates:
            return None
        votes = self._votes.setdefault(shown, {})
        for pattern in candidates:
            votes[pattern] = votes.get(pattern, 0.0) + 1.0 / len(candidates)
        best = max(candidates, key=lambda candidate: votes[candidate])
        own = self._own.get((shown, best))
        if own is None:
            own = self._own[shown, best] = self._with_calls_of_its_own(best)
        return own

    def _with_calls_of_its_own(self, pattern: StopPattern) -> StopPattern:
        line_stops = LineStops(pattern.label, pattern.stop_codes)
        return StopPattern(line_stops, self._parameters, pattern.running_times.segments)

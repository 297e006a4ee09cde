"""Learns how long trips take from one stop to the next."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from math import sqrt

from transit_etl.collect.planning.parameters import PlannerParameters


@dataclass(slots=True, eq=False)
class Segment:
    """The way from a stop to the next: its average running time, and the variance of that average."""

    seconds: float
    variance: float

    @classmethod
    def unknown(cls, parameters: PlannerParameters) -> "Segment":
        """Return a segment of which nothing has been learned."""
        p = parameters.running_time
        return cls(p.usual_segment_seconds, p.usual_segment_spread_seconds**2)


class RunningTimes:
    """The running times along the stops of one pattern, whose segments it may share with other patterns.

    `offsets` are the seconds from the first stop to each stop.
    """

    __slots__ = ("_least_variance", "_p", "_trip_variance", "_variances", "offsets", "segments")

    def __init__(self, segments: list[Segment], parameters: PlannerParameters) -> None:
        self.segments = segments
        self._p = p = parameters.running_time
        self._trip_variance = p.trip_segment_spread_seconds**2
        self._least_variance = parameters.estimate.least_spread_seconds**2
        self.refresh()

    def between(self, earliest: float, latest: float) -> range:
        """Return the positions whose offset is at least `earliest` and less than `latest`."""
        return range(bisect_left(self.offsets, earliest), bisect_left(self.offsets, latest))

    def variance(self, start: int, end: int) -> float:
        """Return the variance of the average running time between two positions, in square seconds."""
        return abs(self._variances[end] - self._variances[start])

    def projected_spread(self, start: int, end: int, spread: float) -> float:
        """Return how unsure a trip's passage of `end` is if that of `start` is known to within `spread`."""
        n_segments = abs(end - start)
        if n_segments == 0:
            return spread
        pace = self._p.trip_pace_share * (self.offsets[end] - self.offsets[start])
        return sqrt(spread**2 + self._trip_variance * n_segments + pace * pace + self.variance(start, end))

    def learn(self, start: int, end: int, seconds: float, spread: float) -> None:
        """Correct the segments by a trip that took `seconds`, known to within `spread`, from start to end.

        The error is shared out among the segments in proportion to their variances, and counts the less
        the smaller these are: a Kalman filter of which only the diagonal of the covariance is kept.
        """
        p, segments = self._p, self.segments[start:end]
        expected, variance = sum(each.seconds for each in segments), sum(each.variance for each in segments)
        shortest, longest = p.shortest_segment_seconds, p.longest_segment_seconds
        seconds = min(max(seconds, len(segments) * shortest), len(segments) * longest)
        error, total = seconds - expected, variance + spread * spread
        for segment in segments:
            share = segment.variance / total
            segment.seconds = min(longest, max(shortest, segment.seconds + share * error))
            segment.variance = max(self._least_variance, segment.variance * (1.0 - share))
        self.refresh()

    def refresh(self) -> None:
        """Add up the segments again: other patterns learn on those that they share."""
        self.offsets = list(accumulate([segment.seconds for segment in self.segments], initial=0.0))
        self._variances = list(accumulate([segment.variance for segment in self.segments], initial=0.0))

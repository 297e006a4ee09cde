"""Learns how good the upstream's predictions are, by how far ahead they look."""

from bisect import bisect
from math import sqrt

# How far a prediction is off by seconds ahead, and how much too early it is, in a real feed: the beginning.
AHEAD = (0.0, 60.0, 120.0, 240.0, 480.0, 900.0, 1_500.0)
_SPREAD = (3.0, 13.0, 26.0, 78.0, 100.0, 125.0, 170.0)
_TOO_EARLY = (0.0, 0.0, 2.0, 10.0, 25.0, 60.0, 90.0)
_BELIEF = 300.0  # the beginning counts like so many passages
LEAST_AHEAD = 2  # below, polls are too far apart to measure what is left of the error
# How late buses leave in a real feed: the beginning of what is learned of those that are timetable time yet.
_LATE, _LATE_SPREAD = 219.0, 350.0
_LATE_BELIEF, _LATE_OF = 20.0, 300.0
_MOST_SPREADS = 3.0
_LEAST_SPREAD = 10.0


class PredictionErrorModel:
    """The error to expect of a prediction, from those whose passages were seen."""

    def __init__(self) -> None:
        self._spread, self._too_early = list(_SPREAD), list(_TOO_EARLY)
        self._n = [_BELIEF] * len(AHEAD)
        self._square = self._errors = self._rests = _BELIEF / 3
        self._product = self._likeness = 0.0
        self._left = 1.0
        self.late, self.late_spread, self._n_late = _LATE, _LATE_SPREAD, _LATE_BELIEF

    def spread(self, ahead: float) -> float:
        """Return how many seconds a prediction that looks so many ahead is off."""
        return _between(ahead, self._spread)

    def too_early(self, ahead: float) -> float:
        """Return by how many seconds it is too early on average."""
        return _between(ahead, self._too_early)

    def of_run(self, bias: float) -> tuple[float, float]:
        """Return what remains of a run's error of late, and of the spread, both as shares of the spread.

        Nothing is known of how alike the errors of one run are until some have been compared.
        """
        return self._likeness * bias, self._left

    def learn_lateness(self, late: float) -> None:
        """Take over by how much a bus turned out late when a vehicle first stood behind it."""
        self._n_late = min(_LATE_OF, self._n_late + 1.0)
        most = _MOST_SPREADS * self.late_spread
        error = max(-most, min(most, late - self.late))
        self.late += error / self._n_late
        self.late_spread = sqrt(self.late_spread**2 + (error**2 - self.late_spread**2) / self._n_late)

    def compare(self, error: float, bias: float) -> None:
        """Take over that a run whose errors had a bias so far erred by so much; both in spreads."""
        self._square += bias * bias
        self._product += error * bias
        self._likeness = min(1.0, max(0.0, self._product / self._square))
        self._errors += error * error
        self._rests += (error - self._likeness * bias) ** 2
        self._left = min(1.0, sqrt(self._rests / self._errors))

    def learn(self, horizon: int, late: float, interval: float) -> float:
        """Take over how late a bus was by a prediction, known to within an interval; see `horizon_of`.

        Those below LEAST_AHEAD are not for it. Return the error in spreads.
        """
        spread, too_early = self._spread[horizon], self._too_early[horizon]
        error = max(-_MOST_SPREADS * spread, min(_MOST_SPREADS * spread, late - too_early))
        self._n[horizon] += 1.0
        share = 1.0 / self._n[horizon]
        self._too_early[horizon] += share * error
        variance = spread**2 + share * (error**2 - interval**2 / 12.0 - spread**2)
        self._spread[horizon] = max(_LEAST_SPREAD, sqrt(max(0.0, variance)))
        return error / spread


def horizon_of(ahead: float) -> int:
    """Return the place in AHEAD nearest below."""
    return max(0, bisect(AHEAD, ahead) - 1)


def _between(ahead: float, values: list[float]) -> float:
    step = bisect(AHEAD, ahead)
    if step >= len(AHEAD):
        return values[-1]
    share = (ahead - AHEAD[step - 1]) / (AHEAD[step] - AHEAD[step - 1])
    return values[step - 1] + share * (values[step] - values[step - 1])

"""Learns how far the upstream's predictions are off, by how far ahead they look and within one trip."""

from bisect import bisect
from math import sqrt

from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.state import TrackedTrip


class PredictionErrorModel:
    """The expected error of a prediction: a bias and a standard deviation for each of a few horizons.

    Errors of one trip resemble each other; how much is learned too, and corrects its next predictions.
    """

    def __init__(self, parameters: PlannerParameters) -> None:
        self._p = p = parameters.prediction_error
        self._estimate = parameters.estimate
        self._horizons = p.horizons_seconds
        self._spreads, self._biases = list(p.spreads_seconds), list(p.biases_seconds)
        self._n_passages = [p.prior_passages] * len(self._horizons)
        self.within_trip = WithinTripErrors(p.prior_trip_errors)

    def spread(self, ahead: float) -> float:
        """Return the standard deviation, in seconds, of a prediction that looks so many seconds ahead."""
        return self._interpolated(ahead, self._spreads)

    def bias(self, ahead: float) -> float:
        """Return by how many seconds such a prediction is too early on average."""
        return self._interpolated(ahead, self._biases)

    def estimate(self, predicted_at: float, ahead: float, trip: TrackedTrip) -> Estimate:
        """Return when a trip is to be expected by a prediction that looks `ahead` seconds ahead."""
        mean, spread = predicted_at + self.bias(ahead), self.spread(ahead)
        if trip.n_errors and ahead > self._p.least_corrected_seconds:
            within_trip = self.within_trip
            shift = within_trip.likeness * trip.error_bias
            return Estimate(mean + shift * spread, within_trip.remaining_share * spread)
        return Estimate(mean, spread)

    def horizon_to_learn(self, ahead: float) -> int | None:
        """Return the number of the horizon that a prediction teaches about, None if it is near none."""
        horizon = max(0, bisect(self._horizons, ahead) - 1)
        seconds = self._horizons[horizon]
        is_near = abs(ahead - seconds) <= self._p.horizon_tolerance_share * ahead
        return horizon if is_near and seconds >= self._p.measured_seconds else None

    def learn(self, horizon: int, late: float, interval: float) -> float:
        """Learn from a trip that was `late` seconds by a prediction, known to within an interval.

        Return the part of the error that was not expected, in spreads.
        """
        spread, bias, outlier = self._spreads[horizon], self._biases[horizon], self._estimate.outlier_spreads
        error = max(-outlier * spread, min(outlier * spread, late - bias))
        self._n_passages[horizon] += 1.0
        share = 1.0 / self._n_passages[horizon]
        self._biases[horizon] += share * error
        variance = spread**2 + share * (error**2 - interval**2 / 12.0 - spread**2)
        self._spreads[horizon] = max(self._estimate.least_spread_seconds, sqrt(max(0.0, variance)))
        return error / spread

    def learn_passage(
        self, trip: TrackedTrip, predictions: dict[int, float], passed_at: float, interval: float
    ) -> None:
        """Learn from a passage how good its predictions, by horizon, were, and how the trip's errors are."""
        errors = [
            self.learn(horizon, passed_at - predicted_at, interval)
            for horizon, predicted_at in predictions.items()
        ]
        if not errors:
            return
        error = sum(errors) / len(errors)
        if trip.n_errors:
            self.within_trip.learn(error, trip.error_bias)
        trip.n_errors += 1
        trip.error_bias += (error - trip.error_bias) / min(trip.n_errors, self._p.trip_errors_averaged)

    def _interpolated(self, ahead: float, values: list[float]) -> float:
        horizons = self._horizons
        above = bisect(horizons, ahead)
        if above >= len(horizons):
            return values[-1]
        share = (ahead - horizons[above - 1]) / (horizons[above] - horizons[above - 1])
        return values[above - 1] + share * (values[above] - values[above - 1])


class WithinTripErrors:
    """How much the errors of one trip resemble each other: a regression of each on those before it.

    `likeness` is its slope, from 0 to 1; `remaining_share` is what remains of the spread once an error is
    corrected by it. Before errors have been compared nothing is corrected.
    """

    def __init__(self, prior_errors: float) -> None:
        self.likeness, self.remaining_share = 0.0, 1.0
        self._bias_squares = self._error_squares = self._remaining_squares = prior_errors
        self._products = 0.0

    def learn(self, error: float, bias: float) -> None:
        """Compare an error of a trip with the average of its errors before; both in spreads."""
        self._bias_squares += bias * bias
        self._products += error * bias
        self.likeness = min(1.0, max(0.0, self._products / self._bias_squares))
        self._error_squares += error * error
        self._remaining_squares += (error - self.likeness * bias) ** 2
        self.remaining_share = min(1.0, sqrt(self._remaining_squares / self._error_squares))

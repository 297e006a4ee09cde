"""Learns how late trips are that a stop lists by timetable only, without a vehicle."""

from math import sqrt

from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import PlannerParameters


class LatenessModel:
    """The average lateness of such trips, in seconds, and its standard deviation."""

    def __init__(self, parameters: PlannerParameters) -> None:
        self._p = p = parameters.lateness
        self.mean, self.spread = p.lateness_seconds, p.spread_seconds
        self._n_trips = p.prior_trips
        self._outlier_spreads = parameters.estimate.outlier_spreads

    def estimate(self, scheduled_at: float, now: float) -> Estimate:
        """Return when a trip listed by timetable is to be expected: not before now."""
        return Estimate(max(now, scheduled_at + self.mean), self.spread)

    def learn(self, lateness: float) -> None:
        """Learn from a trip by how many seconds it was late when a vehicle first appeared for it."""
        self._n_trips = min(self._p.most_trips, self._n_trips + 1.0)
        outlier = self._outlier_spreads * self.spread
        error = max(-outlier, min(outlier, lateness - self.mean))
        self.mean += error / self._n_trips
        self.spread = sqrt(self.spread**2 + (error**2 - self.spread**2) / self._n_trips)

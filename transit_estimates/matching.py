"""How probable it is that a bus ran as each of the scheduled departures that it may have run as.

A bus that no timetable row names may have run as each of several departures, and a departure has one bus at
most. How probable a pair is follows from how late the bus was then, by the delays of buses whose departure is
known, and from what else speaks against it. The probabilities of all pairs of a line together are computed by
belief propagation (Mézard and Montanari, *Information, Physics, and Computation*, 2009, chapter 14).

Delays are compared with what is usual in proportion, because delays vary more where they are long. All buses
of the line may be later or earlier than is usual elsewhere: so the probabilities are computed for several
usual delays, each weighted by how probable it is. Buses of a line are late together, and tell less of the
usual delay than as many independent ones would: their likelihood is taken to a power below 1 (Miller and
Dunson, *Robust Bayesian inference via coarsening*, 2019). The error that all departures of a line may have in
common counts lines as differing as much as buses of one line do.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PRIOR_TRIPS = 5  # the prior distribution of delays, and of the usual one, counts as much as so many trips
PRIOR_SPREAD = 0.5  # its standard deviation, of logarithms
FREEDOM = 4  # of Student's t distribution, which it is; its density at 0 is 3/8
TELLING_TRIPS = 20  # all trips of a line tell as much of its usual delay as so many independent ones
CASES = np.arange(-6, 7)[:, None] / 2  # usual delays that are tried, in the standard deviation of lines
STEP = 0.02  # of the table of costs by delay, which goes from -LIMIT to LIMIT
LIMIT = 5.0
LEAST_WIDTH = 0.05  # over which a known delay is spread
ROUNDS = 200  # of belief propagation
LEAST_CHANGE = 1e-6  # after which it ends
LEAST_PROBABILITY = 0.001  # of pairs that are returned


def pair_probabilities(  # noqa: PLR0917 - called from SQL, where arguments have no names
    trips: Sequence[int],
    departures: Sequence[int],
    delays: Sequence[float],
    later_seconds: Sequence[float],
    costs: Sequence[float],
    known_delays: Sequence[float],
    known_weights: Sequence[float],
    n_known: int,
    unpaired_cost: float,
) -> list[dict[str, Any]]:
    """Return how probable each pair is, and choose the most probable pairs, each trip and departure in one.

    The first five lists are of one length, one element for each possible pair: the numbers of its trip and of
    its departure, from 1; the delay that the bus would then have, as the logarithm of its proportion to the
    usual one; by how many seconds it would be later than usual; and the cost of all else, the negative
    logarithm of a likelihood. `known_delays` has, in ascending order, the same delays of other buses,
    `known_weights` how much each counts, where a bus of the line counts 1; `n_known` are of the line. A trip
    without a departure costs `unpaired_cost`.

    Returns for each pair that is chosen or not improbable `pair`, its number from 1; `is_chosen`; its
    `probability`; and `common_seconds`, the standard error of the delay of its departure that all departures
    of the line have in common.
    """
    pairs = _Pairs(np.array(trips) - 1, np.array(departures) - 1)
    delay_costs, spread = _delay_costs(np.array(known_delays), np.array(known_weights))
    n_telling = n_known * _telling_share(n_known)
    usual = CASES * spread / math.sqrt(1 + n_telling)
    steps = np.rint((np.array(delays) - usual + LIMIT) / STEP).astype(int)
    costs_of_delays = delay_costs[np.clip(steps, 0, len(delay_costs) - 1)] + usual
    shares, logarithms = pairs.shares(np.exp(unpaired_cost - np.array(costs) - costs_of_delays))
    logarithms = logarithms * _telling_share(max(trips))
    weights = _weights(logarithms, (PRIOR_TRIPS + n_telling) / (1 + n_telling))
    probabilities = np.minimum(weights @ shares, 1)
    expected = pairs.sums_of_departures(shares * np.array(later_seconds))
    common_seconds = np.sqrt(_weights(logarithms, 1) @ (expected - weights @ expected) ** 2)
    unpaired = np.maximum(1 - pairs.sums_of_trips(probabilities), 1e-9)
    odds = np.maximum(probabilities / unpaired[pairs.trips], 1e-9)
    chosen = set(least_cost_pairs(trips, departures, (-np.log(odds)).tolist(), 0.0))
    return [
        {
            "pair": number,
            "is_chosen": number in chosen,
            "probability": float(probability),
            "common_seconds": float(common_seconds[departure]),
        }
        for number, (probability, departure) in enumerate(
            zip(probabilities, pairs.departures, strict=True), start=1
        )
        if number in chosen or probability >= LEAST_PROBABILITY
    ]


def _weights(logarithms: Floats, precision: float) -> Floats:
    """Return how probable each of CASES is, by its likelihood and a normal distribution without its tails."""
    squares = precision * CASES[:, 0] ** 2
    logarithms = np.where(squares <= CASES[0, 0] ** 2, logarithms - squares / 2, -np.inf)
    weights = np.exp(logarithms - logarithms.max())
    shares: Floats = weights / weights.sum()
    return shares


def _telling_share(n_trips: int) -> float:
    """Return how much a trip of a line tells of its usual delay, where an independent one tells 1."""
    return TELLING_TRIPS / (TELLING_TRIPS + n_trips)


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The possible pairs: the numbers of their trips and departures, from 0."""

    trips: NDArray[np.int64]
    departures: NDArray[np.int64]

    def shares(self, likelihoods: Floats) -> tuple[Floats, Floats]:
        """Return in which share of assignments each pair is, and the logarithm of the sum of all assignments.

        `likelihoods` has a row for each case and a column for each pair: that of the pair over that of its
        trip without a departure. The shares have the same shape, the logarithms an element for each case.
        """
        to_trips = np.ones_like(likelihoods)
        to_departures = to_trips
        for _ in range(ROUNDS):
            to_departures = 1 / (1 + self._others(self.trips, likelihoods * to_trips))
            before = to_trips
            to_trips = 1 / (1 + self._others(self.departures, likelihoods * to_departures))
            if np.abs(to_trips - before).max() < LEAST_CHANGE:
                break
        both = likelihoods * to_trips * to_departures
        logarithms = (
            np.log1p(self.sums_of_trips(likelihoods * to_trips)).sum(axis=-1)
            + np.log1p(self.sums_of_departures(likelihoods * to_departures)).sum(axis=-1)
            - np.log1p(both).sum(axis=-1)
        )
        return both / (1 + both), logarithms

    def sums_of_trips(self, values: Floats) -> Floats:
        """Return the sums of the values of each trip's pairs, along the last axis."""
        return _sums(self.trips, values)

    def sums_of_departures(self, values: Floats) -> Floats:
        """Return the sums of the values of each departure's pairs, along the last axis."""
        return _sums(self.departures, values)

    @staticmethod
    def _others(groups: NDArray[np.int64], values: Floats) -> Floats:
        """Return for each pair the sum of the values of the other pairs of its group."""
        return np.maximum(_sums(groups, values)[..., groups] - values, 0)


def _sums(groups: NDArray[np.int64], values: Floats) -> Floats:
    return np.apply_along_axis(lambda row: np.bincount(groups, row), -1, values)


def _delay_costs(known: Floats, weights: Floats) -> tuple[Floats, float]:
    """Return what delays from -LIMIT to LIMIT cost, and their standard deviation; all are logarithms.

    The density of the known ones (a kernel estimate) and of the prior distribution is taken in seconds, and
    the cost is its negative logarithm, 0 where it is greatest.
    """
    n = weights.sum()
    spread = math.sqrt((weights @ known**2 + PRIOR_TRIPS * PRIOR_SPREAD**2) / (n + PRIOR_TRIPS))
    delays = np.arange(-LIMIT, LIMIT + STEP, STEP)
    squares = (delays / PRIOR_SPREAD) ** 2
    density = PRIOR_TRIPS * 3 / 8 / PRIOR_SPREAD * (1 + squares / FREEDOM) ** (-(FREEDOM + 1) / 2)
    if n > 0:
        quarters = np.interp([n / 4, 3 * n / 4], np.cumsum(weights), known)
        width = max(0.9 * min(spread, (quarters[1] - quarters[0]) / 1.349) * n**-0.2, LEAST_WIDTH)
        kernels = np.exp(-(((delays[:, None] - known) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
        density += kernels @ weights
    costs = delays - np.log(density)
    return costs - costs.min(), spread


def least_cost_pairs(
    trips: Sequence[int], departures: Sequence[int], costs: Sequence[float], unpaired_cost: float
) -> list[int]:
    """Choose pairs of trips and departures, each in one pair at most, so that the sum of costs is least.

    The three lists are of one length: pair n, counted from 1, is of trip `trips[n - 1]` and of departure
    `departures[n - 1]`, numbered from 1. A trip in no chosen pair costs `unpaired_cost`. Returns the numbers
    of the pairs chosen, in order.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - half a second, for builds alone

    n_trips, n_departures = max(trips), max(departures)
    numbers = {key: number for number, key in enumerate(zip(trips, departures, strict=True), start=1)}
    never = 2 * unpaired_cost + max(costs)
    matrix = [[never] * (n_departures + n_trips) for _ in range(n_trips)]
    for trip, departure, cost in zip(trips, departures, costs, strict=True):
        matrix[trip - 1][departure - 1] = cost
    for trip in range(n_trips):  # a column of its own stands for no departure
        matrix[trip][n_departures + trip] = unpaired_cost
    rows, columns = linear_sum_assignment(matrix)
    chosen = ((int(row) + 1, int(column) + 1) for row, column in zip(rows, columns, strict=True))
    return sorted(numbers[key] for key in chosen if key in numbers)

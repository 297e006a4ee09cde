"""Assign buses to the scheduled departures that they may have run as, one to one.

A bus that no timetable row names may have run as each of several departures. How probable each pair is
follows from how late the bus was then, and from what else speaks against it (`costs`, negative logarithms of
likelihoods). How late the buses of a line usually are, and how much they differ, is learned with the pairs.

Assignments are drawn by Markov chains: Metropolis moves of one or two trips, and Gibbs draws of the usual
delay and of the spread (Gelman et al., *Bayesian Data Analysis*, 3rd edition, chapters 11, 12 and 17). Delays
have Student's t distribution, because a few buses are far later than usual. On a line of regular headways all
buses may have run as the departure before or after theirs, which no move of two trips leads to: so each chain
starts at a usual delay of its own, drawn by how well buses and departures fit each other then.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

FREEDOM = 4  # of Student's t distribution
DRAWS_OF_A_CHAIN = 4
PASSES_BETWEEN = 8  # over all trips, from draw to draw
PASSES_BEFORE = 20  # the first draw of a chain
PRIOR_TRIPS = 5  # the known spread counts as much as so many trips
COMMON_SHARE = 0.5  # of the known spread: the standard deviation of the usual delay of these trips
STARTS = [step / 2 for step in range(-6, 7)]  # usual delays that chains start at, in such deviations


def drawn_pairs(  # noqa: PLR0917 - called from SQL, where arguments have no names
    trips: Sequence[int],
    departures: Sequence[int],
    above_seconds: Sequence[float],
    costs: Sequence[float],
    spread_seconds: float,
    unpaired_cost: float,
    n_draws: int,
    seed: str,
) -> list[dict[str, int]]:
    """Choose the most probable assignment, draw 0, and draw others as often as they are probable.

    The first four lists are of one length, one element for each possible pair: the numbers of its trip and of
    its departure, from 1; by how many seconds the bus would then be later than usual; and the cost of all
    else. `spread_seconds` is the standard deviation of delays that other buses tell, over 0. A trip without a
    departure costs `unpaired_cost`. The same arguments give the same draws.

    Returns for each draw and chosen pair `draw` and the number of the pair, `pair`, from 1.
    """
    chain = _Chain(_Pairs(trips, departures, above_seconds, costs, spread_seconds, unpaired_cost), seed)
    drawn, delays, spreads = [], [], []
    for number in range(n_draws):
        chain.advance(is_start=number % DRAWS_OF_A_CHAIN == 0)
        drawn.append(chain.pairs())
        delays.append(chain.delay)
        spreads.append(chain.spread)
    best = chain.most_probable(fmean(delays or [0]), fmean(spreads or [spread_seconds]))
    return [
        {"draw": draw, "pair": pair + 1}
        for draw, pairs in enumerate([best, *drawn])
        for pair in sorted(pairs)
    ]


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The possible pairs, as `drawn_pairs` takes them."""

    trips: Sequence[int]
    departures: Sequence[int]
    above_seconds: Sequence[float]
    costs: Sequence[float]
    spread_seconds: float
    unpaired_cost: float

    def cost(self, pair: int | None, delay: float, spread: float) -> float:
        """Return the negative logarithm of the likelihood of a pair, or of a trip without one."""
        if pair is None:
            return self.unpaired_cost
        off = (self.above_seconds[pair] - delay) / spread
        likelihood = (FREEDOM + 1) / 2 * math.log1p(off * off / FREEDOM)
        return self.costs[pair] + likelihood + math.log(spread / self.spread_seconds)

    @property
    def common_spread(self) -> float:
        """The standard deviation of the usual delay, before anything is known of these trips."""
        return COMMON_SHARE * self.spread_seconds


class _Chain:
    """A Markov chain over assignments: which pair each trip has, if any, and what delays are usual."""

    def __init__(self, pairs: _Pairs, seed: str) -> None:
        self._all = pairs
        self._random = Random(seed)  # noqa: S311 - draws, not secrets
        self._numbers = {
            key: pair for pair, key in enumerate(zip(pairs.trips, pairs.departures, strict=True))
        }
        self._choices: dict[int, list[int | None]] = {trip: [None] for trip in pairs.trips}
        for pair, trip in enumerate(pairs.trips):
            self._choices[trip].append(pair)
        self._trips = sorted(self._choices)
        delays = [start * pairs.common_spread for start in STARTS]
        self._starts = [(delay, self.most_probable(delay, pairs.spread_seconds)) for delay in delays]
        self._weights = self._weights_of_starts()

    def pairs(self) -> list[int]:
        """Return the pairs of the current assignment."""
        return list(self._of_trip.values())

    def most_probable(self, delay: float, spread: float) -> list[int]:
        """Return the pairs of the assignment that costs least at a usual delay and a spread."""
        pairs = self._all
        costs = [pairs.cost(pair, delay, spread) for pair in range(len(pairs.trips))]
        found = least_cost_pairs(pairs.trips, pairs.departures, costs, pairs.unpaired_cost)
        return [number - 1 for number in found]

    def advance(self, *, is_start: bool) -> None:
        """Go on to the next draw; start anew before, if it is the first of a chain."""
        if is_start:
            self._start()
        for _ in range(PASSES_BEFORE if is_start else PASSES_BETWEEN):
            for trip in self._random.choices(self._trips, k=len(self._trips)):
                self._move(trip, self._random.choice(self._choices[trip]))
            self._learn()

    def _weights_of_starts(self) -> list[float]:
        """Return how probable each start is: by its delay, and by what its assignment costs."""
        costs = []
        for (delay, chosen), deviations in zip(self._starts, STARTS, strict=True):
            paired = [self._all.cost(pair, delay, self._all.spread_seconds) for pair in chosen]
            n_unpaired = len(self._trips) - len(paired)
            costs.append(sum(paired) + n_unpaired * self._all.unpaired_cost + deviations * deviations / 2)
        return [math.exp(min(costs) - cost) for cost in costs]

    def _start(self) -> None:
        [(self.delay, chosen)] = self._random.choices(self._starts, self._weights)
        self.spread = self._all.spread_seconds
        self._of_trip: dict[int, int] = {}
        self._of_departure: dict[int, int] = {}
        for pair in chosen:
            self._join(pair)

    def _learn(self) -> None:
        """Draw the usual delay and the spread by the trips that have a departure."""
        known = self._all.spread_seconds
        above = [self._all.above_seconds[pair] for pair in self._of_trip.values()]
        weights = [self._weight(each - self.delay) for each in above]
        squares = sum(weight * (each - self.delay) ** 2 for weight, each in zip(weights, above, strict=True))
        freedom = len(above) + PRIOR_TRIPS
        self.spread = math.sqrt((squares + PRIOR_TRIPS * known**2) / self._chi_square(freedom))
        precision = sum(weights) / self.spread**2 + self._all.common_spread**-2
        total = sum(weight * each for weight, each in zip(weights, above, strict=True)) / self.spread**2
        self.delay = self._random.gauss(total / precision, precision**-0.5)

    def _weight(self, off_seconds: float) -> float:
        """Draw the weight of a trip: with it, its delay is of a normal distribution."""
        off = off_seconds / self.spread
        return self._chi_square(FREEDOM + 1) / (FREEDOM + off * off)

    def _chi_square(self, freedom: float) -> float:
        return 2 * self._random.gammavariate(freedom / 2, 1)

    def _move(self, trip: int, new: int | None) -> None:
        """Give a trip another pair; the trip that had its departure takes the one that becomes free."""
        old = self._of_trip.get(trip)
        if new == old:
            return
        other = None if new is None else self._of_departure.get(self._all.departures[new])
        taken: int | None = None
        if other is not None and old is not None:
            taken = self._numbers.get((self._all.trips[other], self._all.departures[old]))
            if taken is None:
                return
        change = self._cost(new) - self._cost(old)
        if other is not None:
            change += self._cost(taken) - self._cost(other)
            if old is None:  # a move back begins with the other trip, which may have more or fewer choices
                n_choices_back = len(self._choices[self._all.trips[other]])
                change += math.log(n_choices_back / len(self._choices[trip]))
        if change <= 0 or self._random.random() < math.exp(-change):
            for pair in (old, other):
                self._part(pair)
            for pair in (new, taken):
                self._join(pair)

    def _cost(self, pair: int | None) -> float:
        return self._all.cost(pair, self.delay, self.spread)

    def _part(self, pair: int | None) -> None:
        if pair is not None:
            del self._of_trip[self._all.trips[pair]], self._of_departure[self._all.departures[pair]]

    def _join(self, pair: int | None) -> None:
        if pair is not None:
            trip, departure = self._all.trips[pair], self._all.departures[pair]
            self._of_trip[trip] = self._of_departure[departure] = pair


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

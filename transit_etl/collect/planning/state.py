"""Holds what is known of a bus, of where it is due, and of a stop."""

from dataclasses import dataclass, field
from math import hypot, inf, sqrt

from transit_etl.collect.planning.stop_patterns import Service, StopPattern

EVIDENCE_SECONDS = 60.0  # the polls before and after a passage may be this far apart
PAIR_SECONDS = 55.0  # of these the rest is for the network and for the permit to come
LOOK_AHEAD_SECONDS = 150.0
_HOP_SPREAD, _PACE_SPREAD = 20.0, 0.08
_DISAGREE = 2.0  # spreads between two expectations of which one must be wrong
_REPROJECT_SECONDS = 90.0  # the same knowledge tells of the stops that have come within the horizon since
_ALIKE_SECONDS, _ALIKE_SHARE = 3.0, 0.25  # what moves a bus by less need not be told to all of its stops


@dataclass(slots=True, eq=False)
class TrackedTrip:
    """One bus on one trip. `anchor_*`: the best knowledge of it, when it is (or was) where, and how sure.

    `n_missed` counts how often in a row a stop did not list it live that should have.
    """

    service: Service
    trip_id: str
    route: StopPattern | None
    origin_at: float
    is_live: bool = False
    seen_at: float = -inf
    n_evidenced: int = 0
    n_missed: int = 0
    bias: float = 0.0  # by how many spreads predictions of it were too early of late
    n_judged: int = 0
    thirds: int = 0
    anchor_position: int = 0
    anchor_at: float = 0.0
    anchor_spread: float = inf
    projected: tuple[float, float] = (-inf, inf)  # the start and the spread it was last projected from
    projected_at: float = -inf
    theory: dict[int, float] = field(default_factory=dict)  # where it was listed by timetable, and for when

    def is_told(self, start: float, at: float) -> bool:
        """Tell whether about the same has been told to the stops lately: this start, and how sure it is."""
        began, spread = self.projected
        is_alike = (
            abs(start - began) < _ALIKE_SECONDS and abs(self.anchor_spread - spread) < _ALIKE_SHARE * spread
        )
        return is_alike and at - self.projected_at < _REPROJECT_SECONDS

    def projected_to(self, position: int) -> tuple[float, float]:
        """Return when the run passes a position as far as the anchor tells, and how sure that is."""
        offsets = self.route.offsets if self.route else ()
        if not offsets:
            return self.anchor_at, inf
        return self.anchor_at + offsets[position] - offsets[self.anchor_position], self.spread_at(position)

    def spread_at(self, position: int) -> float:
        """Return how unsure a passage projected from the anchor is, in seconds."""
        hops, route = abs(position - self.anchor_position), self.route
        if hops == 0 or route is None:
            return self.anchor_spread
        pace = _PACE_SPREAD * (route.offsets[position] - route.offsets[self.anchor_position])
        doubt = route.doubt(self.anchor_position, position)
        return sqrt(self.anchor_spread**2 + _HOP_SPREAD**2 * hops + pace * pace + doubt)


@dataclass(slots=True, eq=False)
class ExpectedVisit:
    """A passage of a run at a stop to come: expected at `mean`, give or take `spread`.

    `listed_at` is the poll that last listed it live, minus infinity if the last poll did not; `worth_from`
    is when a poll first may be worth something to it.
    """

    run: TrackedTrip
    stop: "StopState"
    position: int
    mean: float = 0.0
    spread: float = inf
    worth_from: float = -inf
    listed_at: float = -inf
    bucket: int = -1
    told: tuple[float, float] | None = None  # the mean and spread that its own stop gave last
    said: dict[int, float] = field(default_factory=dict)  # what stops predicted, by how far ahead

    def expect(self, mean: float, spread: float) -> None:
        """Expect the passage at another instant, or more or less surely."""
        self.mean, self.spread = mean, spread
        self.worth_from = mean - min(LOOK_AHEAD_SECONDS, PAIR_SECONDS + 2 * spread)

    def refutes(self, mean: float, spread: float) -> bool:
        """Tell whether the stop still listed the bus when by this expectation it surely had passed."""
        return self.listed_at > mean + _DISAGREE * spread

    def is_behind(self, position: int | None) -> bool:
        """Tell whether this is another call at its stop than the one at a position: the first of a circle."""
        route = self.run.route
        if route is None or position is None or position == self.position:
            return False
        return self.position in route.positions(self.stop.code)


@dataclass(slots=True, eq=False)
class StopState:
    """What is known of a stop; `n_nothing` counts answers in a row without a bus, `n_failed` lost ones."""

    code: str
    asked_at: float = -inf
    seen_at: float = -inf
    n_nothing: int = 0
    n_failed: int = 0
    rests_until: float = -inf
    visits: dict[TrackedTrip, ExpectedVisit] = field(default_factory=dict)


def fused(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the mean and spread of two expectations taken together; of the surer, where they disagree."""
    (mean, spread), (other_mean, other_spread) = sorted((one, other), key=lambda each: each[1])
    if abs(other_mean - mean) > _DISAGREE * hypot(spread, other_spread):
        return mean, spread
    share = spread**2 / (spread**2 + other_spread**2)
    return mean + share * (other_mean - mean), spread * sqrt(1.0 - share)

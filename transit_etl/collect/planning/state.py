"""Holds what the planner knows of a stop, of a tracked trip, and of the trip's visits to come.

Times are epoch seconds; minus infinity stands for never.
"""

from dataclasses import dataclass, field
from math import inf

from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.stop_patterns import StopPattern


@dataclass(slots=True, eq=False)
class TrackedTrip:
    """A trip as far as the listings tell. Its anchor is the passage, past or expected, that is known best.

    `pattern` is None while it is not known which one the trip follows, `anchor_spread` infinite while
    nothing is known of its progress. `error_bias` is the recent average error of its predictions, in
    spreads of the prediction error, over `n_errors` passages. `n_missing` counts answers in a row that did
    not list it live and should have. `scheduled` are its listed scheduled times by position.
    """

    line_label: str
    trip_id: str
    pattern: StopPattern | None
    leaves_at: float  # its first stop
    is_live: bool = False
    listed_at: float = -inf
    n_missing: int = 0
    n_evidenced: int = 0
    evidenced_thirds: set[int] = field(default_factory=set)
    error_bias: float = 0.0
    n_errors: int = 0
    anchor_position: int = 0
    anchor_at: float = 0.0
    anchor_spread: float = inf
    projected_at: float = -inf
    projected_start: float = -inf
    projected_spread: float = inf
    scheduled: dict[int, float] = field(default_factory=dict)

    def set_anchor(self, position: int, estimate: Estimate) -> None:
        """Make the passage of a position the best known one."""
        self.anchor_position = position
        self.anchor_at, self.anchor_spread = estimate

    def clear_anchor(self) -> None:
        """Forget the progress of the trip."""
        self.anchor_spread = inf

    def spread_at(self, position: int) -> float:
        """Return the standard deviation, in seconds, of a passage projected from the anchor."""
        if self.pattern is None:
            return self.anchor_spread
        return self.pattern.running_times.projected_spread(self.anchor_position, position, self.anchor_spread)

    def projected_to(self, position: int) -> Estimate:
        """Return when the trip passes a position of its pattern by its anchor alone."""
        if self.pattern is None:
            return Estimate(self.anchor_at, inf)
        offsets = self.pattern.running_times.offsets
        mean = self.anchor_at + offsets[position] - offsets[self.anchor_position]
        return Estimate(mean, self.spread_at(position))

    def set_pattern(self, pattern: StopPattern) -> None:
        """Let the trip follow a pattern, and drop what was known by position along the previous one."""
        self.pattern, self.scheduled = pattern, {}
        self.anchor_position, self.anchor_spread = 0, inf
        self.projected_at = -inf


@dataclass(slots=True, eq=False)
class ExpectedVisit:
    """The passage of a tracked trip at a stop, as long as it is expected.

    `listed_at` is the last answer of the stop if that listed the trip live, otherwise minus infinity;
    `own_estimate` is what this listing says, without the trip's progress elsewhere. `valuable_from` is when
    a poll can begin to have a value for the visit; infinity for never. `due_from` is the first answer of the
    stop that listed the trip as due. `predictions` are those to be compared with the passage, by horizon.
    """

    trip: TrackedTrip
    stop: "StopState"
    position: int
    mean: float = 0.0
    spread: float = inf
    valuable_from: float = -inf
    listed_at: float = -inf
    due_from: float = inf
    own_estimate: Estimate | None = None
    predictions: dict[int, float] = field(default_factory=dict)

    def expect(self, estimate: Estimate, parameters: PlannerParameters) -> None:
        """Change when the passage is expected, and from when on a poll can have a value for it."""
        self.mean, self.spread = estimate
        poll, n_spreads = parameters.poll, parameters.estimate.unlikely_spreads
        first_poll = poll.pair_seconds + n_spreads * self.spread
        self.valuable_from = self.mean - min(poll.look_ahead_seconds, first_poll)

    def contradicts(self, estimate: Estimate, n_spreads: float) -> bool:
        """Tell whether the stop still listed the trip `n_spreads` after it should have passed."""
        return self.listed_at > estimate.mean + n_spreads * estimate.spread

    def is_other_call(self, position: int | None) -> bool:
        """Tell whether this is another call at its stop than the one at a position: on a circle."""
        pattern = self.trip.pattern
        if pattern is None or position is None or position == self.position:
            return False
        return self.position in pattern.positions(self.stop.code)


@dataclass(slots=True, eq=False)
class StopState:
    """What is known of a stop: when it was asked, when it last answered well, and the visits expected there.

    `n_empty` counts answers in a row without a listing, `n_failed` failed ones. `taught` is how many new
    scheduled times a poll teaches, as worked out for the time `taught_until`; `is_mainly_for_schedule` tells
    whether a poll is worth more for that than for passages.
    """

    code: str
    asked_at: float = -inf
    answered_at: float = -inf
    n_empty: int = 0
    n_failed: int = 0
    rest_ends_at: float = -inf
    taught: float = 0.0
    taught_until: float = -inf
    is_mainly_for_schedule: bool = False
    visits: dict[TrackedTrip, ExpectedVisit] = field(default_factory=dict)

    @property
    def looked_at(self) -> float:
        """When it last answered well, or was asked since."""
        return max(self.answered_at, self.asked_at)

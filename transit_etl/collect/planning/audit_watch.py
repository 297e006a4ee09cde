"""Watches one visit of the audit sample: when its stop is to be asked, until the bus was seen to pass."""

import json
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from math import inf

from transit_etl.collect.planning.parameters import AuditParameters, PlannerParameters
from transit_etl.collect.planning.policy import Listing, Observation, TripKey


@dataclass(frozen=True, slots=True)
class Draw:
    """A visit that was drawn: a departure of the timetable (UTC, naive) and a position on its way.

    `stop_codes` are the stops of its direction up to that position; `seconds_before` and `seconds_after` the
    times to the departures of the same direction around it, infinity where there is none.
    """

    line_label: str
    seed: int
    service_date: date
    line_code: str
    direction: str
    service_code: str
    departure_at: datetime
    duplicate_number: int
    position: int
    probability: float
    stop_codes: list[str]
    seconds_before: float
    seconds_after: float

    @property
    def key(self) -> tuple[object, ...]:
        """The values that tell this visit from all others."""
        return (
            self.service_date,
            self.line_code,
            self.direction,
            self.service_code,
            self.departure_at,
            self.duplicate_number,
            self.position,
        )

    @property
    def stop_code(self) -> str:
        """The stop of the visit."""
        return self.stop_codes[-1]

    @property
    def leaves_at(self) -> float:
        """The departure from the first stop, in epoch seconds."""
        return self.departure_at.replace(tzinfo=UTC).timestamp()


@dataclass(slots=True, eq=False)
class AuditWatch:
    """A drawn visit while it is watched. Times are epoch seconds.

    It is asked about from `begins_at` on, next at `next_at`, and given up an hour after it is due. Which bus
    it is cannot be told from the lists of one stop alone. So every bus of the line is watched that may be the
    one: not those listed live while the visit's own timetable row is still listed, nor, once one has passed,
    those that the next departure explains as well. The warehouse decides later which bus it was.
    """

    draw: Draw
    due_at: float
    parameters: PlannerParameters
    begins_at: float = field(init=False)
    next_at: float = field(init=False)
    is_asked: bool = False
    is_over: bool = False
    is_urgent: bool = False
    _others: set[TripKey] = field(default_factory=set)
    _candidates: dict[TripKey, float] = field(default_factory=dict)
    _has_passed: bool = False
    _n_unlisted: int = 0
    _observed_at: float = -inf

    def __post_init__(self) -> None:
        self.begins_at = self.next_at = self.due_at - self.p.lead_seconds

    @property
    def p(self) -> AuditParameters:
        """The parameters of the audit sample."""
        return self.parameters.audit

    def observe(self, observation: Observation) -> None:
        """Take note of an answer of the stop, and set when it is to be asked again.

        An answer older than the last one changes nothing.
        """
        at = observation.at
        if at < self.begins_at or at <= self._observed_at or self.is_over:
            return
        self.is_asked, self._observed_at = True, at
        if observation.is_good:
            self._look(observation)
        else:
            self.next_at = at + self.parameters.poll.pending_seconds
        self.end_if_late(self.next_at)

    def end_if_late(self, at: float) -> None:
        """Give the visit up if an instant is too long after it was due."""
        if at > self.due_at + self.p.give_up_seconds:
            self.is_over = True

    def record(self) -> str:
        """Return the draw as the ledger keeps it: a JSON object."""
        draw = self.draw
        return json.dumps({
            "service_date": draw.service_date.isoformat(),
            "line_code": draw.line_code,
            "direction": draw.direction,
            "service_code": draw.service_code,
            "departure_at": draw.departure_at.isoformat(),
            "duplicate_number": draw.duplicate_number,
            "position": draw.position,
            "inclusion_probability": draw.probability,
            "seed": draw.seed,
            "first_due_at": _instant_text(self.begins_at),
            "due_at": _instant_text(self.due_at),
        })  # fmt: skip

    def _look(self, observation: Observation) -> None:
        at = observation.at
        listings = [each for each in observation.listings if self._is_of_line(each)]
        live = {each.trip_key: each.predicted_at for each in listings if each.is_live}
        self._others &= live.keys()
        own_row_at = self._own_row_at(listings)
        if own_row_at is not None:
            self.due_at = own_row_at
            self._others |= live.keys()
            self._has_passed = False
        elif self._passed_since(live, at):
            self._has_passed = True
        self._candidates = {key: each for key, each in live.items() if self._may_be_it(key, each)}
        self.is_urgent = False
        if self._candidates:
            self._n_unlisted = 0
            self._ask_around(min(self._candidates.values()), at)
        elif self._has_passed:
            self.is_over = True
        elif own_row_at is not None:
            self.next_at = at + self.p.unlisted_seconds
        else:
            self._ask_later(at)

    def _is_of_line(self, listing: Listing) -> bool:
        return listing.line_label.removesuffix("/") == self.draw.line_label.removesuffix("/")

    def _own_row_at(self, listings: list[Listing]) -> float | None:
        """Return the time of the timetable row that is nearest to when the visit is due."""
        most = self.parameters.listing.same_departure_seconds
        first = self.due_at - min(most, self.draw.seconds_before / 2)
        last = self.due_at + min(most, self.draw.seconds_after / 2)
        rows = [
            each.predicted_at for each in listings if not each.is_live and first < each.predicted_at < last
        ]
        return min(rows, key=lambda at: abs(at - self.due_at), default=None)

    def _passed_since(self, live: dict[TripKey, float], at: float) -> bool:
        """Tell whether a bus that may be it is no longer listed, and was due."""
        return any(
            key not in live and at > expected_at - self.parameters.listing.vanished_seconds
            for key, expected_at in self._candidates.items()
        )

    def _may_be_it(self, key: TripKey, expected_at: float) -> bool:
        p, draw = self.p, self.draw
        first = self.due_at - min(p.lead_seconds, draw.seconds_before / 2)
        if key in self._others or expected_at < first:
            return False
        next_early = min(p.next_early_seconds, draw.seconds_after / 3)
        return not self._has_passed or expected_at < self.due_at + draw.seconds_after - next_early

    def _ask_around(self, expected_at: float, at: float) -> None:
        """Ask just before a bus is expected, and just after."""
        p, ahead = self.p, expected_at - at
        self.is_urgent = ahead <= p.longest_before_seconds
        if self.is_urgent:
            self.next_at = at + min(max(ahead, 0.0) + p.before_seconds, self.parameters.poll.pair_seconds)
        else:
            self.next_at = at + ahead - max(p.before_seconds, p.before_share * ahead)

    def _ask_later(self, at: float) -> None:
        """Ask again although nothing is listed: less and less often once it was due."""
        wait = self.p.unlisted_seconds * 2.0**self._n_unlisted
        self._n_unlisted += at >= self.due_at
        self.next_at = at + min(wait, self.p.longest_unlisted_seconds)


def _instant_text(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat()

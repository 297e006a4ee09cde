"""Defines what a policy is: it chooses which stop to ask next, from what the answers so far say.

Times are epoch seconds. A policy knows no clock and does no input or output, and is deterministic: the same
observations and questions give the same stops.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

TripKey = tuple[str, str, str]  # trip id, line label and destination


@dataclass(frozen=True, slots=True)
class Listing:
    """One passage as a stop lists it, its time resolved; `is_live` if a vehicle is behind it."""

    line_label: str
    destination: str
    trip_id: str
    predicted_at: float
    is_live: bool

    @property
    def trip_key(self) -> TripKey:
        """The values that tell this trip from others; a changed `trip_id` makes it another trip."""
        return (self.trip_id, self.line_label, self.destination)


@dataclass(frozen=True, slots=True)
class Observation:
    """What one answer says of a stop at an instant; nothing of any trip unless it `is_good`.

    `is_refused` means that the upstream answered, but not about this stop: an unknown or unserved one.
    """

    stop_code: str
    at: float
    is_good: bool
    is_refused: bool = False
    listings: tuple[Listing, ...] = ()


class Policy(Protocol):
    """A way to spend permits on stops."""

    def observe(self, observation: Observation) -> None:
        """Learn from an answer, good or failed."""

    def choose(self, now: float) -> str:
        """Return the stop to ask now; it counts as asked until its answer is observed."""

    def count_as_asked(self, stop_code: str, now: float) -> None:
        """Take note that a stop is being asked that somebody else chose."""

    def running_seconds(self, stop_codes: Sequence[str]) -> float | None:
        """Return how long a bus takes along some stops; None if that is not learned."""


class Rotation:
    """Asks every stop in turn, whatever the answers say."""

    def __init__(self, stop_codes: Iterable[str]) -> None:
        self._turn = deque(sorted(set(stop_codes)))

    def observe(self, observation: Observation) -> None:
        """Learn nothing."""

    def choose(self, now: float) -> str:  # noqa: ARG002 - the turn is the same at any time
        """Return the stop whose turn it is."""
        self._turn.rotate(-1)
        return self._turn[-1]

    def count_as_asked(self, stop_code: str, now: float) -> None:
        """Keep the turn as it is."""

    def running_seconds(self, stop_codes: Sequence[str]) -> float | None:  # noqa: ARG002 - whatever they are
        """Return nothing: no running time is learned."""
        return None

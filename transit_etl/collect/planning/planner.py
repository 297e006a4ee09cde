"""Defines what a policy is: it chooses which stop to ask next, from what the answers so far say.

Times are epoch seconds. A policy knows no clock and does no input or output, and is deterministic: the same
observations and questions give the same stops.
"""

from collections import deque
from collections.abc import Iterable
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

"""Disruptions as the service status lists them, and the random draws that their generators share."""

from dataclasses import dataclass
from math import exp

from transit_emulator import noise

DIVERTED = "DEV"
BUSES, LIFTS, METRO = "SG", "ASC", "MM"
MINUTE, HOUR, DAY = 60, 3600, 86_400
LONGEST_DAYS = 24
_WITHOUT_CAUSE = 0.2  # of the events of buses and lifts: those without `causa`


@dataclass(frozen=True, slots=True)
class Event:
    """A disruption, listed in [listed_at, ended_at).

    It is about lines, given by their numbers, about a facility, such as a lift, or about the whole network.
    Its message may change at `edited_at`; it may be missing from the list within [absent_from,
    absent_until). All three are 0 where that does not happen.
    """

    id: str
    event: str
    category: str
    cause: str | None
    message: str
    started_at: int
    listed_at: int
    ended_at: int
    line_numbers: tuple[str, ...] = ()
    line_positions: tuple[int, ...] = ()
    facility: str = ""
    edited_at: int = 0
    edited_message: str = ""
    absent_from: int = 0
    absent_until: int = 0

    def is_listed(self, instant: float) -> bool:
        """Tell whether the status lists the event at an instant."""
        is_on = self.listed_at <= instant < self.ended_at
        return is_on and not self.absent_from <= instant < self.absent_until

    def message_at(self, instant: float) -> str:
        """Return the message as it reads at an instant."""
        return self.edited_message if self.edited_at and instant >= self.edited_at else self.message


def has_no_cause(name: str) -> bool:
    """Tell whether an event is published without its cause."""
    return noise.unit(name, "no cause") < _WITHOUT_CAUSE


def listing_lag(name: str) -> int:
    """Return after how many seconds an event is listed."""
    return noise.pick(10, name, "lag") * MINUTE


def duration(name: str, median: int, spread: float, longest: int) -> int:
    """Return a duration, skewed to the right, in whole seconds."""
    draw = sum(noise.unit(name, "lasts", n) for n in range(12)) - 6  # nearly normal
    return int(min(longest, max(12 * MINUTE, median * exp(spread * draw))))


def one_of(choices: tuple[str, ...], name: str, what: str) -> str:
    """Return one of some choices."""
    return choices[noise.pick(len(choices), name, what)]


def event_id(name: str) -> str:
    """Return the id of an event."""
    return f"{noise.key(name, 'id'):016x}"

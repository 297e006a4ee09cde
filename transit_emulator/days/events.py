"""Disruptions, how the service status lists them, and the random draws that their generators share."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp

from transit_emulator import noise

DIVERTED = "DEV"
BUSES, LIFTS, METRO, FUNICULARS = "SG", "ASC", "MM", "FUN"
MINUTE, HOUR, DAY = 60, 3600, 86_400
LONGEST_DAYS = 24  # an event is over so many days after the date that it starts on
LONGEST_AHEAD_DAYS = 15  # an event is listed at most so many days before that date
_WITHOUT_CAUSE = 0.2  # of the events of buses and plant: those without `causa`


@dataclass(frozen=True, slots=True)
class Version:
    """What the status says of an event from an instant on, until the next version.

    `lines` are labels as they are written, one text if `is_one_text`; `positions` are the lines that each of
    them stands for. For an event of a plant its `name` is written in their place. `starts_at` is the start
    announced.
    """

    valid_from: int
    cause: str | None
    message: str
    starts_at: int
    lines: tuple[str, ...] = ()
    positions: tuple[tuple[int, ...], ...] = ()
    is_one_text: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """A disruption, and what the status says of it and when.

    It disturbs its lines or its plant in [started_at, ended_at), unless it `is_withdrawn`: then it was
    announced for these instants and did not happen. `listed` are the intervals [from, until) in which the
    status has it. `classes` names what is unusual about how it is published. A second notice about the same
    disturbance has the id of the first one as `notice_of`.
    """

    id: str
    event: str
    category: str
    started_at: int
    ended_at: int
    listed: tuple[tuple[int, int], ...]
    versions: tuple[Version, ...]
    line_positions: tuple[int, ...] = ()
    plant_id: str = ""
    is_out_of_use: bool = False
    is_withdrawn: bool = False
    notice_of: str = ""
    classes: tuple[str, ...] = ()

    @property
    def listed_at(self) -> int:
        """When the status first has the event."""
        return self.listed[0][0]

    @property
    def unlisted_at(self) -> int:
        """From when on the status has it no more."""
        return self.listed[-1][1]

    def is_listed(self, instant: float) -> bool:
        """Tell whether the status has the event at an instant."""
        return any(first <= instant < until for first, until in self.listed)

    def version_at(self, instant: float) -> Version:
        """Return what the status says of the event at an instant, the first version before that."""
        known = [version for version in self.versions if version.valid_from <= instant]
        return known[-1] if known else self.versions[0]

    def covers(self, first: float, until: float) -> bool:
        """Tell whether the status has the event at any time in [first, until)."""
        return self.listed_at < until and self.unlisted_at > first

    def listed_versions(self) -> Iterator[tuple[Version, int, int]]:
        """Yield the versions that the status ever shows, and from when and until when each is in force."""
        ends = [version.valid_from for version in self.versions[1:]] + [self.unlisted_at]
        for version, until in zip(self.versions, ends, strict=True):
            first = max(version.valid_from, self.listed_at)
            if first < min(until, self.unlisted_at):
                yield version, first, min(until, self.unlisted_at)


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

"""Says what a poll teaches about the schedule, and keeps which scheduled times were read.

A stop lists departures that have no vehicle yet with their scheduled times. Each is worth reading once: the
departure has the same times on other dates, and departures near it have much the same ones. Only a share of
the choices may be made mainly for that. `docs/planning.md` says what it costs and brings.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import exp, inf
from typing import NamedTuple

from transit_etl.collect.planning.parameters import PlannerParameters
from transit_etl.collect.planning.state import StopState
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern, StopPatterns


class TimetableDeparture(NamedTuple):
    """When a bus leaves its first stop: epoch seconds, and seconds of the service day."""

    leaves_at: float
    service_seconds: int


@dataclass(slots=True)
class LineSchedule:
    """The departures of a line in one direction, in order, and what is known of their times at its stops.

    By the seconds of the service day of a departure, `read` has a bit for each position whose scheduled time
    was read, and `unlisted` one for each whose stop did not list the departure when it should have.
    """

    departures: list[TimetableDeparture] = field(default_factory=list)
    read: dict[int, int] = field(default_factory=dict)
    unlisted: dict[int, int] = field(default_factory=dict)

    def between(self, first: float, last: float) -> list[TimetableDeparture]:
        """Return the departures from one instant to another, both included."""
        start = bisect_left(self.departures, (first,))
        return self.departures[start : bisect_right(self.departures, (last, inf), start)]

    def is_read(self, departure: TimetableDeparture, position: int) -> bool:
        """Tell whether the time of a departure at a position was read."""
        return bool(self.read.get(departure.service_seconds, 0) >> position & 1)

    def is_settled(self, departure: TimetableDeparture, position: int) -> bool:
        """Tell whether asking for the time of a departure at a position teaches nothing more."""
        is_unlisted = self.unlisted.get(departure.service_seconds, 0) >> position & 1
        return bool(is_unlisted) or self.is_read(departure, position)


Schedules = Mapping[LineStops, LineSchedule]


class _Row(NamedTuple):
    """A departure that a stop should list without a vehicle, and when it is due there."""

    schedule: LineSchedule
    departure: TimetableDeparture
    label: str
    position: int
    due_at: float


class ScheduleReading:
    """What polls teach about schedules; these belong to who passes them, and are kept there."""

    def __init__(self, schedules: Schedules, patterns: StopPatterns, parameters: PlannerParameters) -> None:
        self.n_choices = 0
        """How many choices were made mainly for scheduled times."""
        self._p = parameters.schedule
        self._listing = parameters.listing
        self._n_saved = self._most_saved = parameters.poll.most_saved_choices
        self._schedules = schedules
        self._calls: dict[str, list[tuple[StopPattern, int, LineSchedule]]] = {}
        for pattern in patterns.all:
            schedule = self._schedule_of(pattern)
            for position, code in enumerate(pattern.stop_codes):
                if schedule is not None:
                    self._calls.setdefault(code, []).append((pattern, position, schedule))

    def bonus(self, stop: StopState, value: float, now: float) -> float:
        """Return what a poll is worth for the schedule, beside its `value` for passages.

        That is at most as much once the share of the choices is used up.
        """
        if now >= stop.taught_until:
            stop.taught, stop.taught_until = self._taught(stop, now), now + self._p.revalue_seconds
        bonus = self._p.new_time_bonus * stop.taught
        stop.is_mainly_for_schedule = bonus > value and self._n_saved >= 1.0
        return bonus if stop.is_mainly_for_schedule else min(bonus, value)

    def record_choice(self, stop: StopState) -> None:
        """Count a choice, and whether it was made mainly for scheduled times."""
        p, is_mainly_for_it = self._p, stop.is_mainly_for_schedule
        self._n_saved = min(self._most_saved, self._n_saved + p.most_share) - is_mainly_for_it
        self.n_choices += is_mainly_for_it
        stop.is_mainly_for_schedule = False

    def revalue_at(self, stop: StopState, now: float) -> float:
        """Return when a poll at which no passage is expected may become worth something."""
        return max(stop.taught_until, stop.rest_ends_at, now) if stop.code in self._calls else inf

    def learn(self, pattern: StopPattern, position: int, scheduled_at: float) -> None:
        """Take note of a scheduled time: that of the departure nearest to the one that it implies."""
        schedule = self._schedule_of(pattern)
        if schedule is None:
            return
        leaves_at = scheduled_at - pattern.running_times.offsets[position]
        most = self._listing.same_departure_seconds
        near = schedule.between(leaves_at - most, leaves_at + most)
        departure = min(near, key=lambda each: abs(each.leaves_at - leaves_at), default=None)
        if departure is not None:
            _set_bit(schedule.read, departure, position)

    def learn_unlisted(self, stop: StopState, at: float, full_lines: Mapping[str, list[float]]) -> None:
        """Take note of the departures that a good answer should have listed and did not.

        `full_lines` has the listed times, in order, of each line that has no room for more in the list.
        """
        stop.taught_until = -inf
        for row in self._unsettled_rows(stop, at):
            times = full_lines.get(row.label)
            if times is None or row.due_at < times[-1]:
                _set_bit(row.schedule.unlisted, row.departure, row.position)

    def _taught(self, stop: StopState, now: float) -> float:
        """Return how many new scheduled times a poll teaches that hardly any other poll would.

        A time counts for less the more departures near it were read at the stop, and the longer it stays
        listed compared with how often the stop is asked anyway.
        """
        if now < stop.rest_ends_at:
            return 0.0
        p, taught = self._p, 0.0
        unasked = min(now - stop.answered_at, p.listed_seconds)
        for schedule, departure, _, position, _ in self._unsettled_rows(stop, now):
            leaves_at = departure.leaves_at
            near = schedule.between(leaves_at - p.near_seconds, leaves_at + p.near_seconds)
            n_read = sum(schedule.is_read(each, position) for each in near)
            listed_for = leaves_at - self._listing.live_seconds - now
            taught += p.told_factor**n_read * exp(-listed_for / max(1.0, unasked))
        return taught

    def _unsettled_rows(self, stop: StopState, now: float) -> Iterator[_Row]:
        p = self._p
        for pattern, position, schedule in self._calls.get(stop.code, ()):
            offset = pattern.running_times.offsets[position]
            to_come = schedule.between(now - offset, now + p.listed_seconds - offset)
            for departure in to_come[: self._listing.per_line]:
                has_vehicle = departure.leaves_at < now + self._listing.live_seconds
                if not has_vehicle and not schedule.is_settled(departure, position):
                    yield _Row(schedule, departure, pattern.label, position, departure.leaves_at + offset)

    def _schedule_of(self, pattern: StopPattern) -> LineSchedule | None:
        return self._schedules.get(LineStops(pattern.label, pattern.stop_codes))


def _set_bit(masks: dict[int, int], departure: TimetableDeparture, position: int) -> None:
    seconds = departure.service_seconds
    masks[seconds] = masks.get(seconds, 0) | 1 << position

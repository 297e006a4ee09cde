"""Computes what happens on each service date; results of the dates used last are kept."""

from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import TypeVar

import numpy as np

from transit_emulator.days.added_trips import with_added_trips, with_possible_trips
from transit_emulator.days.blocks import blocks, relieved
from transit_emulator.days.board import Board, board
from transit_emulator.days.disruptions import events_starting_on
from transit_emulator.days.diversions import skipped_calls, skipped_stops
from transit_emulator.days.events import LONGEST_AHEAD_DAYS, LONGEST_DAYS, Event
from transit_emulator.days.motion import EventEffects, Motion, motion
from transit_emulator.days.news import NewsItem, news_of
from transit_emulator.days.schedule import Flags, Schedule, schedule_of
from transit_emulator.days.seasons import SeasonCalendar, with_seasons
from transit_emulator.days.trip_ids import IdMode, reused, vehicles
from transit_emulator.days.weather import weather
from transit_emulator.local_time import ONE_DAY, at_local
from transit_emulator.networks.network import Network

_DAYS_KEPT, _EVENT_DAYS_KEPT = 6, 64
_Result = TypeVar("_Result")


class SimulatedDays:
    """The service dates of a network: each result is a function of the network, the seed and the date."""

    has_seasons = True  # if timetables are revised at all

    def __init__(
        self,
        network: Network,
        seed: int = 1,
        id_mode: IdMode = IdMode.STABLE,
        *,
        has_revisions: bool = False,
    ) -> None:
        has_seasons = has_revisions and self.has_seasons
        self.seasons = SeasonCalendar(network.calendar, seed, network.zone) if has_seasons else None
        scheduled = with_seasons(network, self.seasons) if self.seasons else network
        self.network = with_possible_trips(scheduled, seed)
        self.seed = seed
        self.id_mode = id_mode
        self.has_revisions = has_revisions
        self.schedule: Callable[[date], Schedule] = _cached(self._schedule)
        self.schedule_before: Callable[[date], Schedule] = _cached(self._schedule_of_season_before)
        self.motion: Callable[[date], Motion] = _cached(self._motion)
        self.board: Callable[[date], Board] = _cached(self._board)
        self.blocks: Callable[[date], list[int]] = _cached(self._blocks)
        self.vehicles: Callable[[date], list[str]] = _cached(self._vehicles)
        self.live_ids: Callable[[date], list[str]] = _cached(self._live_ids)
        self.events: Callable[[date], tuple[Event, ...]] = _cached(self._events, _EVENT_DAYS_KEPT)
        self.listed_on: Callable[[date], list[Event]] = _cached(self._listed_on)
        self.news_published: Callable[[date], tuple[NewsItem, ...]] = _cached(
            self._news_published, _EVENT_DAYS_KEPT
        )

    def _schedule(self, day: date) -> Schedule:
        return with_added_trips(self.network, schedule_of(self.network, day), self.seed)

    def _schedule_of_season_before(self, day: date) -> Schedule:
        return schedule_of(self.network, day, self.seasons.services_before(day) if self.seasons else None)

    def _motion(self, day: date) -> Motion:
        skipped = skipped_calls(self.network, self.schedule(day), self.events_around(day))
        return self._motion_under(day, EventEffects(self.disrupted(day), skipped))

    def _motion_under(self, day: date, effects: EventEffects) -> Motion:
        return motion(self.network, self.schedule(day), self.seed, effects, self.blocks(day))

    def motion_without_events(self, day: date) -> Motion:
        """Return what would happen on a service date, by the same draws, if no event disturbed a line."""
        schedule = self.schedule(day)
        none = EventEffects(np.zeros(schedule.n_trips, dtype=np.bool_), np.zeros_like(schedule.is_call))
        return self._motion_under(day, none)

    def _board(self, day: date) -> Board:
        return board(self.network, self.schedule(day), self.motion(day))

    def _vehicles(self, day: date) -> list[str]:
        schedule, moved = self.schedule(day), self.motion(day)
        numbers = relieved(schedule, self.blocks(day), moved.passed_at, moved.is_passed)
        return vehicles(schedule, numbers, self.seed)

    def _blocks(self, day: date) -> list[int]:
        return blocks(self.network, self.schedule(day))

    def _live_ids(self, day: date) -> list[str]:
        if self.id_mode is IdMode.VEHICLE:
            return self.vehicles(day)
        if self.id_mode is IdMode.REUSED:
            return reused(self.network, self.schedule(day))
        return [self.network.trips[trip].id for trip in self.schedule(day).trips]

    def _events(self, day: date) -> tuple[Event, ...]:
        return events_starting_on(self.network, self.seed, day)

    def _listed_on(self, day: date) -> list[Event]:
        """Return the events that the status has at any time of a local date, by start."""
        first, until = at_local(day, 0, self.network.zone), at_local(day + ONE_DAY, 0, self.network.zone)
        days = (day + ONE_DAY * step for step in range(-LONGEST_DAYS, LONGEST_AHEAD_DAYS + 1))
        return [event for start in days for event in self.events(start) if event.covers(first, until)]

    def _news_published(self, day: date) -> tuple[NewsItem, ...]:
        announced = self.seasons.announced_on(day) if self.seasons else []
        return news_of(self.network, self.seed, day, self.listed_on(day), announced)

    def weather_on(self, day: date) -> str | None:
        """Return what the weather of a service date is called; None where it is not known."""
        return weather(self.seed, day).name

    def skipped_stops(self, event: Event) -> frozenset[int]:
        """Return the stops that buses skip because of an event; mostly none."""
        if event.is_withdrawn:
            return frozenset()
        return frozenset(stop for stops in skipped_stops(self.network, event).values() for stop in stops)

    def disrupted(self, day: date) -> Flags:
        """Tell which trips of a service date leave during an event on their line."""
        schedule = self.schedule(day)
        lines = self.network.pattern_line[self.network.trip_pattern[schedule.trips]]
        is_disrupted = np.zeros(schedule.n_trips, dtype=np.bool_)
        for event in self.events_around(day):
            is_on = schedule.leaves_between(event.started_at, event.ended_at)
            is_disrupted |= is_on & np.isin(lines, event.line_positions)
        return is_disrupted

    def events_around(self, day: date) -> list[Event]:
        """Return the events that disturb lines and may overlap a service date."""
        days = (day - ONE_DAY * back for back in range(-2, LONGEST_DAYS + 1))
        found = (event for start in days for event in self.events(start))
        return [event for event in found if event.line_positions and not event.is_withdrawn]


def _cached(make: Callable[[date], _Result], days: int = _DAYS_KEPT) -> Callable[[date], _Result]:
    """Return the function with a cache of its results for the dates used last."""
    return lru_cache(maxsize=days)(make)

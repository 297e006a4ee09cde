"""Computes the scheduled passages of one service date as instants."""

from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from transit_emulator.local_time import day_start
from transit_emulator.networks.network import NO_STOP, Ints, Network

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Schedule:
    """The trips of a service date; matrices are trips by sequence, instants in Unix seconds.

    `is_added` marks trips that run without being in the timetable.
    """

    service_date: date
    starts_at: int
    trips: Ints
    stops: Ints
    is_call: Flags
    scheduled_at: Ints
    is_added: Flags

    @property
    def n_trips(self) -> int:
        """How many trips there are."""
        return len(self.trips)

    @property
    def departs_at(self) -> Ints:
        """When each trip leaves its origin."""
        return self.scheduled_at[:, 0]

    @cached_property
    def by_departure(self) -> list[int]:
        """The rows in the order in which their trips leave."""
        rows: list[int] = self.departs_at.argsort(kind="stable").tolist()
        return rows

    def leaves_between(self, first: int, last: int) -> Flags:
        """Tell which trips leave from `first` on and before `last`."""
        return (self.departs_at >= first) & (self.departs_at < last)

    def rows_of_pattern(self, network: Network, pattern: int) -> list[int]:
        """Return the rows of the scheduled trips that follow a pattern."""
        is_found = (network.trip_pattern[self.trips] == pattern) & ~self.is_added
        rows: list[int] = np.flatnonzero(is_found).tolist()
        return rows


def schedule_of(network: Network, day: date, services: frozenset[str] | None = None) -> Schedule:
    """Return the schedule of a service date, or the one it would have with other `services`.

    It has no trips outside of the calendar.
    """
    trips = network.trips_on(day) if services is None else network.trips_of(services)
    return _of_trips(network, day, trips, is_added=False)


def with_added(network: Network, schedule: Schedule, trips: Ints) -> Schedule:
    """Return a schedule with trips that are not in the timetable, in the last rows."""
    more = _of_trips(network, schedule.service_date, trips, is_added=True)
    return replace(
        schedule,
        trips=np.concatenate([schedule.trips, more.trips]),
        stops=np.concatenate([schedule.stops, more.stops]),
        is_call=np.concatenate([schedule.is_call, more.is_call]),
        scheduled_at=np.concatenate([schedule.scheduled_at, more.scheduled_at]),
        is_added=np.concatenate([schedule.is_added, more.is_added]),
    )


def _of_trips(network: Network, day: date, trips: Ints, *, is_added: bool) -> Schedule:
    starts_at = day_start(day, network.zone)
    stops = network.pattern_stops[network.trip_pattern[trips]]
    return Schedule(
        service_date=day,
        starts_at=starts_at,
        trips=trips,
        stops=stops,
        is_call=stops != NO_STOP,
        scheduled_at=starts_at + network.trip_times[trips][:, : stops.shape[1]],
        is_added=np.full(len(trips), is_added),
    )

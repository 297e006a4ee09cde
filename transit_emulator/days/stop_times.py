"""Simulates when trips arrive at and leave their stops, given the trips ahead and earlier trips."""

from dataclasses import dataclass

import numpy as np

from transit_emulator import noise
from transit_emulator.days.blocks import NO_TRIP
from transit_emulator.days.congestion import Congestion
from transit_emulator.days.headways import PrecedingCalls, dependency_levels
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.days.weather import Weather
from transit_emulator.networks.network import Ints
from transit_emulator.networks.traffic import Traffic
from transit_emulator.noise import Floats, Keys

_TRAFFIC_HOURS = np.array([0, 6, 7, 8, 9.5, 12, 16, 17.5, 19, 21, 30])
_TRAFFIC = np.array([-0.015, -0.015, 0.01, 0.025, 0.0, 0.0, 0.01, 0.03, 0.015, -0.01, -0.015])
_NOBODY_WAITS = 0.15  # of the calls: the bus does not stop
_DISRUPTED_SECONDS, _DISRUPTED_SLOWNESS = 70.0, 0.08
_TURNING_SECONDS = 60.0  # the shortest layover of a vehicle between two trips
_RELIEVED_SECONDS = 2_400.0  # a vehicle later than this for its next trip is relieved
_GAIN, _LARGEST_RATIO = 0.8, 2.2  # dwell time grows with actual headway over scheduled headway
_LONGEST_DWELL = 120.0


@dataclass(frozen=True)
class Conditions:
    """The conditions of a service date; one value per trip, or trips by sequence.

    `before` is the trip that each trip's vehicle runs before it, NO_TRIP where there is none.
    """

    seed: int
    keys: Keys
    traffic: Traffic
    congestion: Congestion
    weather: Weather
    is_disrupted: Flags
    is_passed: Flags
    preceding: PrecedingCalls
    before: list[int]


@dataclass(frozen=True)
class StopTimes:
    """When trips arrive and leave, in Unix seconds, and their headways as shares of the scheduled ones."""

    passed_at: Ints
    departed_at: Ints
    headway_ratio: Floats


def simulate_stop_times(schedule: Schedule, day: Conditions) -> StopTimes:
    """Return when each trip passes its stops; the times of a trip that does not run mean nothing."""
    simulation = _Simulation(schedule, day)
    if schedule.n_trips:
        for rows in dependency_levels(schedule, day.preceding, day.before):
            simulation.start(rows)
            simulation.advance(rows)
    return StopTimes(
        _rounded(simulation.passed_at), _rounded(simulation.departed_at), simulation.headway_ratio
    )


class _Simulation:
    """The times of all trips: as scheduled until their rows have been simulated."""

    def __init__(self, schedule: Schedule, day: Conditions) -> None:
        self._schedule, self._day = schedule, day
        self._origin_lateness = _origin_lateness(schedule, day)
        self._expected_at = _expected_at(schedule, day.traffic.timetable_seconds)
        self._added_seconds = _added_seconds(schedule, day, self._expected_at)
        self._dwell_seconds = _dwell_seconds(schedule, day)
        self.passed_at = self._expected_at.copy()
        self.departed_at = self.passed_at.copy()
        self.headway_ratio = np.ones(self.passed_at.shape)

    def start(self, rows: Ints) -> None:
        """Let trips leave their origin: late by chance, and not before their vehicle has turned.

        A vehicle that is far too late is relieved: another one runs its next trip.
        """
        before = np.array(self._day.before, dtype=np.int64)[rows]
        last = self._schedule.is_call[before].sum(axis=1) - 1
        ready_at = self.passed_at[before, last] + _TURNING_SECONDS
        lateness = ready_at - self._schedule.scheduled_at[rows, 0]
        is_waited_for = (before != NO_TRIP) & (lateness <= _RELIEVED_SECONDS)
        lateness_of_vehicle = np.where(is_waited_for, lateness, self._day.traffic.earliest)
        self.passed_at[rows, 0] += np.maximum(self._origin_lateness[rows], lateness_of_vehicle)
        self.departed_at[rows, 0] = self.passed_at[rows, 0]

    def advance(self, rows: Ints) -> None:
        """Simulate trips to their last stops: lateness decreases slowly; traffic and boarding add to it.

        A larger headway than scheduled means more riders, and a longer dwell time.
        """
        expected, added = self._expected_at[rows], self._added_seconds[rows]
        remaining = self._day.traffic.remaining_lateness
        usual_dwell = self._dwell_seconds[rows]
        preceding, headway = self._day.preceding, self._day.preceding.headway_seconds[rows]
        has_preceding = preceding.trip[rows] != NO_TRIP
        preceding_at = self.passed_at[preceding.trip[rows], preceding.sequence[rows]]
        shortest = np.maximum(6.0, 0.35 * np.diff(expected, axis=1))
        passed, left, ratios = self.passed_at[rows], self.departed_at[rows], self.headway_ratio[rows]
        extra_dwell = np.zeros(len(rows))
        for step in range(1, int(self._schedule.is_call[rows].sum(axis=1).max())):
            before = passed[:, step - 1] - expected[:, step - 1]
            lateness = remaining * before + added[:, step] + extra_dwell
            earliest = left[:, step - 1] + shortest[:, step - 1]
            passed[:, step] = np.maximum(expected[:, step] + lateness, earliest)
            behind = passed[:, step] - preceding_at[:, step]
            is_behind = has_preceding[:, step] & (
                behind > 0
            )  # a trip that has overtaken has the usual riders
            ratio = np.minimum(behind / headway[:, step], _LARGEST_RATIO)
            ratios[:, step] = np.where(is_behind, ratio, 1.0)
            dwell = np.minimum(usual_dwell[:, step] * (1 + _GAIN * (ratios[:, step] - 1)), _LONGEST_DWELL)
            extra_dwell = dwell - usual_dwell[:, step]
            left[:, step] = passed[:, step] + dwell
        self.passed_at[rows], self.departed_at[rows], self.headway_ratio[rows] = passed, left, ratios


def _rounded(seconds: Floats) -> Ints:
    return np.rint(seconds).astype(np.int64)


def _expected_at(schedule: Schedule, timetable_seconds: int) -> Floats:
    """Return when trips pass if nothing is late: as scheduled, before the timetable rounded its times."""
    at = schedule.scheduled_at.astype(np.float64)
    middle = (at[:, :-2] + 2 * at[:, 1:-1] + at[:, 2:]) / 4
    half = timetable_seconds // 2
    is_between = schedule.is_call[:, 2:]
    at[:, 1:-1] += np.where(is_between, np.clip(middle - at[:, 1:-1], -half, half), 0.0)
    return at


def _origin_lateness(schedule: Schedule, day: Conditions) -> Floats:
    traffic = day.traffic
    day_key = noise.keys([f"{day.seed}/{schedule.service_date.isoformat()}"])
    bad_day = np.exp(traffic.day_spread * np.clip(noise.normal(day_key, "day"), -2, 2)) * day.weather.dwell
    hours = (schedule.departs_at - schedule.starts_at) / 3600
    from_hours, seconds = np.array(traffic.usual_lateness).T
    usual = np.interp(hours, from_hours, seconds) * bad_day
    of_trip = traffic.trip_spread * noise.normal(day.keys, "origin")
    lateness = usual * np.exp(of_trip + day.congestion.lateness) - traffic.earliness
    lateness += _DISRUPTED_SECONDS * day.is_disrupted
    return np.asarray(np.clip(lateness, traffic.earliest, traffic.latest), dtype=np.float64)


def _added_seconds(schedule: Schedule, day: Conditions, expected_at: Floats) -> Floats:
    """Return by how much each run between stops takes longer: weather, rush hours, the trip, and chance."""
    expected = np.diff(expected_at, axis=1, prepend=expected_at[:, :1])
    hours = (schedule.scheduled_at - schedule.starts_at) / 3600
    slowness = day.traffic.trip_slowness * noise.normal(day.keys, "traffic")
    slowness += _DISRUPTED_SLOWNESS * day.is_disrupted + day.weather.slowness
    variation = day.traffic.run_slowness * noise.normal(stop_keys(schedule, day.keys), "run")
    variation += day.congestion.slowness
    return np.asarray(expected * (slowness[:, None] + np.interp(hours, _TRAFFIC_HOURS, _TRAFFIC) + variation))


def _dwell_seconds(schedule: Schedule, day: Conditions) -> Floats:
    keys = stop_keys(schedule, day.keys)
    seconds = 20 * day.weather.dwell * np.exp(0.55 * noise.normal(keys, "dwell"))
    is_stop = day.is_passed & (noise.uniform(keys, "nobody waits") >= _NOBODY_WAITS)
    return np.where(is_stop, np.minimum(seconds, 90), 0.0)


def stop_keys(schedule: Schedule, keys: Keys) -> Keys:
    """Return a key for each call, trips by sequence."""
    return noise.combine(keys[:, None], np.arange(schedule.is_call.shape[1], dtype=np.uint64)[None, :])

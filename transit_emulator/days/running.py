"""Follows each trip from stop to stop, behind the bus ahead and after its vehicle's trip before."""

from dataclasses import dataclass

import numpy as np

from transit_emulator import noise
from transit_emulator.days.blocks import NO_TRIP
from transit_emulator.days.headways import Ahead, waves
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.days.weather import Weather
from transit_emulator.networks.network import Ints
from transit_emulator.noise import Floats, Keys

# Median lateness at the origin by hour of the service day: small at dawn, largest in the evening peak.
_HOURS = np.array([0, 4, 6, 8, 11, 14, 17, 19, 21, 24, 30])
_LATENESS_SECONDS = np.array([45, 40, 47, 110, 95, 110, 140, 115, 80, 60, 45])
_TRAFFIC_HOURS = np.array([0, 6, 7, 8, 9.5, 12, 16, 17.5, 19, 21, 30])
_TRAFFIC = np.array([-0.015, -0.015, 0.01, 0.025, 0.0, 0.0, 0.01, 0.03, 0.015, -0.01, -0.015])
_EARLIEST, _LATEST = -150.0, 1_800.0
_NOBODY_WAITS = 0.15
_DISRUPTED_SECONDS, _DISRUPTED_SLOWNESS = 70.0, 0.08
_TURNING_SECONDS = 60.0  # the least a vehicle stands at a terminus between two trips
_FADING = 0.985  # of the lateness, from stop to stop
_GAIN, _LARGEST_RATIO = 0.8, 2.2  # how much longer riders take to board, by headway over scheduled headway
_LONGEST_DWELL = 120.0


@dataclass(frozen=True)
class Conditions:
    """What a service date is like: `before` is the trip each trip's vehicle runs before, if it runs."""

    seed: int
    keys: Keys
    weather: Weather
    is_disrupted: Flags
    is_passed: Flags
    ahead: Ahead
    before: list[int]


@dataclass(frozen=True)
class Running:
    """When buses arrive and leave, in Unix seconds, and their headways as shares of the scheduled ones."""

    passed_at: Ints
    departed_at: Ints
    headway_ratio: Floats


@dataclass(frozen=True)
class _Chances:
    """What chance has in store for the trips: seconds of lateness, of running and of dwelling."""

    origin: Floats
    running: Floats
    dwell: Floats


@dataclass(frozen=True)
class _SoFar:
    """What is known of all trips so far, filled in trip by trip."""

    passed: Floats
    departed: Floats
    ratio: Floats


def run(plan: Schedule, day: Conditions) -> Running:
    """Return when each trip passes its stops; a trip that does not run is as if none were ahead of it."""
    scheduled = plan.scheduled_at.astype(np.float64)
    so_far = _SoFar(scheduled, scheduled.copy(), np.ones(scheduled.shape))
    if plan.n_trips:
        chances = _Chances(_origin_lateness(plan, day), _added_seconds(plan, day), _dwell(plan, day))
        for rows in waves(plan, day.ahead, day.before):
            so_far.passed[rows, 0] += _late_start(plan, day, chances, so_far.passed, rows)
            so_far.departed[rows, 0] = so_far.passed[rows, 0]
            _follow(plan, day.ahead, chances, rows, so_far)
    return Running(_whole(so_far.passed), _whole(so_far.departed), so_far.ratio)


def _whole(seconds: Floats) -> Ints:
    return np.rint(seconds).astype(np.int64)


def _late_start(plan: Schedule, day: Conditions, chances: _Chances, passed: Floats, rows: Ints) -> Floats:
    """Return how late trips leave: as chance has it, but not before their vehicle has come and turned."""
    before = np.array(day.before, dtype=np.int64)[rows]
    last = plan.is_call[before].sum(axis=1) - 1
    ready = passed[before, last] + _TURNING_SECONDS - plan.scheduled_at[rows, 0]
    return np.maximum(chances.origin[rows], np.where(before == NO_TRIP, _EARLIEST, ready))


def _follow(plan: Schedule, ahead: Ahead, chances: _Chances, rows: Ints, so_far: _SoFar) -> None:
    """Move some trips along their stops: lateness fades slowly, traffic, chance and riders add to it."""
    width = int(plan.is_call[rows].sum(axis=1).max())
    scheduled, added, usual = plan.scheduled_at[rows], chances.running[rows], chances.dwell[rows]
    has_ahead = ahead.trip[rows] != NO_TRIP
    came_ahead = so_far.passed[ahead.trip[rows], ahead.sequence[rows]]
    headway = ahead.seconds[rows]
    shortest = np.maximum(6.0, 0.35 * np.diff(scheduled, axis=1))
    came, left, ratios = so_far.passed[rows], so_far.departed[rows], so_far.ratio[rows]
    excess = np.zeros(len(rows))
    for step in range(1, width):
        lateness = _FADING * (came[:, step - 1] - scheduled[:, step - 1]) + added[:, step] + excess
        came[:, step] = np.maximum(scheduled[:, step] + lateness, left[:, step - 1] + shortest[:, step - 1])
        behind = came[:, step] - came_ahead[:, step]
        is_behind = has_ahead[:, step] & (behind > 0)  # one that has overtaken the other has the usual riders
        share = np.minimum(behind / headway[:, step], _LARGEST_RATIO)
        ratios[:, step] = np.where(is_behind, share, 1.0)
        dwell = np.minimum(usual[:, step] * (1 + _GAIN * (ratios[:, step] - 1)), _LONGEST_DWELL)
        excess = dwell - usual[:, step]
        left[:, step] = came[:, step] + dwell
    so_far.passed[rows], so_far.departed[rows], so_far.ratio[rows] = came, left, ratios


def _origin_lateness(plan: Schedule, day: Conditions) -> Floats:
    day_key = noise.keys([f"{day.seed}/{plan.service_date.isoformat()}"])
    bad_day = float(np.exp(0.35 * np.clip(noise.normal(day_key, "day"), -2, 2))[0]) * day.weather.dwell
    hours = (plan.departs_at - plan.starts_at) / 3600
    usual = np.interp(hours, _HOURS, _LATENESS_SECONDS) * bad_day
    lateness = usual * np.exp(0.85 * noise.normal(day.keys, "origin")) - 92
    lateness += _DISRUPTED_SECONDS * day.is_disrupted
    return np.asarray(np.clip(lateness, _EARLIEST, _LATEST), dtype=np.float64)


def _added_seconds(plan: Schedule, day: Conditions) -> Floats:
    """Return what each run from the stop before takes longer: the weather, rush hours, the trip, chance."""
    planned = np.diff(plan.scheduled_at, axis=1, prepend=plan.scheduled_at[:, :1]).astype(np.float64)
    hours = (plan.scheduled_at - plan.starts_at) / 3600
    slowness = 0.045 * noise.normal(day.keys, "traffic") + _DISRUPTED_SLOWNESS * day.is_disrupted
    slowness += day.weather.slowness
    chance = 0.16 * noise.normal(stop_keys(plan, day.keys), "run")
    return np.asarray(planned * (slowness[:, None] + np.interp(hours, _TRAFFIC_HOURS, _TRAFFIC) + chance))


def _dwell(plan: Schedule, day: Conditions) -> Floats:
    keys = stop_keys(plan, day.keys)
    seconds = 20 * day.weather.dwell * np.exp(0.55 * noise.normal(keys, "dwell"))
    is_stop = day.is_passed & (noise.uniform(keys, "nobody waits") >= _NOBODY_WAITS)
    return np.where(is_stop, np.minimum(seconds, 90), 0.0)


def stop_keys(plan: Schedule, keys: Keys) -> Keys:
    """Return a key for each call, trips by sequence."""
    return noise.combine(keys[:, None], np.arange(plan.is_call.shape[1], dtype=np.uint64)[None, :])

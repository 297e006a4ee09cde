"""Draws how late lines and how slow areas are on a service date: what successive trips have in common."""

from dataclasses import dataclass

import numpy as np

from transit_emulator import noise
from transit_emulator.days.schedule import Schedule
from transit_emulator.local_time import DAY_SECONDS
from transit_emulator.networks.network import DIRECTION_KEYS, Ints, Network, Stop
from transit_emulator.noise import Floats, Keys

_STEP_SECONDS = 1_800
_N_STEPS = (DAY_SECONDS + 12 * 3_600) // _STEP_SECONDS  # until the last trips of a service day have ended
_PERSISTENCE = 0.8  # the correlation of a value with that of one step before
_AREA_SPREAD = 0.8  # of the logarithm of an area's slowness: jams are rare and long
_AREA_DEGREES = 0.012  # about a kilometre


@dataclass(frozen=True)
class Congestion:
    """What trips have in common with others of their line and direction, or in the same area.

    `lateness` is the logarithm of a factor of the lateness at the origin, one value per trip; `slowness` is a
    share that is added to running times, trips by sequence.
    """

    lateness: Floats
    slowness: Floats


def congestion(network: Network, schedule: Schedule, seed: int) -> Congestion:
    """Return the congestion of a service date, a function of the seed and the date."""
    traffic, way = network.traffic, network.pattern_way[network.trip_pattern[schedule.trips]]
    ways = noise.keys([f"{seed}/{line.code}/{key}" for line in network.lines for key in DIRECTION_KEYS])
    by_hour = _over_the_day(ways, seed, schedule)
    lateness = traffic.line_spread * noise.normal(ways, "lateness")[way]
    lateness += traffic.hourly_spread * _at(by_hour, way, schedule.departs_at - schedule.starts_at)
    padding = np.repeat([line.padding for line in network.lines], len(DIRECTION_KEYS))
    slowness = (traffic.line_slowness * noise.normal(ways, "slowness") - padding)[way][:, None]
    return Congestion(
        lateness, slowness + _of_runs(network, schedule, ways) + _of_areas(network, schedule, seed)
    )


def _of_runs(network: Network, schedule: Schedule, ways: Keys) -> Floats:
    """Return by how much slower than scheduled each run to a call is on all dates."""
    runs = noise.combine(ways[network.pattern_way][:, None], network.pattern_stops.astype(np.uint64))
    slowness = network.traffic.usual_run_slowness * noise.normal(runs, "slowness")
    return np.asarray(slowness[network.trip_pattern[schedule.trips]])


def _of_areas(network: Network, schedule: Schedule, seed: int) -> Floats:
    """Return how slow the area of each call is at its scheduled time; the mean over areas and times is 0."""
    areas, area = np.unique([_area_key(stop) for stop in network.stops], return_inverse=True)
    by_hour = np.exp(_AREA_SPREAD * _over_the_day(areas, seed, schedule)) - np.exp(_AREA_SPREAD**2 / 2)
    here = _at(by_hour, area[schedule.stops], schedule.scheduled_at - schedule.starts_at)
    return network.traffic.area_slowness * here


def _area_key(stop: Stop) -> np.uint64:
    """Return the key of a stop's square of the map; a stop without a place is an area by itself."""
    if stop.place is None:
        return np.uint64(noise.key("area", stop.code))
    return np.uint64(noise.key("area", *(round(degrees / _AREA_DEGREES) for degrees in stop.place)))


def _over_the_day(keys: Keys, seed: int, schedule: Schedule) -> Floats:
    """Return standard normal values that change slowly, one row per key, one column per step of the day."""
    today = noise.combine(keys, noise.key(seed, schedule.service_date.isoformat()))
    drawn = noise.normal(noise.combine(today[:, None], np.arange(_N_STEPS, dtype=np.uint64)), "step")
    for step in range(1, _N_STEPS):
        drawn[:, step] *= np.sqrt(1 - _PERSISTENCE**2)
        drawn[:, step] += _PERSISTENCE * drawn[:, step - 1]
    return drawn


def _at(by_step: Floats, row: Ints, seconds: Ints) -> Floats:
    """Return the values of rows at seconds of the service day, between two steps by linear interpolation."""
    place = np.clip(seconds / _STEP_SECONDS, 0, _N_STEPS - 1.001)
    step = place.astype(np.int64)
    before, after = by_step[row, step], by_step[row, step + 1]
    return np.asarray(before + (place - step) * (after - before))

"""Moves the buses: when each trip of a service date really passes its stops, and whether it is tracked."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from transit_etl.emulator import noise
from transit_etl.emulator.network import Ints, Network
from transit_etl.emulator.noise import Floats, Keys
from transit_etl.emulator.schedule import Flags, Schedule

NEVER = np.iinfo(np.int64).max

# Median lateness at the origin by hour of the service day: small at dawn, largest in the evening peak.
_HOURS = np.array([0, 4, 6, 8, 11, 14, 17, 19, 21, 24, 30])
_LATENESS_SECONDS = np.array([50, 45, 60, 150, 115, 135, 205, 160, 100, 70, 50])
_CROWDING = np.array([0.1, 0.2, 0.7, 1.2, 0.7, 0.9, 1.2, 0.9, 0.5, 0.3, 0.1])
_EARLIEST, _LATEST = -150.0, 1_800.0
_NOT_RUN, _NEVER_TRACKED, _TRACKING_LOST = 0.015, 0.06, 0.03
_TAKEN_OFF = 0.7  # of the trips that do not run; the others stay listed as timetable time
_NOBODY_WAITS, _FULL_LOAD = 0.15, 2.9
_DISRUPTED_SECONDS, _DISRUPTED_SLOWNESS = 70.0, 0.08


class Outcome(IntEnum):
    """What became of a trip."""

    RUN = 0
    TRACKING_LOST = 1
    NEVER_TRACKED = 2
    NOT_RUN = 3


@dataclass(frozen=True)
class Motion:
    """The truth about a service date; matrices are trips by sequence, instants in Unix seconds.

    `passed_at` is the arrival (the departure, at the origin); it means nothing for a trip that did not run.
    `live_from`, `lost_at` and `taken_off_at` hold one instant per trip, NEVER where it does not happen.
    """

    keys: Keys
    outcome: Ints
    passed_at: Ints
    departed_at: Ints
    is_full: Flags
    live_from: Ints
    lost_at: Ints
    taken_off_at: Ints


def motion(network: Network, plan: Schedule, seed: int, is_disrupted: Flags) -> Motion:
    """Return what really happens to the trips; a function of the seed, the date and each trip's id."""
    keys = noise.combine(network.trip_keys[plan.trips], noise.key(seed, plan.service_date.isoformat()))
    hours = (plan.scheduled_at[:, 0] - plan.starts_at) / 3600
    passed_at, departed_at = _run(plan, keys, hours, seed, is_disrupted)
    outcome = _outcomes(network, plan, keys)
    return Motion(
        keys=keys,
        outcome=outcome,
        passed_at=passed_at,
        departed_at=departed_at,
        is_full=_is_full(plan, keys, hours),
        live_from=_live_from(plan, keys, outcome),
        lost_at=_lost_at(plan, keys, outcome, passed_at),
        taken_off_at=_taken_off_at(plan, keys, outcome),
    )


def _run(plan: Schedule, keys: Keys, hours: Floats, seed: int, is_disrupted: Flags) -> tuple[Ints, Ints]:
    """Follow each trip from stop to stop: lateness fades slowly, traffic and chance add to it."""
    passed = plan.scheduled_at.astype(np.float64)
    departed = passed.copy()
    if plan.n_trips == 0:
        return passed.astype(np.int64), departed.astype(np.int64)
    lateness = _origin_lateness(plan, keys, hours, seed, is_disrupted)
    slowness = 0.045 * noise.normal(keys, "traffic") + _DISRUPTED_SLOWNESS * is_disrupted
    passed[:, 0] = departed[:, 0] = passed[:, 0] + lateness
    for step in range(1, passed.shape[1]):
        stop_keys = noise.combine(keys, step)
        planned = (plan.scheduled_at[:, step] - plan.scheduled_at[:, step - 1]).astype(np.float64)
        chance = 0.16 * noise.normal(stop_keys, "run")
        lateness = 0.985 * lateness + planned * (slowness + chance)
        soonest = departed[:, step - 1] + np.maximum(6.0, 0.35 * planned)
        passed[:, step] = np.maximum(plan.scheduled_at[:, step] + lateness, soonest)
        lateness = passed[:, step] - plan.scheduled_at[:, step]
        departed[:, step] = passed[:, step] + _dwell(stop_keys)
    return np.rint(passed).astype(np.int64), np.rint(departed).astype(np.int64)


def _origin_lateness(plan: Schedule, keys: Keys, hours: Floats, seed: int, is_disrupted: Flags) -> Floats:
    day_key = noise.keys([f"{seed}/{plan.service_date.isoformat()}"])
    bad_day = float(np.exp(0.35 * np.clip(noise.normal(day_key, "day"), -2, 2))[0])
    usual = np.interp(hours, _HOURS, _LATENESS_SECONDS) * bad_day
    lateness = usual * np.exp(0.85 * noise.normal(keys, "origin")) - 92 + _DISRUPTED_SECONDS * is_disrupted
    return np.asarray(np.clip(lateness, _EARLIEST, _LATEST), dtype=np.float64)


def _dwell(stop_keys: Keys) -> Floats:
    seconds = 20 * np.exp(0.55 * noise.normal(stop_keys, "dwell"))
    return np.where(noise.uniform(stop_keys, "nobody waits") < _NOBODY_WAITS, 0.0, np.minimum(seconds, 90))


def _outcomes(network: Network, plan: Schedule, keys: Keys) -> Ints:
    draw = noise.uniform(keys, "outcome")
    limits = np.cumsum([_NOT_RUN, _NEVER_TRACKED, _TRACKING_LOST])
    kinds = np.array([Outcome.NOT_RUN, Outcome.NEVER_TRACKED, Outcome.TRACKING_LOST, Outcome.RUN])
    outcome = kinds[np.searchsorted(limits, draw)]
    is_line_tracked = np.array([line.is_tracked for line in network.lines])
    is_tracked = is_line_tracked[network.pattern_line[network.trip_pattern[plan.trips]]]
    blind = np.where(outcome == Outcome.NOT_RUN, Outcome.NOT_RUN, Outcome.NEVER_TRACKED)
    return np.where(is_tracked, outcome, blind).astype(np.int64)


def _live_from(plan: Schedule, keys: Keys, outcome: Ints) -> Ints:
    ahead = 180 + 420 * noise.uniform(keys, "live from")
    is_tracked = (outcome == Outcome.RUN) | (outcome == Outcome.TRACKING_LOST)
    return np.where(is_tracked, plan.scheduled_at[:, 0] - ahead.astype(np.int64), NEVER)


def _lost_at(plan: Schedule, keys: Keys, outcome: Ints, passed_at: Ints) -> Ints:
    first = passed_at[:, 0]
    last = np.where(plan.is_call, passed_at, first[:, None]).max(axis=1)
    moment = first + ((last - first) * noise.uniform(keys, "lost at")).astype(np.int64)
    return np.where(outcome == Outcome.TRACKING_LOST, moment, NEVER)


def _taken_off_at(plan: Schedule, keys: Keys, outcome: Ints) -> Ints:
    ahead = 300 + 3_300 * noise.uniform(keys, "taken off how long before")
    is_known = (outcome == Outcome.NOT_RUN) & (noise.uniform(keys, "taken off") < _TAKEN_OFF)
    return np.where(is_known, plan.scheduled_at[:, 0] - ahead.astype(np.int64), NEVER)


def _is_full(plan: Schedule, keys: Keys, hours: Floats) -> Flags:
    """Tell where a bus is full: towards the middle of a trip, at the peaks, on some trips more."""
    if plan.n_trips == 0:
        return plan.is_call
    width = plan.is_call.shape[1]
    calls = plan.is_call.sum(axis=1, keepdims=True)
    steps = np.arange(width, dtype=np.uint64)[None, :]
    along = steps / np.maximum(calls - 1, 1)
    load = np.interp(hours, _HOURS, _CROWDING)[:, None] + 0.7 * noise.normal(keys, "load")[:, None]
    by_stop = 0.25 * noise.normal(noise.combine(keys[:, None], steps), "load here")
    load = load + by_stop + np.sin(np.pi * np.clip(along, 0, 1))
    return np.asarray(plan.is_call & (load > _FULL_LOAD), dtype=np.bool_)

"""Moves the buses: when each trip of a service date really passes its stops, and whether it is tracked."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from transit_emulator import noise
from transit_emulator.days.blocks import NO_TRIP, trip_before
from transit_emulator.days.headways import ahead_of
from transit_emulator.days.running import Conditions, Running, run, stop_keys
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.days.weather import weather
from transit_emulator.networks.network import Ints, Network
from transit_emulator.noise import Keys

NEVER = np.iinfo(np.int64).max

# How full buses are by hour of the service day, at the stop they are at.
_HOURS = np.array([0, 4, 6, 7.5, 8.5, 11, 14, 17, 18.5, 19.5, 21, 24, 30])
_CROWDING = np.array([0.1, 0.1, 0.5, 1.25, 1.25, 0.7, 0.9, 1.2, 1.25, 0.9, 0.5, 0.3, 0.1])
_FULL_LOAD, _BEHIND_A_GAP = 2.9, 0.4
_NOT_RUN, _NEVER_TRACKED, _TRACKING_LOST = 0.015, 0.06, 0.03
_LIVE_AHEAD = (60, 300)  # seconds; later would leave passages at the first stops that nobody can see coming
_TAKEN_OFF = 0.7  # of the trips that do not run; the others stay listed as timetable time


class Outcome(IntEnum):
    """What became of a trip."""

    RUN = 0
    TRACKING_LOST = 1
    NEVER_TRACKED = 2
    NOT_RUN = 3


@dataclass(frozen=True)
class Motion:
    """The truth about a service date; matrices are trips by sequence, instants in Unix seconds.

    `passed_at` is the arrival (the departure, at the origin); it means nothing where not `is_passed`:
    at the calls of trips that did not run, and at those left out on a diversion (`is_skipped`).
    `live_from`, `lost_at` and `taken_off_at` hold one instant per trip, NEVER where it does not happen;
    an added trip, which is no timetable time, counts as taken off from the beginning of time.
    """

    keys: Keys
    outcome: Ints
    is_passed: Flags
    is_skipped: Flags
    passed_at: Ints
    departed_at: Ints
    is_full: Flags
    live_from: Ints
    lost_at: Ints
    taken_off_at: Ints

    @property
    def is_whole(self) -> Flags:
        """Tell which trips ran as planned: tracked to the end, and past every stop of theirs."""
        return np.asarray((self.outcome == Outcome.RUN) & ~self.is_skipped.any(axis=1), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class Hindrance:
    """What events do to a service date: the trips that they slow, and the calls that are left out."""

    is_disrupted: Flags
    is_skipped: Flags


def motion(network: Network, plan: Schedule, seed: int, events: Hindrance, vehicles: list[int]) -> Motion:
    """Return what really happens to the trips; a function of the seed, the date and each trip's id.

    `vehicles` numbers the vehicle of each trip: one that comes late delays what it runs next.
    """
    keys = noise.combine(network.trip_keys[plan.trips], noise.key(seed, plan.service_date.isoformat()))
    outcome = _outcomes(network, plan, keys)
    is_run = outcome != Outcome.NOT_RUN
    before = [row if row != NO_TRIP and is_run[row] else NO_TRIP for row in trip_before(plan, vehicles)]
    is_passed = plan.is_call & is_run[:, None] & ~events.is_skipped
    ahead = ahead_of(network, plan, is_passed)
    today = weather(seed, plan.service_date)
    running = run(plan, Conditions(seed, keys, today, events.is_disrupted, is_passed, ahead, before))
    return Motion(
        keys=keys,
        outcome=outcome,
        is_passed=is_passed,
        is_skipped=events.is_skipped,
        passed_at=running.passed_at,
        departed_at=running.departed_at,
        is_full=_is_full(plan, keys, running),
        live_from=_live_from(plan, keys, outcome, running.departed_at[:, 0]),
        lost_at=_lost_at(plan, keys, outcome, running.passed_at),
        taken_off_at=_taken_off_at(plan, keys, outcome),
    )


def _outcomes(network: Network, plan: Schedule, keys: Keys) -> Ints:
    draw = noise.uniform(keys, "outcome")
    limits = np.cumsum([_NOT_RUN, _NEVER_TRACKED, _TRACKING_LOST])
    kinds = np.array([Outcome.NOT_RUN, Outcome.NEVER_TRACKED, Outcome.TRACKING_LOST, Outcome.RUN])
    outcome = kinds[np.searchsorted(limits, draw)]
    is_line_tracked = np.array([line.is_tracked for line in network.lines])
    is_tracked = is_line_tracked[network.pattern_line[network.trip_pattern[plan.trips]]]
    is_kept = plan.is_added & np.isin(outcome, (Outcome.NOT_RUN, Outcome.NEVER_TRACKED))
    outcome = np.where(is_kept, Outcome.RUN, outcome)
    blind = np.where(outcome == Outcome.NOT_RUN, Outcome.NOT_RUN, Outcome.NEVER_TRACKED)
    return np.where(is_tracked, outcome, blind).astype(np.int64)


def _live_from(plan: Schedule, keys: Keys, outcome: Ints, departed_at: Ints) -> Ints:
    """Return when trips become live: minutes before they are due at the origin, or leave it early."""
    ahead = _LIVE_AHEAD[0] + (_LIVE_AHEAD[1] - _LIVE_AHEAD[0]) * noise.uniform(keys, "live from")
    is_tracked = (outcome == Outcome.RUN) | (outcome == Outcome.TRACKING_LOST)
    starts_at = np.minimum(plan.departs_at, departed_at)
    return np.where(is_tracked, starts_at - ahead.astype(np.int64), NEVER)


def _lost_at(plan: Schedule, keys: Keys, outcome: Ints, passed_at: Ints) -> Ints:
    first = passed_at[:, 0]
    last = np.where(plan.is_call, passed_at, first[:, None]).max(axis=1)
    moment = first + ((last - first) * noise.uniform(keys, "lost at")).astype(np.int64)
    return np.where(outcome == Outcome.TRACKING_LOST, moment, NEVER)


def _taken_off_at(plan: Schedule, keys: Keys, outcome: Ints) -> Ints:
    ahead = 300 + 3_300 * noise.uniform(keys, "taken off how long before")
    is_known = (outcome == Outcome.NOT_RUN) & (noise.uniform(keys, "taken off") < _TAKEN_OFF)
    found = np.where(is_known, plan.departs_at - ahead.astype(np.int64), NEVER)
    return np.where(plan.is_added, 0, found)


def _is_full(plan: Schedule, keys: Keys, running: Running) -> Flags:
    """Tell where a bus is full: midway, at the peaks, behind a gap, and on some trips more than on others."""
    if plan.n_trips == 0:
        return plan.is_call
    steps = np.arange(plan.is_call.shape[1])[None, :]
    along = steps / np.maximum(plan.is_call.sum(axis=1, keepdims=True) - 1, 1)
    hours = (plan.scheduled_at - plan.starts_at) / 3600
    load = np.interp(hours, _HOURS, _CROWDING) + np.sin(np.pi * np.clip(along, 0, 1))
    load += 0.7 * noise.normal(keys, "load")[:, None] + _BEHIND_A_GAP * (running.headway_ratio - 1)
    load += 0.25 * noise.normal(stop_keys(plan, keys), "load here")
    return np.asarray(plan.is_call & (load > _FULL_LOAD), dtype=np.bool_)

"""Simulates a service date: when each trip really passes its stops, and whether it is tracked."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from transit_emulator import noise
from transit_emulator.days.blocks import NO_TRIP, trip_before
from transit_emulator.days.congestion import congestion
from transit_emulator.days.headways import preceding_calls
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.days.stop_times import Conditions, simulate_stop_times, stop_keys
from transit_emulator.days.weather import weather
from transit_emulator.networks.network import Ints, Network
from transit_emulator.noise import Floats, Keys

NEVER = np.iinfo(np.int64).max

# Crowding by hour of the service day.
_HOURS = np.array([0, 4, 6, 7.5, 8.5, 11, 14, 17, 18.5, 19.5, 21, 24, 30])
_CROWDING = np.array([0.1, 0.1, 0.5, 1.25, 1.25, 0.7, 0.9, 1.2, 1.25, 0.9, 0.5, 0.3, 0.1])
_FULL_LOAD, _BEHIND_A_GAP = 2.9, 0.4
_LIVE_AHEAD = (60, 300)  # seconds; fewer would leave passages at the first stops that are never listed live
_TAKEN_OFF = 0.7  # of the trips that do not run; the others stay listed with the timetable's time


class TripOutcome(IntEnum):
    """How a trip ran, if it ran, and how far it was tracked."""

    RUN = 0
    TRACKING_LOST = 1
    NEVER_TRACKED = 2
    NOT_RUN = 3
    NOT_RECORDED = 4  # of a recorded day: it may have run unseen, or not at all


@dataclass(frozen=True)
class Motion:
    """The truth about a service date; matrices are trips by sequence, instants in Unix seconds.

    `passed_at` is the arrival (the departure, at the origin); it has no meaning where not `is_passed`:
    at the calls of trips that did not run, and at those skipped on a diversion (`is_skipped`).
    `live_from`, `lost_at` and `taken_off_at` hold one instant per trip, NEVER where it does not happen;
    `taken_off_at` is 0 for an added trip, because the timetable does not list it.
    `is_recorded` marks the calls whose time is known; of the others that are passed, `is_interpolated` marks
    those between two known ones. In a simulated day all times are known.
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
    is_recorded: Flags
    is_interpolated: Flags

    @property
    def is_complete(self) -> Flags:
        """Tell which trips were tracked to the end and passed each of their stops."""
        return np.asarray((self.outcome == TripOutcome.RUN) & ~self.is_skipped.any(axis=1), dtype=np.bool_)


@dataclass(frozen=True, slots=True)
class EventEffects:
    """What events do to a service date: the trips that they slow, and the calls that are skipped."""

    is_disrupted: Flags
    is_skipped: Flags


def motion(
    network: Network, schedule: Schedule, seed: int, events: EventEffects, vehicles: list[int]
) -> Motion:
    """Return what really happens to the trips; a function of the seed, the date and each trip's id.

    `vehicles` numbers the vehicle of each trip: one that arrives late delays its next trip.
    """
    keys = trip_keys(network, schedule, seed)
    outcome = _outcomes(network, schedule, keys)
    is_run = outcome != TripOutcome.NOT_RUN
    before = [row if row != NO_TRIP and is_run[row] else NO_TRIP for row in trip_before(schedule, vehicles)]
    is_passed = schedule.is_call & is_run[:, None] & ~events.is_skipped
    preceding = preceding_calls(network, schedule, is_passed)
    today = weather(seed, schedule.service_date).weakened(network.traffic.weather_effect)
    shared = congestion(network, schedule, seed)
    stop_times = simulate_stop_times(
        schedule,
        Conditions(
            seed, keys, network.traffic, shared, today, events.is_disrupted, is_passed, preceding, before
        ),
    )
    return Motion(
        keys=keys,
        outcome=outcome,
        is_passed=is_passed,
        is_skipped=events.is_skipped,
        passed_at=stop_times.passed_at,
        departed_at=stop_times.departed_at,
        is_full=is_full(schedule, keys, stop_times.headway_ratio),
        live_from=live_from(keys, outcome, np.minimum(schedule.departs_at, stop_times.departed_at[:, 0])),
        lost_at=_lost_at(schedule, keys, outcome, stop_times.passed_at),
        taken_off_at=taken_off_at(schedule, keys, outcome),
        is_recorded=is_passed,
        is_interpolated=np.zeros_like(is_passed),
    )


def trip_keys(network: Network, schedule: Schedule, seed: int) -> Keys:
    """Return a random key for each trip of a service date."""
    return noise.combine(
        network.trip_keys[schedule.trips], noise.key(seed, schedule.service_date.isoformat())
    )


def _outcomes(network: Network, schedule: Schedule, keys: Keys) -> Ints:
    draw = noise.uniform(keys, "outcome")
    traffic = network.traffic
    limits = np.cumsum([traffic.not_run, traffic.never_tracked, traffic.tracking_lost])
    in_order = np.array(
        [TripOutcome.NOT_RUN, TripOutcome.NEVER_TRACKED, TripOutcome.TRACKING_LOST, TripOutcome.RUN]
    )
    outcome = in_order[np.searchsorted(limits, draw)]
    is_line_tracked = np.array([line.is_tracked for line in network.lines])
    is_tracked = is_line_tracked[network.pattern_line[network.trip_pattern[schedule.trips]]]
    is_changed = schedule.is_added & np.isin(outcome, (TripOutcome.NOT_RUN, TripOutcome.NEVER_TRACKED))
    outcome = np.where(is_changed, TripOutcome.RUN, outcome)
    untracked = np.where(outcome == TripOutcome.NOT_RUN, TripOutcome.NOT_RUN, TripOutcome.NEVER_TRACKED)
    return np.where(is_tracked, outcome, untracked).astype(np.int64)


def live_from(keys: Keys, outcome: Ints, starts_at: Ints) -> Ints:
    """Return when trips become live: minutes before they start, scheduled or earlier; NEVER if untracked."""
    ahead = _LIVE_AHEAD[0] + (_LIVE_AHEAD[1] - _LIVE_AHEAD[0]) * noise.uniform(keys, "live from")
    is_tracked = (outcome == TripOutcome.RUN) | (outcome == TripOutcome.TRACKING_LOST)
    return np.where(is_tracked, starts_at - ahead.astype(np.int64), NEVER)


def _lost_at(schedule: Schedule, keys: Keys, outcome: Ints, passed_at: Ints) -> Ints:
    first = passed_at[:, 0]
    last = np.where(schedule.is_call, passed_at, first[:, None]).max(axis=1)
    moment = first + ((last - first) * noise.uniform(keys, "lost at")).astype(np.int64)
    return np.where(outcome == TripOutcome.TRACKING_LOST, moment, NEVER)


def taken_off_at(schedule: Schedule, keys: Keys, outcome: Ints) -> Ints:
    """Return when trips that do not run are taken off the lists, NEVER for others, 0 for added trips."""
    ahead = 300 + 3_300 * noise.uniform(keys, "taken off how long before")
    is_taken_off = (outcome == TripOutcome.NOT_RUN) & (noise.uniform(keys, "taken off") < _TAKEN_OFF)
    found = np.where(is_taken_off, schedule.departs_at - ahead.astype(np.int64), NEVER)
    return np.where(schedule.is_added, 0, found)


def is_full(schedule: Schedule, keys: Keys, headway_ratio: Floats) -> Flags:
    """Tell where a bus is full: more often midway, at the peaks, behind a gap, and on some trips."""
    if schedule.n_trips == 0:
        return schedule.is_call
    steps = np.arange(schedule.is_call.shape[1])[None, :]
    along = steps / np.maximum(schedule.is_call.sum(axis=1, keepdims=True) - 1, 1)
    hours = (schedule.scheduled_at - schedule.starts_at) / 3600
    load = np.interp(hours, _HOURS, _CROWDING) + np.sin(np.pi * np.clip(along, 0, 1))
    load += 0.7 * noise.normal(keys, "load")[:, None] + _BEHIND_A_GAP * (headway_ratio - 1)
    load += 0.25 * noise.normal(stop_keys(schedule, keys), "load here")
    return np.asarray(schedule.is_call & (load > _FULL_LOAD), dtype=np.bool_)

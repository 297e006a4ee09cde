"""Replays a recorded service date: when each trip passed its stops, as far as it was recorded."""

import numpy as np

from transit_emulator.days.motion import (
    NEVER,
    Motion,
    TripOutcome,
    is_full,
    live_from,
    taken_off_at,
    trip_keys,
)
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.networks.actuals import NOT_RECORDED, Recording
from transit_emulator.networks.network import Ints, Network

_AFTER_LAST_SECONDS = 1  # a trip is lost as soon as it has passed the last stop that was recorded


def recorded_motion(network: Network, schedule: Schedule, seed: int, recording: Recording) -> Motion:
    """Return what happened to the trips of a recorded date.

    A trip is live from minutes before its first recorded call until its last one. Between recorded calls its
    times are interpolated, before and after them it is as late as at the nearest one. A trip of which nothing
    is recorded is never live, and passes no stop.
    """
    recorded_at = recording.recorded_at[schedule.trips][:, : schedule.is_call.shape[1]]
    is_skipped = recording.is_skipped[schedule.trips][:, : schedule.is_call.shape[1]]
    is_recorded = recorded_at != NOT_RECORDED
    keys, outcome = trip_keys(network, schedule, seed), _outcomes(schedule, recording, is_recorded)
    passed_at = _passed_at(schedule, recorded_at, is_recorded)
    is_passed = schedule.is_call & is_recorded.any(axis=1, keepdims=True) & ~is_skipped
    return Motion(
        keys=keys,
        outcome=outcome,
        is_passed=is_passed,
        is_skipped=is_skipped,
        passed_at=passed_at,
        departed_at=passed_at,
        is_full=is_full(schedule, keys, np.ones(schedule.is_call.shape)),
        live_from=live_from(keys, outcome, _starts_at(schedule, passed_at, is_recorded)),
        lost_at=_lost_at(outcome, passed_at, is_recorded),
        taken_off_at=taken_off_at(schedule, keys, outcome),
        is_recorded=is_recorded,
        is_interpolated=is_passed & ~is_recorded & _is_between(is_recorded),
    )


def _outcomes(schedule: Schedule, recording: Recording, is_recorded: Flags) -> Ints:
    """Return how trips ran: tracking was lost where the last call is not recorded."""
    has_record = is_recorded.any(axis=1)
    is_last_recorded = is_recorded[np.arange(schedule.n_trips), schedule.is_call.sum(axis=1) - 1]
    is_canceled = recording.is_canceled[schedule.trips]
    conditions = [is_last_recorded, has_record, is_canceled]
    kinds = [TripOutcome.RUN, TripOutcome.TRACKING_LOST, TripOutcome.NOT_RUN]
    return np.select(conditions, kinds, TripOutcome.NOT_RECORDED).astype(np.int64)


def _passed_at(schedule: Schedule, recorded_at: Ints, is_recorded: Flags) -> Ints:
    """Return the times of all calls: recorded, or as late as the recorded calls around them let expect."""
    late = np.where(is_recorded, recorded_at - schedule.scheduled_at, 0)
    times = schedule.scheduled_at.copy()
    for row in np.flatnonzero(is_recorded.any(axis=1)).tolist():
        due, known = schedule.scheduled_at[row], is_recorded[row]
        times[row] += np.rint(np.interp(due, due[known], late[row][known])).astype(np.int64)
    earliest = np.maximum.accumulate(np.where(is_recorded, recorded_at, 0), axis=1)
    latest = np.minimum.accumulate(np.where(is_recorded, recorded_at, NEVER)[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(np.clip(times, earliest, latest), dtype=np.int64)


def _is_between(is_recorded: Flags) -> Flags:
    """Tell which calls have a recorded one of their trip before and after them."""
    before = np.logical_or.accumulate(is_recorded, axis=1)
    after = np.logical_or.accumulate(is_recorded[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(before & after, dtype=np.bool_)


def _starts_at(schedule: Schedule, passed_at: Ints, is_recorded: Flags) -> Ints:
    """Return when trips are first seen: at the origin when due or earlier, or at the first known call."""
    first = is_recorded.argmax(axis=1)
    seen_at = passed_at[np.arange(schedule.n_trips), first]
    return np.asarray(np.where(first == 0, np.minimum(schedule.departs_at, seen_at), seen_at))


def _lost_at(outcome: Ints, passed_at: Ints, is_recorded: Flags) -> Ints:
    last = is_recorded.shape[1] - 1 - is_recorded[:, ::-1].argmax(axis=1)
    seen_at = passed_at[np.arange(len(passed_at)), last]
    return np.where(outcome == TripOutcome.TRACKING_LOST, seen_at + _AFTER_LAST_SECONDS, NEVER)

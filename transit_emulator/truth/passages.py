"""Tables of what was scheduled and what happened on a service date: calls, trips, and the day itself."""

from datetime import date

import numpy as np
import pyarrow as pa

from transit_emulator.days.motion import NEVER, TripOutcome
from transit_emulator.networks.network import Ints
from transit_emulator.truth.columns import Columns, instants, trip_columns
from transit_emulator.truth.schemas import ACTUAL, COMPARED, DAYS, SCHEDULED, TRIPS
from transit_emulator.world import World


def service_day(world: World, day: date) -> pa.Table:
    """Return the only row of a service date."""
    schedule = world.schedule(day)
    n_added = int(schedule.is_added.sum())
    row = {
        "service_date": day,
        "weather": world.weather_on(day),
        "n_trips": schedule.n_trips - n_added,
        "n_added": n_added,
    }
    return pa.Table.from_pylist([row], schema=DAYS)


def scheduled_passages(world: World, day: date) -> pa.Table:
    """Return the scheduled calls of a service date."""
    schedule, motion = world.schedule(day), world.motion(day)
    trip, sequence = np.nonzero(schedule.is_call & ~schedule.is_added[:, None])
    columns = _call_columns(world, day, trip, sequence) | {
        "scheduled_at": instants(schedule.scheduled_at[trip, sequence]),
        "is_skipped": pa.array(motion.is_skipped[trip, sequence]),
    }
    return pa.table(columns, schema=SCHEDULED)


def actual_passages(world: World, day: date) -> pa.Table:
    """Return the calls of a service date that happened."""
    return pa.table(_actual_columns(world, day), schema=ACTUAL)


def compared_passages(world: World, day: date) -> pa.Table:
    """Return the calls of a service date that happened, and when they would have without any event."""
    motion, without = world.motion(day), world.motion_without_events(day)
    trip, sequence = np.nonzero(motion.is_passed)
    is_touched = world.disrupted(day) | motion.is_skipped.any(axis=1)
    passed_at, expected = motion.passed_at[trip, sequence], without.passed_at[trip, sequence]
    is_compared = is_touched[trip] | (passed_at != expected)
    columns = _actual_columns(world, day)
    columns["passed_at_without_event"] = instants(np.where(is_compared, expected, NEVER))
    return pa.table(columns, schema=COMPARED)


def _actual_columns(world: World, day: date) -> Columns:
    motion = world.motion(day)
    trip, sequence = np.nonzero(motion.is_passed)
    return _call_columns(world, day, trip, sequence) | {
        "passed_at": instants(motion.passed_at[trip, sequence]),
        "departed_at": instants(motion.departed_at[trip, sequence]),
        "is_full": pa.array(motion.is_full[trip, sequence]),
        "is_recorded": pa.array(motion.is_recorded[trip, sequence]),
        "is_interpolated": pa.array(motion.is_interpolated[trip, sequence]),
    }


def trips(world: World, day: date) -> pa.Table:
    """Return the trips of a service date."""
    schedule, motion = world.schedule(day), world.motion(day)
    patterns = [world.network.patterns[p] for p in world.network.trip_pattern[schedule.trips]]
    columns = trip_columns(world, day, np.arange(schedule.n_trips)) | {
        "service_code": pa.array([pattern.service_code for pattern in patterns], pa.string()),
        "is_slash_variant": pa.array([pattern.is_slash for pattern in patterns], pa.bool_()),
        "headsign": pa.array([pattern.headsign for pattern in patterns], pa.string()),
        "n_stops": pa.array([len(pattern.stops) for pattern in patterns], pa.int64()),
        "scheduled_departure_at": instants(np.where(schedule.is_added, NEVER, schedule.departs_at)),
        "outcome": pa.array([TripOutcome(kind).name.lower() for kind in motion.outcome], pa.string()),
        "vehicle_id": pa.array(world.vehicles(day), pa.string()),
        "live_id": pa.array(world.live_ids(day), pa.string()),
        "is_added": pa.array(schedule.is_added),
        "n_skipped_stops": pa.array(motion.is_skipped.sum(axis=1)),
        "live_from": instants(motion.live_from),
        "lost_at": instants(motion.lost_at),
        "taken_off_at": instants(np.where(schedule.is_added, NEVER, motion.taken_off_at)),
    }
    return pa.table(columns, schema=TRIPS)


def _call_columns(world: World, day: date, trip: Ints, sequence: Ints) -> Columns:
    stops = world.schedule(day).stops[trip, sequence]
    return trip_columns(world, day, trip) | {
        "stop_code": pa.array([world.network.stops[stop].code for stop in stops], pa.string()),
        "stop_sequence": pa.array(sequence + 1),
    }

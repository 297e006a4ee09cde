"""Measures delays and prediction errors of the emulator, to be compared with those of real feeds."""

from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

import numpy as np

from transit_emulator.day_figures import Calls
from transit_emulator.days.board import Board
from transit_emulator.days.listing import listed
from transit_emulator.days.motion import TripOutcome
from transit_emulator.noise import Floats
from transit_emulator.world import World


class Horizon(NamedTuple):
    """A range of minutes until the passage, and the mean absolute error of a real feed there, in minutes."""

    first: int
    last: int
    real_error: float


HORIZONS = (
    Horizon(0, 2, 0.20),
    Horizon(3, 5, 1.05),
    Horizon(6, 10, 1.33),
    Horizon(11, 20, 1.87),
    Horizon(21, 60, 2.42),
)


class PredictionErrors(NamedTuple):
    """One value per live passage that a stop lists: minutes until it passes, and later than predicted."""

    minutes_ahead: Floats
    minutes_late: Floats

    def within(self, horizon: Horizon) -> Floats:
        """Return the errors of a horizon, whose limits are rounded minutes."""
        is_within = (self.minutes_ahead >= horizon.first - 0.5) & (self.minutes_ahead < horizon.last + 0.5)
        return self.minutes_late[is_within]


def prediction_errors(world: World, day: date, poll_seconds: int = 120) -> PredictionErrors:
    """Poll every stop from 05:00 to 24:00 of a service date, and compare each prediction with the passage."""
    board = world.board(day)
    start = board.schedule.starts_at
    found = [
        pair
        for now in range(start + 5 * 3600, start + 24 * 3600, poll_seconds)
        for stop in range(len(world.network.stops))
        for pair in _errors_at(board, stop, now)
    ]
    ahead, late = np.array(found, dtype=np.float64).T / 60
    return PredictionErrors(ahead, late)


def _errors_at(board: Board, stop: int, now: int) -> list[tuple[int, int]]:
    """Return the seconds until each listed live passage, and by how much it is later than predicted."""
    live = [item for item in listed(board, stop, now) if not item.is_theoretical]
    passed = [int(board.motion.passed_at[item.trip, item.sequence]) for item in live]
    return [(at - now, at - item.shown_at) for at, item in zip(passed, live, strict=True)]


def theoretical_share(world: World, day: date) -> float:
    """Return the share of theoretical rows among all that stops list on a service date."""
    start = datetime.fromtimestamp(world.schedule(day).starts_at, UTC)
    rows = [
        passage.is_theoretical
        for place, stop in enumerate(world.network.stops)
        for minute in range(5 * 60 + 7 * place % 17, 25 * 60, 17)  # at varying minutes of the hour
        for passage in world.passages(stop.code, start + timedelta(minutes=minute))
    ]
    return float(np.mean(rows))


def emulated_calls(world: World, day: date, every: int = 1) -> Calls:
    """Return the calls of a date, of lines with predictions: at every n-th stop and at the last.

    Trips that were never tracked have no record of when they passed.
    """
    network, schedule, motion = world.network, world.schedule(day), world.motion(day)
    pattern = network.trip_pattern[schedule.trips]
    is_tracked = np.array([line.is_tracked for line in network.lines])[network.pattern_line[pattern]]
    sequence = np.arange(schedule.is_call.shape[1])
    is_last = sequence == schedule.is_call.sum(axis=1, keepdims=True) - 1
    is_kept = schedule.is_call & (is_last | (sequence % every == 0))
    trip, place = np.nonzero(is_kept & (is_tracked & ~schedule.is_added)[:, None])
    is_recorded = motion.is_passed & (motion.outcome != TripOutcome.NEVER_TRACKED)[:, None]
    actual = np.where(is_recorded, (motion.passed_at - schedule.starts_at).astype(np.float64), np.nan)
    return Calls(
        trip=trip,
        way=network.pattern_way[pattern[trip]],
        pattern=pattern[trip],
        scheduled=(schedule.scheduled_at[trip, place] - schedule.starts_at).astype(np.float64),
        actual=actual[trip, place],
    )

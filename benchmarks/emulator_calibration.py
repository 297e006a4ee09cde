"""Compares the emulator's lateness, dwell and prediction errors with those of real feeds.

Run: python benchmarks/emulator_calibration.py
"""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from transit_emulator.days.board import Board
from transit_emulator.days.listing import listed
from transit_emulator.noise import Floats
from transit_emulator.world import World, build_world

DAYS = [date(2026, 3, day) for day in range(2, 7)]
BUCKETS = ((0, 2, 0.20), (3, 5, 1.05), (6, 10, 1.33), (11, 20, 1.87), (21, 60, 2.42))
POLL_SECONDS = 120


def prediction_errors(world: World, day: date, poll_seconds: int = POLL_SECONDS) -> Floats:
    """Poll every stop over a service date; return (minutes before passing, minutes later than said)."""
    board = world.board(day)
    moments = range(board.schedule.starts_at + 5 * 3600, board.schedule.starts_at + 24 * 3600, poll_seconds)
    found = [
        pair for now in moments for stop in range(len(world.network.stops)) for pair in _at(board, stop, now)
    ]
    return np.array(found, dtype=np.float64) / 60


def theoretical_share(world: World, day: date) -> float:
    """Return the share of timetable-only rows of all that stops list on a service date."""
    start = datetime.fromtimestamp(world.schedule(day).starts_at, UTC)
    rows = [
        passage.is_theoretical
        for place, stop in enumerate(world.network.stops)
        for minute in range(5 * 60 + 7 * place % 17, 25 * 60, 17)  # at no fixed minute of the hour
        for passage in world.passages(stop.code, start + timedelta(minutes=minute))
    ]
    return float(np.mean(rows))


def _at(board: Board, stop: int, now: int) -> list[tuple[int, int]]:
    live = [item for item in listed(board, stop, now) if not item.is_theoretical]
    passed = [int(board.motion.passed_at[item.trip, item.sequence]) for item in live]
    return [(at - now, at - item.shown_at) for at, item in zip(passed, live, strict=True)]


def lateness(world: World, day: date) -> tuple[Floats, Floats]:
    """Return hour of the schedule and seconds of lateness of all calls that happened on a service date."""
    schedule, motion = world.schedule(day), world.motion(day)
    happened = motion.is_passed
    hours = (schedule.scheduled_at - schedule.starts_at)[happened] / 3600
    return hours, (motion.passed_at - schedule.scheduled_at)[happened].astype(np.float64)


def main() -> None:
    """Print the figures side by side."""
    world = build_world()
    late = [lateness(world, day) for day in DAYS]
    hours, seconds = np.concatenate([h for h, _ in late]), np.concatenate([s for _, s in late])
    print("lateness p5/50/95 s", np.percentile(seconds, [5, 50, 95]), "(a bad Sunday: -148 219 1176)")
    print(f"within [-60, 300] s {np.mean((seconds >= -60) & (seconds <= 300)):.3f} (a bad Sunday: 0.50)")
    for hour, real in ((6, 42), (17, 214)):
        print(
            f"mean lateness at {hour:02d}h {seconds[hours.astype(int) == hour].mean():.0f} s (real: {real})"
        )
    print(f"theoretical share of listed rows {theoretical_share(world, DAYS[1]):.3f} (a real feed: 0.66)")
    ahead, error = prediction_errors(world, DAYS[1]).T
    for low, high, real_error in BUCKETS:
        here = error[(ahead >= low - 0.5) & (ahead < high + 0.5)]
        middle, worst = np.percentile(here, [50, 95])
        print(f"{low:2d}-{high:2d} min: mean absolute error {np.abs(here).mean():.2f} (real {real_error}), "
              f"later than said: median {middle:.2f}, p95 {worst:.2f}, n {len(here)}")  # fmt: skip


if __name__ == "__main__":
    main()

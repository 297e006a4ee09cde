"""Compares the emulator's lateness and prediction errors with those of real feeds.

Run: python benchmarks/emulator_calibration.py
"""

from datetime import date

import numpy as np

from transit_emulator.calibration import HORIZONS, lateness, prediction_errors, theoretical_share
from transit_emulator.world import build_world

DAYS = [date(2026, 3, day) for day in range(2, 7)]
REAL_MEAN_LATENESS = {6: 42, 17: 214}  # seconds, by hour of the day


def main() -> None:
    """Print the figures side by side."""
    world = build_world()
    days = [lateness(world, day) for day in DAYS]
    hours = np.concatenate([day.hours for day in days])
    seconds = np.concatenate([day.seconds for day in days])
    print("lateness p5/median/p95 s", np.percentile(seconds, [5, 50, 95]), "(a bad Sunday: -148 219 1176)")
    print(f"within [-60, 300] s {np.mean((seconds >= -60) & (seconds <= 300)):.3f} (a bad Sunday: 0.50)")
    for hour, real in REAL_MEAN_LATENESS.items():
        mean = seconds[hours.astype(int) == hour].mean()
        print(f"mean lateness at {hour:02d}h {mean:.0f} s (real: {real})")
    print(f"theoretical share of listed rows {theoretical_share(world, DAYS[1]):.3f} (a real feed: 0.66)")
    errors = prediction_errors(world, DAYS[1])
    for horizon in HORIZONS:
        late = errors.within(horizon)
        median, p95 = np.percentile(late, [50, 95])
        print(
            f"{horizon.first:2d}-{horizon.last:2d} min: mean absolute error {np.abs(late).mean():.2f} "
            f"(real {horizon.real_error}), later than predicted: median {median:.2f}, p95 {p95:.2f}, "
            f"n {len(late)}"
        )


if __name__ == "__main__":
    main()

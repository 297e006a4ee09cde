from datetime import date

import numpy as np

from benchmarks.emulator_calibration import BUCKETS, prediction_errors, theoretical_share
from transit_emulator.world import World

DAY = date(2026, 3, 3)


def test_predictions_are_as_wrong_as_real_ones_at_every_horizon(world: World) -> None:
    ahead, error = prediction_errors(world, DAY, poll_seconds=600).T
    for low, high, real in BUCKETS:
        here = np.abs(error[(ahead >= low - 0.5) & (ahead < high + 0.5)])
        assert len(here) > 300
        assert 0.75 * real < here.mean() < 1.35 * real


def test_beyond_ten_minutes_buses_come_later_than_said(world: World) -> None:
    ahead, error = prediction_errors(world, DAY, poll_seconds=600).T
    median, worst = np.percentile(error[ahead > 10], [50, 95])

    assert 0.6 < median < 1.5
    assert 3.5 < worst < 7


def test_predictions_are_never_in_the_past(world: World) -> None:
    ahead, error = prediction_errors(world, DAY, poll_seconds=900).T

    assert (ahead - error >= -1e-9).all()
    assert (ahead > 0).all()


def test_more_than_half_of_the_listed_rows_are_timetable_only(world: World) -> None:
    assert 0.5 < theoretical_share(world, DAY) < 0.7

from datetime import date

import numpy as np
import pytest

from transit_emulator.calibration import HORIZONS, PredictionErrors, prediction_errors, theoretical_share
from transit_emulator.world import World

DAY = date(2026, 3, 3)


@pytest.fixture(scope="module")
def errors(world: World) -> PredictionErrors:
    return prediction_errors(world, DAY, poll_seconds=600)


def test_the_mean_prediction_error_is_near_that_of_a_real_feed_at_every_horizon(
    errors: PredictionErrors,
) -> None:
    for horizon in HORIZONS:
        found = np.abs(errors.within(horizon))
        assert len(found) > 300
        assert 0.75 * horizon.real_error < found.mean() < 1.35 * horizon.real_error


def test_more_than_ten_minutes_ahead_predictions_are_too_early(errors: PredictionErrors) -> None:
    median, p95 = np.percentile(errors.minutes_late[errors.minutes_ahead > 10], [50, 95])

    assert 0.6 < median < 1.5
    assert 3.5 < p95 < 7


def test_predictions_are_never_in_the_past(errors: PredictionErrors) -> None:
    assert (errors.minutes_ahead - errors.minutes_late >= -1e-9).all()
    assert (errors.minutes_ahead > 0).all()


def test_more_than_half_of_the_listed_rows_are_theoretical(world: World) -> None:
    assert 0.5 < theoretical_share(world, DAY) < 0.7

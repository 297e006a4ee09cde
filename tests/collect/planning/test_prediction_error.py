import pytest

from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.prediction_error import PredictionErrorModel, WithinTripErrors
from transit_etl.collect.planning.state import TrackedTrip

P = DEFAULTS.prediction_error


def horizon_at(model: PredictionErrorModel, ahead: float) -> int:
    horizon = model.horizon_to_learn(ahead)
    assert horizon is not None
    return horizon


def test_predictions_that_turn_out_better_are_expected_to_be() -> None:
    model = PredictionErrorModel(DEFAULTS)
    horizon, before = horizon_at(model, 240.0), model.spread(240.0)
    for n in range(5_000):
        model.learn(horizon, 30.0 if n % 2 else -10.0, 0.0)

    assert model.spread(240.0) < before / 2
    assert 10.0 == pytest.approx(model.bias(240.0), abs=3.0)


def test_one_absurd_prediction_changes_little() -> None:
    model = PredictionErrorModel(DEFAULTS)
    before = model.spread(480.0)
    model.learn(horizon_at(model, 480.0), 80_000.0, 60.0)

    assert before == pytest.approx(model.spread(480.0), rel=0.05)


@pytest.mark.parametrize("ahead", [0.0, 59.9, 60.0, 1_499.0, 1_500.0, 9_000.0])
def test_every_prediction_has_a_spread(ahead: float) -> None:
    assert PredictionErrorModel(DEFAULTS).spread(ahead) > 0


def test_errors_are_interpolated_between_horizons() -> None:
    model = PredictionErrorModel(DEFAULTS)

    assert P.spreads_seconds == tuple(model.spread(ahead) for ahead in P.horizons_seconds)
    assert model.spread(240.0) < model.spread(300.0) < model.spread(480.0)


def test_nothing_is_learned_of_predictions_that_polls_are_too_far_apart_to_judge() -> None:
    model = PredictionErrorModel(DEFAULTS)

    assert model.horizon_to_learn(P.measured_seconds - 1.0) is None
    assert model.horizon_to_learn(P.measured_seconds) is not None


def test_errors_that_are_alike_within_a_trip_let_the_next_be_corrected() -> None:
    within_trip = WithinTripErrors(P.prior_trip_errors)
    for n in range(2_000):
        bias = 1.0 if n % 2 else -1.0
        within_trip.learn(bias + (0.2 if n % 3 else -0.4), bias)

    assert within_trip.likeness > 0.8
    assert within_trip.remaining_share < 0.5


def test_errors_that_are_unlike_within_a_trip_correct_nothing() -> None:
    within_trip = WithinTripErrors(P.prior_trip_errors)
    for n in range(2_000):
        within_trip.learn(1.0 if n % 2 else -1.0, 1.0 if n % 4 < 2 else -1.0)

    assert 0.0 == pytest.approx(within_trip.likeness, abs=0.02)
    assert 1.0 == pytest.approx(within_trip.remaining_share, abs=0.02)


def test_a_late_trip_is_expected_later_by_its_next_predictions_too() -> None:
    model = PredictionErrorModel(DEFAULTS)
    late, punctual = (TrackedTrip("15", name, None, 0.0) for name in ("late", "punctual"))
    for _ in range(300):  # errors of one trip are alike: the model learns how much
        model.within_trip.learn(2.0, 2.0)
    late.error_bias, late.n_errors = 2.0, 1

    expected = [model.estimate(1_000.0, 240.0, trip) for trip in (late, punctual)]

    assert expected[0].mean > expected[1].mean
    assert expected[0].spread < expected[1].spread

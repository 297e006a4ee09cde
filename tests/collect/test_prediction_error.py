import pytest

from transit_etl.collect.planning.prediction_error import PredictionErrorModel, horizon_of


def test_predictions_that_turn_out_better_are_trusted_more() -> None:
    foresight, horizon = PredictionErrorModel(), horizon_of(240.0)
    before = foresight.spread(240.0)
    for n in range(5_000):
        foresight.learn(horizon, 30.0 if n % 2 else -10.0, 0.0)

    assert foresight.spread(240.0) < before / 2
    assert 10.0 == pytest.approx(foresight.too_early(240.0), abs=3.0)


def test_one_absurd_prediction_changes_little() -> None:
    foresight = PredictionErrorModel()
    before = foresight.spread(480.0)
    foresight.learn(horizon_of(480.0), 80_000.0, 60.0)

    assert before == pytest.approx(foresight.spread(480.0), rel=0.05)


@pytest.mark.parametrize("ahead", [0.0, 59.9, 60.0, 1_499.0, 1_500.0, 9_000.0])
def test_every_horizon_has_a_spread(ahead: float) -> None:
    assert PredictionErrorModel().spread(ahead) > 0

from tests.collect.planning.observations import STOPS
from transit_etl.collect.planning.policy import Rotation


def test_rotation_asks_every_stop_in_turn() -> None:
    policy = Rotation(STOPS)

    assert [*STOPS, STOPS[0]] == [policy.choose(float(now)) for now in range(len(STOPS) + 1)]

"""A policy is picked by its name in the settings."""

from pathlib import Path

import pytest

from tests.collect.helpers import NOON, write_network
from transit_etl.clock import SteadyInstant, VirtualClock
from transit_etl.collect.datasets import source_of
from transit_etl.collect.planning.policies import policy_of
from transit_etl.settings import PolicyName, Settings

STOPS = ["0001", "0002", "0003"]


@pytest.mark.parametrize("name", PolicyName)
def test_every_name_makes_a_policy_that_asks_known_stops_only(name: PolicyName) -> None:
    policy = policy_of(name, STOPS, [], 60.0)

    assert {policy.choose(60.0 * turn) for turn in range(10)} <= set(STOPS)


def test_the_setting_decides_which_stops_are_asked_for(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": STOPS})
    settings = Settings(data_dir=tmp_path, policy=PolicyName.ROTATION)
    source = source_of("passages", settings, SteadyInstant(VirtualClock(NOON), NOON))

    assert STOPS * 2 == [source.choose(NOON).key for _ in range(6)]

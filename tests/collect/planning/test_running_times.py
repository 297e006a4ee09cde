import pytest

from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.running_times import RunningTimes, Segment

P = DEFAULTS


def unknown_times(n_segments: int = 8) -> RunningTimes:
    return RunningTimes([Segment.unknown(P) for _ in range(n_segments)], P)


def test_running_times_are_learned_between_any_two_stops() -> None:
    times = unknown_times()
    for _ in range(60):
        times.learn(0, 2, 200.0, spread=10.0)
        times.learn(2, 7, 250.0, spread=10.0)

    assert 200.0 == pytest.approx(times.offsets[2])
    assert 450.0 == pytest.approx(times.offsets[7])
    assert sorted(times.offsets) == times.offsets


def test_a_learned_running_time_gets_surer_and_never_certain() -> None:
    times = unknown_times()
    before = times.variance(2, 4)
    for _ in range(500):
        times.learn(2, 4, 150.0, spread=20.0)

    assert 0.0 < times.variance(2, 4) < before / 10
    assert before == pytest.approx(times.variance(5, 7))


def test_patterns_learn_from_each_other_on_a_segment_they_share() -> None:
    shared = Segment.unknown(P)
    one = RunningTimes([Segment.unknown(P), shared], P)
    other = RunningTimes([shared, Segment.unknown(P)], P)
    for _ in range(20):
        one.learn(1, 2, 200.0, spread=10.0)
    other.refresh()

    assert 200.0 == pytest.approx(other.offsets[1], abs=5.0)


def test_no_running_time_leaves_its_limits_however_absurd_what_it_learns_from() -> None:
    times = unknown_times(1)
    for seconds in (0.0, 1e9):
        for _ in range(500):
            times.learn(0, 1, seconds, spread=1.0)
        assert (
            P.running_time.shortest_segment_seconds
            <= times.offsets[1]
            <= P.running_time.longest_segment_seconds
        )


def test_a_projection_is_less_sure_the_further_it_goes() -> None:
    times = unknown_times()

    assert 10.0 == times.projected_spread(3, 3, 10.0)
    assert 10.0 < times.projected_spread(3, 4, 10.0) < times.projected_spread(3, 7, 10.0)

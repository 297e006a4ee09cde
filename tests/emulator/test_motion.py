from collections import Counter
from datetime import date

import numpy as np

from transit_etl.emulator.motion import Outcome
from transit_etl.emulator.world import World

DAYS = [date(2026, 3, day) for day in range(2, 7)]


def test_no_bus_leaves_a_stop_before_it_came_or_reaches_the_next_before_it_left(world: World) -> None:
    plan, moved = world.schedule(DAYS[0]), world.motion(DAYS[0])
    is_hop = plan.is_call[:, 1:]

    assert (moved.departed_at >= moved.passed_at)[plan.is_call].all()
    assert (moved.passed_at[:, 1:] - moved.departed_at[:, :-1])[is_hop].min() >= 5


def test_buses_are_late_and_early_about_as_real_ones(world: World) -> None:
    plans = [world.schedule(day) for day in DAYS]
    late = np.concatenate([
        (world.motion(plan.service_date).passed_at - plan.scheduled_at)[plan.is_call] for plan in plans
    ])  # fmt: skip

    early, median, very_late = np.percentile(late, [5, 50, 95])
    assert -150 < early < -40
    assert 0 < median < 220
    assert 300 < very_late < 1_200
    assert 0.5 < np.mean((late >= -60) & (late <= 300)) < 0.9


def test_the_evening_peak_is_later_than_dawn(world: World) -> None:
    def mean_lateness(hour: int) -> float:
        found = []
        for day in DAYS:
            plan, moved = world.schedule(day), world.motion(day)
            is_then = plan.is_call & ((plan.scheduled_at - plan.starts_at) // 3600 == hour)
            found.append((moved.passed_at - plan.scheduled_at)[is_then])
        return float(np.concatenate(found).mean())

    assert mean_lateness(17) > mean_lateness(6) + 60


def test_most_trips_run_tracked_and_each_other_outcome_occurs(world: World) -> None:
    counts = Counter(Outcome(kind) for day in DAYS for kind in world.motion(day).outcome)

    assert set(counts) == set(Outcome)
    assert counts[Outcome.RUN] / sum(counts.values()) > 0.8


def test_a_trip_is_live_some_minutes_before_it_leaves(world: World) -> None:
    plan, moved = world.schedule(DAYS[0]), world.motion(DAYS[0])
    is_tracked = moved.outcome == Outcome.RUN
    ahead = (plan.scheduled_at[:, 0] - moved.live_from)[is_tracked]

    assert 170 <= ahead.min() <= ahead.max() <= 610
    assert (moved.live_from < moved.passed_at[:, 0])[is_tracked].all()


def test_disruptions_slow_the_lines_they_hit(world: World) -> None:
    late: dict[bool, list[float]] = {True: [], False: []}
    for day in DAYS:
        plan, moved, is_hit = world.schedule(day), world.motion(day), world.disrupted(day)
        for hit in (True, False):
            rows = (is_hit == hit)[:, None] & plan.is_call
            late[hit].append(float((moved.passed_at - plan.scheduled_at)[rows].mean()))

    assert np.mean(late[True]) > np.mean(late[False]) + 40

from collections import Counter
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from transit_emulator.days.blocks import NO_TRIP, trip_before
from transit_emulator.days.headways import ahead_of, waves
from transit_emulator.days.motion import Outcome
from transit_emulator.days.weather import weather
from transit_emulator.truth import write_truth
from transit_emulator.world import World

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
    ahead = (np.minimum(plan.scheduled_at, moved.passed_at)[:, 0] - moved.live_from)[is_tracked]

    assert 60 <= ahead.min() <= 65
    assert 295 <= ahead.max() <= 300


def test_disruptions_slow_the_lines_they_hit(world: World) -> None:
    late: dict[bool, list[float]] = {True: [], False: []}
    for day in DAYS:
        plan, moved, is_hit = world.schedule(day), world.motion(day), world.disrupted(day)
        for hit in (True, False):
            rows = (is_hit == hit)[:, None] & plan.is_call
            late[hit].append(float((moved.passed_at - plan.scheduled_at)[rows].mean()))

    assert np.mean(late[True]) > np.mean(late[False]) + 40


def test_bad_weather_slows_a_whole_day(world: World, tmp_path: Path) -> None:
    growth: dict[str, list[float]] = {}
    by_weather: dict[str, list[date]] = {}
    for day in (date(2026, 3, 2) + timedelta(days=step) for step in range(90)):
        by_weather.setdefault(weather(world.seed, day).name, []).append(day)
    for day in (day for days in by_weather.values() for day in days[:5]):
        plan, moved = world.schedule(day), world.motion(day)
        late = moved.passed_at - plan.scheduled_at
        last = late[np.arange(plan.n_trips), plan.is_call.sum(axis=1) - 1]
        growth.setdefault(weather(world.seed, day).name, []).append(float(np.mean(last - late[:, 0])))

    write_truth(world, DAYS[0], DAYS[1], tmp_path)
    told = pq.read_table(tmp_path / "service_days.parquet").to_pylist()

    assert [row["weather"] for row in told] == [weather(world.seed, day).name for day in DAYS[:2]]
    assert set(growth) == {"dry", "rain", "storm"}
    assert np.mean(growth["storm"]) > np.mean(growth["rain"]) + 5 > np.mean(growth["dry"]) + 10


def test_a_bus_loses_time_on_its_way_in_the_rush_hours_alone(world: World) -> None:
    lost: dict[bool, list[float]] = {True: [], False: []}
    for day in DAYS:
        plan, moved = world.schedule(day), world.motion(day)
        late = moved.passed_at - plan.scheduled_at
        hours = (plan.scheduled_at - plan.starts_at) / 3600
        for is_rush, (first, last) in ((True, (17, 19)), (False, (21, 26))):
            is_then = plan.is_call[:, 1:] & (hours[:, 1:] >= first) & (hours[:, 1:] < last)
            lost[is_rush].append(float((late[:, 1:] - 0.985 * late[:, :-1])[is_then].mean()))

    assert np.mean(lost[True]) > np.mean(lost[False]) + 2


def _headways(world: World, first: int, last: int) -> NDArray[np.float64]:
    """Return headways of ten minutes or less at two stops, as shares of the scheduled ones."""
    found = []
    for day in DAYS:
        plan, moved = world.schedule(day), world.motion(day)
        ahead = ahead_of(world.network, plan, moved.is_passed)
        is_frequent = (ahead.seconds[:, last] <= 600) & (ahead.trip[:, last] != NO_TRIP)
        is_pair = is_frequent & (ahead.trip[:, first] == ahead.trip[:, last])
        for row in np.flatnonzero(is_pair & (ahead.sequence[:, last] == last)):
            bus_ahead = ahead.trip[row, last]
            gaps = moved.passed_at[row, [first, last]] - moved.passed_at[bus_ahead, [first, last]]
            found.append(gaps / ahead.seconds[row, [first, last]])
    return np.array(found)


def test_a_bus_close_behind_another_comes_closer_and_one_behind_a_gap_falls_back(world: World) -> None:
    at_first, later = _headways(world, 1, 9).T
    is_close, is_far = (at_first > 0.3) & (at_first < 0.7), (at_first > 1.3) & (at_first < 1.8)

    assert min(is_close.sum(), is_far.sum()) > 50
    assert later[is_close].mean() < at_first[is_close].mean() - 0.05
    assert later[is_far].mean() > at_first[is_far].mean() + 0.05
    assert np.mean(later < 0.5) > 1.2 * np.mean(at_first < 0.5)


def test_buses_are_full_at_the_peaks_midway_and_behind_a_gap(world: World) -> None:
    shares: dict[str, list[float]] = {}
    for day in DAYS:
        plan, moved = world.schedule(day), world.motion(day)
        hours = (plan.scheduled_at - plan.starts_at) / 3600
        along = np.arange(hours.shape[1]) / np.maximum(plan.is_call.sum(axis=1, keepdims=True) - 1, 1)
        ahead = ahead_of(world.network, plan, moved.is_passed)
        came_ahead = moved.passed_at[ahead.trip, ahead.sequence]
        ratio = np.where(ahead.trip == NO_TRIP, 1, (moved.passed_at - came_ahead) / ahead.seconds)
        is_peak = ((hours >= 7.5) & (hours < 9)) | ((hours >= 17) & (hours < 19))
        kinds = {
            "peak": is_peak,
            "noon": (hours >= 10) & (hours < 13),
            "night": (hours >= 21) & (hours < 28),
            "midway": is_peak & (along > 0.3) & (along < 0.7),
            "ends": is_peak & ((along < 0.1) | (along > 0.9)),
            "behind a gap": is_peak & (ratio > 1.5),
            "close behind": is_peak & (ratio > 0) & (ratio < 0.5),
        }
        for kind, is_kind in kinds.items():
            shares.setdefault(kind, []).append(float(moved.is_full[is_kind & moved.is_passed].mean()))
    mean = {kind: np.mean(found) for kind, found in shares.items()}

    assert mean["peak"] > 2 * mean["noon"] > 4 * mean["night"]
    assert mean["midway"] > 3 * mean["ends"]
    assert mean["behind a gap"] > 2 * mean["close behind"]
    assert 0.05 < mean["peak"] < 0.25


def test_no_vehicle_leaves_on_a_trip_before_it_has_ended_the_one_before(world: World) -> None:
    n_held = 0
    for day in DAYS:
        plan, moved = world.schedule(day), world.motion(day)
        is_run = moved.outcome != Outcome.NOT_RUN
        for row, before in enumerate(trip_before(plan, world.blocks(day))):
            if before != NO_TRIP and is_run[before] and is_run[row]:
                turned = moved.passed_at[row, 0] - moved.passed_at[before][plan.is_call[before]][-1]
                assert turned >= 59
                n_held += turned <= 61
    assert n_held > 50


def test_each_wave_depends_on_waves_before_it_alone(world: World) -> None:
    plan, moved = world.schedule(DAYS[0]), world.motion(DAYS[0])
    ahead = ahead_of(world.network, plan, moved.is_passed)
    before = trip_before(plan, world.blocks(DAYS[0]))
    done: set[int] = {NO_TRIP}
    for rows in waves(plan, ahead, before):
        for row in rows.tolist():
            assert {before[row], *ahead.trip[row].tolist()} <= done
        done |= set(rows.tolist())

    assert len(done) == plan.n_trips + 1

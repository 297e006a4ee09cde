from collections import Counter
from datetime import UTC, date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from transit_emulator.days.blocks import NO_TRIP, trip_before
from transit_emulator.days.headways import dependency_levels, preceding_calls
from transit_emulator.days.motion import TripOutcome
from transit_emulator.days.weather import weather
from transit_emulator.truth import write_truth
from transit_emulator.world import World

DAYS = [date(2026, 3, day) for day in range(2, 7)]


def test_a_bus_leaves_a_stop_after_its_arrival_and_arrives_at_the_next_after_that(world: World) -> None:
    schedule, motion = world.schedule(DAYS[0]), world.motion(DAYS[0])
    is_hop = schedule.is_call[:, 1:]

    assert (motion.departed_at >= motion.passed_at)[schedule.is_call].all()
    assert (motion.passed_at[:, 1:] - motion.departed_at[:, :-1])[is_hop].min() >= 5


def test_buses_are_about_as_late_and_early_as_real_ones(world: World) -> None:
    schedules = [world.schedule(day) for day in DAYS]
    late = np.concatenate([
        (world.motion(schedule.service_date).passed_at - schedule.scheduled_at)[schedule.is_call]
        for schedule in schedules
    ])  # fmt: skip

    early, median, very_late = np.percentile(late, [5, 50, 95])
    assert -150 < early < -40
    assert 0 < median < 220
    assert 300 < very_late < 1_200
    assert 0.5 < np.mean((late >= -60) & (late <= 300)) < 0.9


def test_buses_are_later_in_the_evening_peak_than_at_dawn(world: World) -> None:
    def mean_lateness(hour: int) -> float:
        found = []
        for day in DAYS:
            schedule, motion = world.schedule(day), world.motion(day)
            is_then = schedule.is_call & ((schedule.scheduled_at - schedule.starts_at) // 3600 == hour)
            found.append((motion.passed_at - schedule.scheduled_at)[is_then])
        return float(np.concatenate(found).mean())

    assert mean_lateness(17) > mean_lateness(6) + 60


def test_most_trips_run_tracked_and_each_other_outcome_occurs(world: World) -> None:
    counts = Counter(TripOutcome(kind) for day in DAYS for kind in world.motion(day).outcome)

    assert set(counts) == set(TripOutcome) - {TripOutcome.NOT_RECORDED}
    assert counts[TripOutcome.RUN] / sum(counts.values()) > 0.8


def test_a_trip_is_live_some_minutes_before_it_leaves(world: World) -> None:
    schedule, motion = world.schedule(DAYS[0]), world.motion(DAYS[0])
    is_tracked = motion.outcome == TripOutcome.RUN
    ahead = (np.minimum(schedule.scheduled_at, motion.passed_at)[:, 0] - motion.live_from)[is_tracked]

    assert 60 <= ahead.min() <= 65
    assert 295 <= ahead.max() <= 300


def test_disruptions_slow_the_lines_they_hit(world: World) -> None:
    late: dict[bool, list[float]] = {True: [], False: []}
    for day in DAYS:
        schedule, motion, is_hit = world.schedule(day), world.motion(day), world.disrupted(day)
        for hit in (True, False):
            rows = (is_hit == hit)[:, None] & schedule.is_call
            late[hit].append(float((motion.passed_at - schedule.scheduled_at)[rows].mean()))

    assert np.mean(late[True]) > np.mean(late[False]) + 40


def test_bad_weather_slows_a_whole_day(world: World, tmp_path: Path) -> None:
    growth: dict[str, list[float]] = {}
    by_weather: dict[str, list[date]] = {}
    for day in (date(2026, 3, 2) + timedelta(days=step) for step in range(90)):
        by_weather.setdefault(weather(world.seed, day).name, []).append(day)
    for day in (day for days in by_weather.values() for day in days[:5]):
        schedule, motion = world.schedule(day), world.motion(day)
        late = motion.passed_at - schedule.scheduled_at
        last = late[np.arange(schedule.n_trips), schedule.is_call.sum(axis=1) - 1]
        growth.setdefault(weather(world.seed, day).name, []).append(float(np.mean(last - late[:, 0])))

    write_truth(world, DAYS[0], DAYS[1], tmp_path)
    days = pq.read_table(tmp_path / "service_days.parquet").to_pylist()

    assert [row["weather"] for row in days] == [weather(world.seed, day).name for day in DAYS[:2]]
    assert set(growth) == {"dry", "rain", "storm"}
    assert np.mean(growth["storm"]) > np.mean(growth["rain"]) + 5 > np.mean(growth["dry"]) + 10


def test_a_bus_loses_time_between_stops_only_in_the_rush_hours(world: World) -> None:
    lost: dict[bool, list[float]] = {True: [], False: []}
    for day in DAYS:
        schedule, motion = world.schedule(day), world.motion(day)
        late = motion.passed_at - schedule.scheduled_at
        hours = (schedule.scheduled_at - schedule.starts_at) / 3600
        for is_rush, (first, last) in ((True, (17, 19)), (False, (21, 26))):
            is_then = schedule.is_call[:, 1:] & (hours[:, 1:] >= first) & (hours[:, 1:] < last)
            lost[is_rush].append(float((late[:, 1:] - 0.985 * late[:, :-1])[is_then].mean()))

    assert np.mean(lost[True]) > np.mean(lost[False]) + 2


def _headways(world: World, first: int, last: int) -> NDArray[np.float64]:
    """Return headways at two stops as shares of the scheduled ones, where those are ten minutes or less."""
    found = []
    for day in DAYS:
        schedule, motion = world.schedule(day), world.motion(day)
        ahead = preceding_calls(world.network, schedule, motion.is_passed)
        is_frequent = (ahead.headway_seconds[:, last] <= 600) & (ahead.trip[:, last] != NO_TRIP)
        is_pair = is_frequent & (ahead.trip[:, first] == ahead.trip[:, last])
        for row in np.flatnonzero(is_pair & (ahead.sequence[:, last] == last)):
            trip_ahead = ahead.trip[row, last]
            gaps = motion.passed_at[row, [first, last]] - motion.passed_at[trip_ahead, [first, last]]
            found.append(gaps / ahead.headway_seconds[row, [first, last]])
    return np.array(found)


def test_short_headways_shrink_along_a_line_and_long_ones_grow(world: World) -> None:
    at_first, later = _headways(world, 1, 9).T
    is_close, is_far = (at_first > 0.3) & (at_first < 0.7), (at_first > 1.3) & (at_first < 1.8)

    assert min(is_close.sum(), is_far.sum()) > 50
    assert later[is_close].mean() < at_first[is_close].mean() - 0.05
    assert later[is_far].mean() > at_first[is_far].mean() + 0.05
    assert np.mean(later < 0.5) > 1.2 * np.mean(at_first < 0.5)


def test_buses_are_full_at_the_peaks_midway_and_behind_a_gap(world: World) -> None:
    shares: dict[str, list[float]] = {}
    for day in DAYS:
        schedule, motion = world.schedule(day), world.motion(day)
        hours = (schedule.scheduled_at - schedule.starts_at) / 3600
        along = np.arange(hours.shape[1]) / np.maximum(schedule.is_call.sum(axis=1, keepdims=True) - 1, 1)
        ahead = preceding_calls(world.network, schedule, motion.is_passed)
        came_ahead = motion.passed_at[ahead.trip, ahead.sequence]
        ratio = np.where(ahead.trip == NO_TRIP, 1, (motion.passed_at - came_ahead) / ahead.headway_seconds)
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
            shares.setdefault(kind, []).append(float(motion.is_full[is_kind & motion.is_passed].mean()))
    mean = {kind: np.mean(found) for kind, found in shares.items()}

    assert mean["peak"] > 2 * mean["noon"] > 4 * mean["night"]
    assert mean["midway"] > 3 * mean["ends"]
    assert mean["behind a gap"] > 2 * mean["close behind"]
    assert 0.05 < mean["peak"] < 0.25


def test_a_vehicle_ends_a_trip_before_it_starts_the_next(world: World) -> None:
    n_held = 0
    for day in DAYS:
        schedule, motion = world.schedule(day), world.motion(day)
        is_run = motion.outcome != TripOutcome.NOT_RUN
        for row, before in enumerate(trip_before(schedule, world.blocks(day))):
            if before != NO_TRIP and is_run[before] and is_run[row]:
                turned = motion.passed_at[row, 0] - motion.passed_at[before][schedule.is_call[before]][-1]
                assert turned >= 59
                n_held += turned <= 61
    assert n_held > 50


def test_a_group_of_trips_depends_only_on_groups_before_it(world: World) -> None:
    schedule, motion = world.schedule(DAYS[0]), world.motion(DAYS[0])
    ahead = preceding_calls(world.network, schedule, motion.is_passed)
    before = trip_before(schedule, world.blocks(DAYS[0]))
    done: set[int] = {NO_TRIP}
    for rows in dependency_levels(schedule, ahead, before):
        for row in rows.tolist():
            assert {before[row], *ahead.trip[row].tolist()} <= done
        done |= set(rows.tolist())

    assert len(done) == schedule.n_trips + 1


@pytest.fixture(scope="module")
def compared(world: World, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """Return the passages of a date, with when they would have been without any event."""
    folder = tmp_path_factory.mktemp("compared")
    write_truth(world, DAYS[0], DAYS[0], folder, only=["passages"], has_counterfactual=True)
    found: list[dict[str, Any]] = pq.read_table(folder / "actual_passages.parquet").to_pylist()
    return found


def test_without_the_event_a_disturbed_trip_is_as_late_as_its_own_draws_make_it(
    world: World, compared: list[dict[str, Any]]
) -> None:
    schedule, without = world.schedule(DAYS[0]), world.motion_without_events(DAYS[0])
    ids = [world.network.trips[trip].id for trip in schedule.trips]
    disturbed = {trip_id for trip_id, is_on in zip(ids, world.disrupted(DAYS[0]), strict=True) if is_on}
    given = [row for row in compared if row["passed_at_without_event"]]
    saved = [
        (row["passed_at"] - row["passed_at_without_event"]).total_seconds()
        for row in given
        if row["trip_id"] in disturbed
    ]

    assert disturbed
    assert {row["trip_id"] for row in compared if row["passed_at_without_event"]} >= disturbed & {
        row["trip_id"] for row in compared
    }
    assert np.mean(saved) > 60
    assert np.mean(np.array(saved) >= 0) > 0.95
    for row in given[::50]:
        expected = without.passed_at[ids.index(row["trip_id"]), row["stop_sequence"] - 1]
        assert expected == row["passed_at_without_event"].replace(tzinfo=UTC).timestamp()


def test_where_no_event_has_an_effect_nothing_is_compared(
    world: World, compared: list[dict[str, Any]]
) -> None:
    motion, without = world.motion(DAYS[0]), world.motion_without_events(DAYS[0])
    is_same = (motion.passed_at == without.passed_at).all(axis=1) & ~world.disrupted(DAYS[0])
    is_same &= ~motion.is_skipped.any(axis=1)
    ids = [world.network.trips[trip].id for trip in world.schedule(DAYS[0]).trips]
    untouched = {trip_id for trip_id, same in zip(ids, is_same, strict=True) if same}

    assert len(untouched) > 0.3 * len(ids)
    assert all(row["passed_at_without_event"] is None for row in compared if row["trip_id"] in untouched)

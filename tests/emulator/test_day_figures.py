from datetime import date

import numpy as np
import pytest

from transit_emulator.calibration import emulated_calls
from transit_emulator.day_figures import REAL_DAY, Calls, DayFigures, figures_of, median_figures
from transit_emulator.world import build_world

DAYS = [date(2026, 3, day) for day in range(2, 7)]


@pytest.fixture(scope="module")
def city() -> DayFigures:
    world = build_world("city", seed=3)
    return median_figures(figures_of(emulated_calls(world, day)) for day in DAYS)


@pytest.mark.long
def test_delays_in_the_city_are_spread_like_those_of_a_real_day(city: DayFigures) -> None:
    for name in ("delay_percentiles", "growth_percentiles", "delay_by_hour"):
        assert getattr(city, name) == pytest.approx(getattr(REAL_DAY, name), rel=0.15, abs=50)
    for name in ("spread_between_trips", "spread_within_trips", "spread_between_lines"):
        assert getattr(city, name) == pytest.approx(getattr(REAL_DAY, name), rel=0.15)
    assert city.on_time_shares == pytest.approx(REAL_DAY.on_time_shares, abs=0.05)


@pytest.mark.long
def test_successive_trips_of_a_line_are_late_together_as_on_a_real_day(city: DayFigures) -> None:
    assert city.successive_correlation == pytest.approx(REAL_DAY.successive_correlation, abs=0.08)


@pytest.mark.long
def test_the_timetable_of_the_city_is_as_irregular_as_a_real_one(city: DayFigures) -> None:
    ratio, n_values = city.running_times

    assert ratio == pytest.approx(1.38, abs=0.1)
    assert 4 <= n_values <= 7
    assert city.whole_minute_share == REAL_DAY.whole_minute_share
    assert city.patterns == pytest.approx(REAL_DAY.patterns, abs=0.05)
    assert 0.045 < city.unrecorded_share[0] < 0.06


def calls(delays: list[list[float]], minutes_between: list[int]) -> Calls:
    """Return calls of trips of two stops: three of one line from 07:00, and one of another line."""
    departures = 7 * 3600 + 600.0 * np.arange(len(delays))
    scheduled = np.stack([departures, departures + 60 * np.array(minutes_between)], axis=1)
    return Calls(
        trip=np.repeat([3, 5, 8, 9], 2),
        way=np.repeat([0, 0, 0, 1], 2),
        pattern=np.repeat([0, 0, 1, 2], 2),
        scheduled=scheduled.ravel(),
        actual=(scheduled + np.array(delays)).ravel(),
    )


def test_a_trip_has_the_mean_delay_of_its_recorded_calls() -> None:
    found = figures_of(calls([[0, 60], [120, 240], [np.nan, np.nan], [600, 420]], [10, 10, 10, 9]))

    assert found.delay_percentiles[3] == 180
    assert found.growth_percentiles[2] == 60
    assert found.spread_within_trips == pytest.approx([np.sqrt((30**2 + 60**2 + 90**2) / 3)])
    assert found.spread_between_trips == pytest.approx([np.std([30, 180, 510])])
    assert found.spread_between_lines == pytest.approx([np.std([105, 510])])
    assert found.delay_by_hour[0] == 240
    assert found.on_time_shares == pytest.approx([4 / 6, 2 / 3])
    assert found.patterns == (1.5, 0.75)
    assert found.unrecorded_share == (0.25,)


def test_successive_trips_are_compared_within_their_line() -> None:
    late = [[60.0, 60.0], [120.0, 120.0], [180.0, 180.0], [900.0, 900.0]]

    assert figures_of(calls(late, [10, 10, 10, 10])).successive_correlation == pytest.approx([1.0])


def test_running_times_are_compared_within_patterns_of_ten_trips_or_more() -> None:
    departures = 600.0 * np.arange(12)
    lasts = np.array([*[1200.0] * 5, *[1500.0] * 5, 60.0, 6030.0])
    found = figures_of(
        Calls(
            trip=np.repeat(np.arange(12), 2),
            way=np.zeros(24, dtype=np.int64),
            pattern=np.repeat([*[0] * 10, 1, 1], 2),
            scheduled=np.stack([departures, departures + lasts], axis=1).ravel(),
            actual=np.stack([departures, departures + lasts], axis=1).ravel() + np.repeat(np.arange(12), 2),
        )
    )

    assert found.running_times == (1.25, 2)
    assert found.whole_minute_share == (23 / 24,)

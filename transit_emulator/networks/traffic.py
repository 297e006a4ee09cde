"""Describes how irregular the service of a network is, and how its timetable is made."""

from dataclasses import dataclass

ByHour = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Traffic:
    """The parameters of simulated days; hours are those of the service day.

    A trip leaves its origin late by `usual_lateness` seconds times a lognormal factor, less `earliness`. The
    spreads are standard deviations of the factor's logarithm, by what trips have in common: the date; the
    line and direction on all dates (`line_spread`); these at a time of a date (`hourly_spread`); nothing.

    Slowness is a share that is added to running times. It is drawn for each trip and each of its runs between
    two stops, and, once for all dates, for each line and direction (`line_slowness`) and each of its runs
    (`usual_run_slowness`), with these standard deviations. In an area of the map it changes from hour to
    hour, and is skewed: `area_slowness` is its scale.
    """

    usual_lateness: ByHour
    earliness: float
    earliest: float  # seconds, at the origin
    latest: float
    day_spread: float
    trip_spread: float
    trip_slowness: float
    run_slowness: float
    line_spread: float = 0.0
    hourly_spread: float = 0.0
    line_slowness: float = 0.0
    usual_run_slowness: float = 0.0
    area_slowness: float = 0.0
    remaining_lateness: float = 0.985  # the share of the lateness that remains from stop to stop
    weather_effect: float = 1.0  # as a share of the usual effect
    not_run: float = 0.015
    never_tracked: float = 0.06
    tracking_lost: float = 0.03
    timetable_seconds: int = 1  # scheduled times are multiples of it
    running_times: ByHour = ((0.0, 1.0),)  # from an hour on, as a factor of the usual ones

    def running_time_factor(self, hour: float) -> float:
        """Return the factor of the scheduled running times of a trip that leaves at an hour."""
        return max(entry for entry in self.running_times if entry[0] <= hour)[1]


LIGHT = Traffic(
    usual_lateness=(
        (0, 45), (4, 40), (6, 47), (8, 110), (11, 95), (14, 110), (17, 140), (19, 115), (21, 80), (24, 60),
        (30, 45),
    ),
    earliness=92.0, earliest=-150.0, latest=1_800.0, day_spread=0.35, trip_spread=0.85, trip_slowness=0.045,
    run_slowness=0.16,
)  # fmt: skip

# Fitted to a recorded day of a real network; benchmarks/emulator_calibration.py compares the figures.
HEAVY = Traffic(
    usual_lateness=(
        (0, 150), (4, 110), (6, 100), (8, 140), (12, 200), (16, 245), (20, 265), (24, 250), (30, 180),
    ),
    earliness=75.0, earliest=-420.0, latest=3_600.0, day_spread=0.12, trip_spread=0.5, trip_slowness=0.03,
    run_slowness=0.4, remaining_lateness=0.993, weather_effect=0.5, line_spread=0.16, hourly_spread=0.7,
    line_slowness=0.03, usual_run_slowness=0.1, area_slowness=0.16, never_tracked=0.0375,
    timetable_seconds=60,
    running_times=(
        (0, 0.85), (6, 0.94), (7, 1.1), (9.5, 1.0), (14, 1.04), (16, 1.18), (19.5, 0.97), (21, 0.85),
    ),
)  # fmt: skip

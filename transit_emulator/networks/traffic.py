"""Describes how regular the service of a network is, and how its timetable is made."""

from dataclasses import dataclass

ByHour = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Traffic:
    """The parameters of a simulated day; hours are those of the service day.

    A trip leaves its origin late by `usual_lateness` seconds, times a lognormal factor, less `earliness`. The
    spreads of that factor are standard deviations of its logarithm: of the day, of the line and direction on
    all days, of the line and direction from hour to hour, and of the single trip.

    Slowness is a share that is added to running times. Its standard deviations are those of a line and
    direction, of a run between two stops on all days, of an area of the map from hour to hour, of a trip,
    and of a trip's single run.
    """

    usual_lateness: ByHour
    earliness: float
    earliest: float
    latest: float
    day_spread: float
    trip_spread: float
    trip_slowness: float
    run_slowness: float
    remaining_lateness: float = 0.985  # the share of the lateness that remains from stop to stop
    weather_effect: float = 1.0  # as a share of the usual effect
    line_spread: float = 0.0
    hourly_spread: float = 0.0
    line_slowness: float = 0.0
    usual_run_slowness: float = 0.0
    area_slowness: float = 0.0
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
        (0, 150), (4, 100), (6, 90), (8, 125), (12, 190), (16, 240), (20, 265), (24, 250), (30, 180),
    ),
    earliness=75.0, earliest=-420.0, latest=3_600.0, day_spread=0.12, trip_spread=0.48, trip_slowness=0.03,
    run_slowness=0.4, remaining_lateness=0.993, weather_effect=0.5, line_spread=0.14, hourly_spread=0.7,
    line_slowness=0.03, usual_run_slowness=0.1, area_slowness=0.16, never_tracked=0.0375,
    timetable_seconds=60,
    running_times=(
        (0, 0.85), (6, 0.94), (7, 1.1), (9.5, 1.0), (14, 1.04), (16, 1.18), (19.5, 0.97), (21, 0.85),
    ),
)  # fmt: skip

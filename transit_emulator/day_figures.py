"""Measures how irregular a service date was, and has the figures of a real one."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from transit_emulator.local_time import DAY_SECONDS
from transit_emulator.networks.network import Ints
from transit_emulator.noise import Floats

HOURS = (7, 12, 16, 20)
_ON_TIME = (-60, 359)
_FEWEST_TRIPS = 10  # of a pattern whose running times are compared
_Values = tuple[float, ...]


class Calls(NamedTuple):
    """The scheduled calls of a date, by trip and sequence; columns of codes have any order.

    `scheduled` and `actual` are seconds from midnight; `actual` is NaN where nothing was recorded.
    """

    trip: Ints
    way: Ints
    pattern: Ints
    scheduled: Floats
    actual: Floats


class DayFigures(NamedTuple):
    """The figures of a date; delays and standard deviations in seconds.

    A trip's delay is the mean of its calls. `growth` is its delay at the last call less that at the first.
    Running times are those of patterns with ten trips or more: the median over the patterns of the largest
    over the smallest, and of how many different ones there are.
    """

    delay_percentiles: _Values  # 1, 5, 25, 50, 75, 95, 99
    growth_percentiles: _Values  # 5, 25, 50, 75, 95
    spread_between_trips: _Values
    spread_within_trips: _Values
    spread_between_lines: _Values
    successive_correlation: _Values  # of the delays of successive trips of a line and direction
    delay_by_hour: _Values  # HOURS
    on_time_shares: _Values  # of all calls, and of the first ones: -60 to 359 s
    running_times: _Values  # largest over smallest, different values
    whole_minute_share: _Values
    patterns: _Values  # per line and direction, and the share of trips that follow the main one
    unrecorded_share: _Values  # of the trips, without any record


# A recorded day of a real network: 6,006 trips, 199 lines and directions, times at time points.
REAL_DAY = DayFigures(
    delay_percentiles=(-310, -101, 81, 233, 487, 1_181, 1_910),
    growth_percentiles=(-296, -81, 69, 253, 628),
    spread_between_trips=(425,),
    spread_within_trips=(114,),
    spread_between_lines=(172,),
    successive_correlation=(0.34,),
    delay_by_hour=(167, 301, 373, 465),
    on_time_shares=(0.581, 0.736),
    running_times=(1.38, 5),
    whole_minute_share=(1.0,),
    patterns=(1.29, 0.95),
    unrecorded_share=(0.052,),  # the middle of 4.5 to 6 %
)


def figures_of(calls: Calls) -> DayFigures:
    """Return the figures of a date of which some calls have an actual time; NaN where nothing is compared."""
    first = np.flatnonzero(np.diff(calls.trip, prepend=-1))
    last = np.append(first[1:], len(calls.trip)) - 1
    delay = calls.actual - calls.scheduled
    is_known = ~np.isnan(delay)
    known, trip = delay[is_known], _codes(calls.trip)[is_known]
    of_trip = _means(known, trip, len(first))
    of_way = _means(known, _codes(calls.way)[is_known], 1)
    growth = delay[last] - delay[first]
    hours = (calls.scheduled[is_known] % DAY_SECONDS // 3600).astype(np.int64)
    is_on_time = (known >= _ON_TIME[0]) & (known <= _ON_TIME[1])
    is_first = np.isin(np.flatnonzero(is_known), first)
    return DayFigures(
        delay_percentiles=_percentiles(known, 1, 5, 25, 50, 75, 95, 99),
        growth_percentiles=_percentiles(growth[~np.isnan(growth)], 5, 25, 50, 75, 95),
        spread_between_trips=(float(np.nanstd(of_trip)),),
        spread_within_trips=(float(np.std(known - of_trip[trip])),),
        spread_between_lines=(float(np.nanstd(of_way)),),
        successive_correlation=(_correlation(of_trip, calls.way[first], calls.scheduled[first]),),
        delay_by_hour=tuple(_means(known, hours, 24)[list(HOURS)].tolist()),
        on_time_shares=(float(is_on_time.mean()), float(is_on_time[is_first].mean())),
        running_times=_running_times(calls.pattern[first], calls.scheduled[last] - calls.scheduled[first]),
        whole_minute_share=(float(np.mean(calls.scheduled % 60 == 0)),),
        patterns=_patterns(calls.way[first], calls.pattern[first]),
        unrecorded_share=(float(np.isnan(of_trip).mean()),),
    )


def median_figures(days: Iterable[DayFigures]) -> DayFigures:
    """Return the median of each figure over some dates."""
    return DayFigures(*(
        tuple(np.median(values, axis=0).tolist()) for values in zip(*days, strict=True)
    ))  # fmt: skip


def _codes(values: Ints) -> Ints:
    """Return each value's place among the different values, ascending."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def _means(values: Floats, group: Ints, n_groups: int) -> Floats:
    """Return the mean of each group; NaN where it has no value."""
    count = np.bincount(group, minlength=n_groups)
    total = np.bincount(group, weights=values, minlength=n_groups)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _percentiles(values: Floats, *percents: int) -> _Values:
    return tuple(np.percentile(values, percents).tolist())


def _correlation(delay: Floats, way: Ints, departs: Floats) -> float:
    """Return the correlation of trips' delays with those of the recorded trips of their line before them."""
    order = np.lexsort((departs, way))
    order = order[~np.isnan(delay[order])]
    before, after = order[:-1], order[1:]
    is_pair = way[before] == way[after]
    if is_pair.sum() < 2:  # noqa: PLR2004 - a correlation needs two pairs
        return np.nan
    return float(np.corrcoef(delay[before[is_pair]], delay[after[is_pair]])[0, 1])


def _running_times(pattern: Ints, seconds: Floats) -> _Values:
    by_pattern = [seconds[pattern == one] for one in np.unique(pattern)]
    compared = [found for found in by_pattern if len(found) >= _FEWEST_TRIPS]
    if not compared:
        return np.nan, np.nan
    ratios = [found.max() / found.min() for found in compared]
    return float(np.median(ratios)), float(np.median([len(np.unique(found)) for found in compared]))


def _patterns(way: Ints, pattern: Ints) -> _Values:
    """Return the patterns per line and direction, and the share of trips that follow the main one of each."""
    pairs, counts = np.unique(np.stack([way, pattern]), axis=1, return_counts=True)
    ways = np.unique(pairs[0])
    main = [counts[pairs[0] == one].max() for one in ways]
    return pairs.shape[1] / len(ways), float(np.sum(main) / len(way))

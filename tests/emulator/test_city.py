import re
from collections import Counter
from datetime import UTC, date, datetime

import numpy as np
import pytest

from transit_emulator.days.blocks import NO_TRIP
from transit_emulator.days.headways import preceding_calls
from transit_emulator.networks.network import ListedStop, Pattern
from transit_emulator.world import World, build_world

WORKDAY, SATURDAY, SUNDAY = date(2026, 3, 4), date(2026, 3, 7), date(2026, 3, 8)


@pytest.fixture(scope="module")
def city() -> World:
    return build_world("city", seed=3)


@pytest.fixture(scope="module")
def directions(city: World) -> list[tuple[ListedStop, ...]]:
    return [stops for line in city.network.lines for stops in line.stops.values()]


def test_it_has_the_size_of_a_real_city(city: World, directions: list[tuple[ListedStop, ...]]) -> None:
    network = city.network

    assert len({line.code for line in network.lines}) == len(network.lines) == 234
    assert len({stop.code for stop in network.stops}) == len(network.stops) == 2_718
    assert len(directions) == 405
    assert 7_900 < sum(map(len, directions)) < 8_400
    assert len({trip.id for trip in network.trips}) == len(network.trips)


def test_its_codes_have_the_irregularities_of_real_ones(city: World) -> None:
    network = city.network
    numbers = Counter(line.number for line in network.lines)

    assert sum(not re.fullmatch(r"\d{3}-\d{2}", line.code) for line in network.lines) == 66
    assert sum(bool(re.fullmatch(r"\d{5}", stop.code)) for stop in network.stops) == 198
    assert {"MM01", "MM08", "IS01", "IS16"} <= {stop.code for stop in network.stops}
    assert len([number for number, count in numbers.items() if count > 1]) == 12
    assert numbers["189/"] == 5


def test_its_stop_sequences_have_the_irregularities_of_real_ones(
    city: World, directions: list[tuple[ListedStop, ...]]
) -> None:
    assert all(stops[0].order == 1 for stops in directions)
    assert 330 < sum(stops[-1].order > len(stops) for stops in directions) < 345
    assert sum(len({stop.stop_code for stop in stops}) < len(stops) for stops in directions) == 9
    assert sum(len(line.stops) == 1 for line in city.network.lines) == 9
    assert sum(not line.stops for line in city.network.lines) == 27


def test_every_stop_is_served(city: World, directions: list[tuple[ListedStop, ...]]) -> None:
    listed = {stop.stop_code for stops in directions for stop in stops}

    assert listed == {stop.code for stop in city.network.stops}


def test_fewer_trips_run_on_saturdays_and_fewest_on_holidays(city: World) -> None:
    workday, saturday, sunday = (len(city.network.trips_on(day)) for day in (WORKDAY, SATURDAY, SUNDAY))

    assert 7_500 < workday < 8_800
    assert workday > saturday > sunday > 3_000
    assert len(city.network.trips_on(date(2026, 12, 25))) == sunday
    assert len(city.network.trips_on(date(2026, 4, 6))) == sunday, "Easter Monday"


def test_night_lines_run_at_night_and_every_trip_begins_within_the_service_day(city: World) -> None:
    schedule = city.schedule(WORKDAY)
    hours = (schedule.scheduled_at[:, 0] - schedule.starts_at) / 3600
    codes = [
        city.network.lines[city.network.patterns[p].line].code
        for p in city.network.trip_pattern[schedule.trips]
    ]

    assert 4 <= hours.min() < hours.max() < 28
    assert all(hour >= 21 for hour, code in zip(hours, codes, strict=True) if re.match(r"N\d", code))
    assert max(hour for hour, code in zip(hours, codes, strict=True) if code == "N1-00") > 26


def test_about_half_of_the_listed_rows_are_theoretical(city: World) -> None:
    now = datetime(2026, 3, 4, 7, tzinfo=UTC)
    rows = [row for stop in city.network.stops[::9] for row in city.passages(stop.code, now)]

    assert len(rows) > 500
    assert 0.35 < sum(row.is_theoretical for row in rows) / len(rows) < 0.75


def test_a_metropolis_is_about_twice_as_large_and_serves_every_stop() -> None:
    network = build_world("metropolis", seed=3).network
    listed = {stop.stop_code for line in network.lines for stops in line.stops.values() for stop in stops}

    assert len({line.code for line in network.lines}) == len(network.lines)
    assert len({stop.code for stop in network.stops}) == len(network.stops)
    assert 4_900 < len(network.stops) < 5_100
    assert 11_500 < len(network.trips_on(WORKDAY)) < 12_500
    assert listed == {stop.code for stop in network.stops}


def test_scheduled_times_are_whole_minutes_and_trips_last_longest_in_the_evening_peak(city: World) -> None:
    schedule = city.schedule(WORKDAY)
    times = schedule.scheduled_at - schedule.starts_at
    minutes: dict[int, dict[int, int]] = {}
    for row, pattern in enumerate(city.network.trip_pattern[schedule.trips].tolist()):
        last = len(city.network.patterns[pattern].stops) - 1
        minutes.setdefault(pattern, {})[int(times[row, 0]) // 3600] = int(times[row, last] - times[row, 0])
    lasts = [found for found in minutes.values() if {7, 17, 21} <= set(found)]

    assert not (times % 60).any()
    assert len(lasts) > 50
    assert all(found[17] > found[7] > found[21] for found in lasts if found[7] > 1_800)


def test_some_trips_end_early_as_a_service_of_their_own_and_others_leave_stops_out_unsaid(
    city: World,
) -> None:
    by_way: dict[tuple[int, int], list[Pattern]] = {}
    for pattern in city.network.patterns:
        by_way.setdefault((pattern.line, pattern.direction), []).append(pattern)
    pairs = [(found[0], other) for found in by_way.values() for other in found[1:]]
    detours = [(main, other) for main, other in pairs if main.service_code == other.service_code]
    shorter = [(main, other) for main, other in pairs if other.service_code == "03"]

    assert min(len(detours), len(shorter)) > 30
    assert all(set(other.stops) < set(main.stops) for main, other in pairs)
    assert all(main.stops[-1] == other.stops[-1] for main, other in detours)
    assert all(main.stops[: len(other.stops)] == other.stops for main, other in shorter)
    assert all(other.is_slash and main.headsign != other.headsign for main, other in shorter)


def test_a_bus_of_the_city_leaves_a_stop_after_its_arrival_and_some_overtake(city: World) -> None:
    schedule, motion = city.schedule(WORKDAY), city.motion(WORKDAY)
    ahead = preceding_calls(city.network, schedule, motion.is_passed)
    behind = motion.passed_at - motion.passed_at[ahead.trip, ahead.sequence]
    is_pair = motion.is_passed & (ahead.trip != NO_TRIP)

    assert (motion.departed_at >= motion.passed_at)[schedule.is_call].all()
    assert (motion.passed_at[:, 1:] - motion.departed_at[:, :-1])[schedule.is_call[:, 1:]].min() >= 5
    assert 0.01 < np.mean(behind[is_pair] < 0) < 0.2


def test_the_same_seed_gives_the_same_day_and_another_seed_another(city: World) -> None:
    passed_at = city.motion(WORKDAY).passed_at

    assert np.array_equal(passed_at, build_world("city", seed=3).motion(WORKDAY).passed_at)
    assert build_world("city", seed=4).motion(WORKDAY).passed_at.mean() != passed_at.mean()

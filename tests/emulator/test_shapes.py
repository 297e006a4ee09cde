"""The network of shapes has each shape that a line can have."""

from collections import Counter, defaultdict
from datetime import date

import numpy as np
import pytest

from transit_emulator.days.blocks import blocks
from transit_emulator.networks.network import INBOUND, OUTBOUND, Network
from transit_emulator.networks.shapes import shapes_network
from transit_emulator.world import World

DAY = date(2026, 3, 2)


@pytest.fixture(scope="module")
def network() -> Network:
    return shapes_network()


def test_both_directions_of_a_railway_share_their_stops(network: Network) -> None:
    shared = [
        line.number
        for line in network.lines
        if [stop.stop_code for stop in line.stops[OUTBOUND]]
        == [stop.stop_code for stop in reversed(line.stops.get(INBOUND, ()))]
    ]

    assert ["R1", "M1"] == shared


def test_runs_begin_and_end_in_the_middle_skip_stops_and_pass_one_twice(network: Network) -> None:
    outbound = [
        (network.lines[pattern.line].number, [network.stops[stop].code[2:] for stop in pattern.stops])
        for pattern in network.patterns
        if pattern.direction == OUTBOUND
    ]

    assert ("R1", ["00", "02", "04", "06", "08", "10", "12"]) in outbound
    assert ("R1", ["08", "10", "12", "14", "16", "18", "20", "22"]) in outbound
    assert ("R1", ["00", "06", "12", "18", "22"]) in outbound
    assert ["30", "40"] == [number for number, stops in outbound if len(stops) > len(set(stops))]


def test_two_lines_have_one_number_and_share_stops(network: Network) -> None:
    numbers = Counter(line.number for line in network.lines)
    whole, half = (line for line in network.lines if line.number == "50")

    assert ["50"] == [number for number, count in numbers.items() if count > 1]
    assert {stop.stop_code for stop in half.stops[OUTBOUND]} < {
        stop.stop_code for stop in whole.stops[OUTBOUND]
    }


def test_trains_run_every_hour_a_metro_every_three_minutes_and_one_line_at_night(network: Network) -> None:
    n_trips = Counter(
        network.lines[network.patterns[network.trips[trip].pattern].line].number
        for trip in network.trips_on(DAY)
    )

    assert 2 * 320 == n_trips["M1"]
    assert 60 < n_trips["R1"] < 140
    assert 2 * 12 == n_trips["N1"]


def test_a_vehicle_runs_both_of_two_lines(network: Network) -> None:
    world = World(network)
    lines = defaultdict(list)
    schedule = world.schedule(DAY)
    vehicles = blocks(world.network, schedule)
    for row in schedule.by_departure:
        trip = world.network.trips[int(schedule.trips[row])]
        lines[vehicles[row]].append(network.lines[network.patterns[trip.pattern].line].number)

    mixed = [numbers for numbers in lines.values() if len(set(numbers)) > 1]

    assert 4 == len(mixed)
    assert ["60", "60", "61", "61"] == mixed[0][:4]


def test_buses_of_one_line_run_early(network: Network) -> None:
    world = World(network)
    schedule, motion = world.schedule(DAY), world.motion(DAY)
    number = next(place for place, line in enumerate(network.lines) if line.number == "70")
    rows = world.network.pattern_line[world.network.trip_pattern[schedule.trips]] == number
    last = schedule.is_call[rows].sum(axis=1) - 1
    late = (motion.passed_at - schedule.scheduled_at)[rows][np.arange(rows.sum()), last]

    assert np.median(late) < -60

"""A planner that has never seen a network knows it well within its first hour."""

from datetime import date, datetime
from itertools import pairwise

import numpy as np
import pytest

from transit_emulator.days.motion import TripOutcome
from transit_emulator.world import World, build_world
from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.policy import Listing, Observation
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.line_labels import normal_label

DAY = date(2026, 9, 23)
FIRST_HOUR, N_HOURS = 8, 5
EVERY_SECONDS = 10.0  # a permit, for a network of which a permit a second would see everything
EVIDENCE_SECONDS = DEFAULTS.poll.evidence_seconds
SEEDS = range(1, 6)  # an hour of one world has some forty trips, too few to tell a difference by


@pytest.fixture(scope="module")
def shares() -> list[float]:
    """Return the share of the trips begun in each hour after the first contact that got evidence."""
    by_world = [_shares_in(build_world(seed=seed)) for seed in SEEDS]
    return [sum(hour) / len(hour) for hour in zip(*by_world, strict=True)]


def _shares_in(world: World) -> list[float]:
    start = world.schedule(DAY).starts_at + FIRST_HOUR * 3600.0
    stops = [stop.code for stop in world.network.stops]
    all_line_stops = [
        LineStops(normal_label(line.number), tuple(stop.stop_code for stop in line_stops))
        for line in world.network.lines
        for line_stops in line.stops.values()
    ]
    planner = Adaptive(stops, all_line_stops, 60 / EVERY_SECONDS)
    polls: dict[str, list[float]] = {stop: [] for stop in stops}
    for at in np.arange(start, start + N_HOURS * 3600, EVERY_SECONDS).tolist():
        stop = planner.choose(at)
        planner.observe(Observation(stop, at, is_good=True, listings=_listed(world, stop, at)))
        polls[stop].append(at)
    return _shares(world, polls, start)


def _listed(world: World, stop: str, at: float) -> tuple[Listing, ...]:
    passages = world.passages(stop, datetime.fromtimestamp(at, world.network.zone))
    return tuple(
        Listing(
            normal_label(one.line_label),
            one.destination,
            one.shown_id,
            float(one.shown_at),
            is_live=not one.is_theoretical,
        )
        for one in passages
    )


def _shares(world: World, polls: dict[str, list[float]], start: float) -> list[float]:
    """Return by hour of the first stop which trips passed a stop between two polls a minute apart."""
    board = world.board(DAY)
    enclosed: list[list[bool]] = [[] for _ in range(N_HOURS - 1)]
    plan, moved = board.schedule, board.motion
    for row in np.flatnonzero(moved.outcome == TripOutcome.RUN).tolist():
        calls = plan.is_call[row]
        codes = [world.network.stops[place].code for place in plan.stops[row][calls]]
        passed = moved.passed_at[row][calls].tolist()
        hour = int((passed[0] - start) // 3600)
        if 0 <= hour < len(enclosed):
            visits = zip(codes, passed, strict=True)
            enclosed[hour].append(any(_is_enclosed(polls[code], at) for code, at in visits))
    return [sum(found) / len(found) for found in enclosed]


def _is_enclosed(polls: list[float], at: float) -> bool:
    return any(a < at <= b and b - a <= EVIDENCE_SECONDS for a, b in pairwise(polls))


def test_the_second_hour_is_nearly_as_good_as_those_after(shares: list[float]) -> None:
    later = sum(shares[2:]) / len(shares[2:])

    assert later > 0.5, shares
    assert shares[1] >= 0.9 * later, shares


def test_even_the_first_hour_gets_most_of_it(shares: list[float]) -> None:
    assert shares[0] >= 0.6 * max(shares), shares

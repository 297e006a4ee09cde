"""Compares the ways to spend permits on stops with the truth: what share of trips and passages is evidenced.

    python benchmarks/collector.py --gtfs feed.zip [--day 2026-09-23] [--rate 60 --rate 300] [--hours 5 28]

Policies are driven straight against the emulated world, without HTTP: one poll per permit, evenly spaced.
A passage is evidenced when a poll lists its bus live and a poll of the same stop at most 60 s later lists it
no more. Counted are the trips of the day that ran and were tracked throughout, from the first stop to the
last, within the hours; their passages are the visits.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from transit_etl.collect.adaptive import Adaptive
from transit_etl.collect.observing import normal_label
from transit_etl.collect.planner import Listing, Observation, Policy, Rotation
from transit_etl.collect.routes import Course
from transit_etl.emulator.motion import Outcome
from transit_etl.emulator.world import Passage, World, build_world

EVIDENCE_SECONDS = 60.0
ANSWER_SECONDS = 0.15  # from the permit to the instant the answer speaks of
TARGETS = {60: (0.96, 0.18, 0.85), 300: (0.995, 0.80, 0.98)}


@dataclass
class Truth:
    """The passages to be evidenced, by trip and place along it."""

    trips: dict[str, list[float]]

    @property
    def n_visits(self) -> int:
        """How many passages there are."""
        return sum(map(len, self.trips.values()))


@dataclass
class Score:
    """What a policy evidenced. `n_false`: vanished listings that were no passage. Times: thread time."""

    evidenced: dict[str, set[int]] = field(default_factory=dict)
    n_polls: int = 0
    n_false: int = 0
    policy_seconds: float = 0.0
    slowest_ms: float = 0.0


@dataclass
class Result:
    """The three shares that are wanted, and what a decision took."""

    three_visits: float
    visits: float
    thirds: float
    mean_ms: float
    slowest_ms: float
    n_false: int


def truth_of(world: World, day: date, first_hour: float, last_hour: float) -> Truth:
    """Return the trips that ran, tracked throughout, within some hours of a service date."""
    board = world.board(day)
    plan, moved = board.schedule, board.motion
    start, end = plan.starts_at + first_hour * 3600, plan.starts_at + last_hour * 3600
    found: dict[str, list[float]] = {}
    for row in np.flatnonzero(moved.outcome == Outcome.RUN).tolist():
        passed = moved.passed_at[row][plan.is_call[row]].tolist()
        if start <= passed[0] and passed[-1] <= end:
            found[world.network.trips[int(plan.trips[row])].id] = passed
    return Truth(found)


def courses_of(world: World) -> list[Course]:
    """Return what the lists of lines and stops tell a collector."""
    return [
        Course(normal_label(line.number), tuple(stop.stop_code for stop in stops))
        for line in world.network.lines
        for stops in line.stops.values()
    ]


def polls(world: World, day: date, hours: tuple[float, float], rate: int) -> Iterator[float]:
    """Yield the instants of the permits."""
    start = world.schedule(day).starts_at
    first, last = start + hours[0] * 3600, start + hours[1] * 3600
    yield from np.arange(first, last, 60 / rate).tolist()


def run(world: World, policy: Policy, moments: Iterator[float], truth: Truth, day: date) -> Score:
    """Let a policy poll the world at the given instants, and judge what it could know."""
    score, judge = Score(), _Judge(truth, day)
    for moment in moments:
        began = time.thread_time()
        stop = policy.choose(moment)
        chose = time.thread_time() - began
        at = moment + ANSWER_SECONDS
        passages = world.passages(stop, datetime.fromtimestamp(at, world.network.zone))
        observation = Observation(stop, at, is_good=True, listings=tuple(map(_listing, passages)))
        began = time.thread_time()
        policy.observe(observation)
        spent = chose + time.thread_time() - began
        score.policy_seconds += spent
        score.slowest_ms = max(score.slowest_ms, spent * 1000)
        judge.poll(score, stop, at, passages)
    return score


class _Judge:
    """Finds the passages that two polls of a stop enclose, and looks them up in the truth."""

    def __init__(self, truth: Truth, day: date) -> None:
        self._truth = truth
        self._day = day
        self._last: dict[str, tuple[float, set[tuple[str, int]]]] = {}

    def poll(self, score: Score, stop: str, at: float, passages: list[Passage]) -> None:
        """Take a poll into account."""
        score.n_polls += 1
        before, listed = self._last.get(stop, (0.0, set()))
        live = {
            (passage.trip_id, passage.stop_sequence)
            for passage in passages
            if not passage.is_theoretical and passage.service_date == self._day
        }
        self._last[stop] = (at, live)
        if at - before > EVIDENCE_SECONDS:
            return
        for trip, sequence in listed - live:
            passed = self._truth.trips.get(trip)
            if passed is None:
                continue
            if before <= passed[sequence - 1] <= at:
                score.evidenced.setdefault(trip, set()).add(sequence)
            else:
                score.n_false += 1


def _listing(passage: Passage) -> Listing:
    return Listing(
        line_label=normal_label(passage.line_label),
        destination=passage.destination,
        trip_id=passage.shown_id,
        predicted_at=float(passage.shown_at),
        is_live=not passage.is_theoretical,
    )


def result_of(score: Score, truth: Truth) -> Result:
    """Return the shares of trips and visits."""
    n_trips = len(truth.trips)
    thirds = {
        trip: {min(2, 3 * (sequence - 1) // len(truth.trips[trip])) for sequence in sequences}
        for trip, sequences in score.evidenced.items()
    }
    return Result(
        three_visits=sum(len(found) >= 3 for found in score.evidenced.values()) / n_trips,
        visits=sum(map(len, score.evidenced.values())) / truth.n_visits,
        thirds=sum(len(found) == 3 for found in thirds.values()) / n_trips,
        mean_ms=1000 * score.policy_seconds / score.n_polls,
        slowest_ms=score.slowest_ms,
        n_false=score.n_false,
    )


def main() -> int:
    """Run every policy at every rate; 1 if adaptive misses a target."""
    arguments = _arguments()
    world = build_world(gtfs=arguments.gtfs)
    hours = (arguments.hours[0], arguments.hours[1])
    truth = truth_of(world, arguments.day, *hours)
    console, missed = Console(width=110), []
    table = Table(
        "rate", "policy", "trips ≥ 3", "visits", "each third", "mean ms", "slowest ms", "false",
        title=f"{len(truth.trips)} trips, {truth.n_visits} visits on {arguments.day}",
    )  # fmt: skip
    for rate in arguments.rate or sorted(TARGETS):
        for name in arguments.policy or list(POLICIES):
            policy = POLICIES[name](world, rate, arguments.day)
            found = result_of(
                run(world, policy, polls(world, arguments.day, hours, rate), truth, arguments.day), truth
            )
            shares = (found.three_visits, found.visits, found.thirds)
            table.add_row(
                str(rate), name, *(f"{share:.1%}" for share in shares),
                f"{found.mean_ms:.3f}", f"{found.slowest_ms:.1f}", str(found.n_false),
            )  # fmt: skip
            if name == "adaptive" and any(map(float.__lt__, shares, TARGETS.get(rate, shares))):
                missed.append(f"adaptive at {rate} a minute misses {TARGETS[rate]}")
    console.print(table)
    for problem in missed:
        console.print(problem, style="red")
    return 1 if missed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gtfs", type=Path)
    parser.add_argument("--day", type=date.fromisoformat, default=date(2026, 9, 23))
    parser.add_argument("--rate", type=int, action="append")
    parser.add_argument("--hours", type=float, nargs=2, default=(4, 28))
    parser.add_argument("--policy", choices=list(POLICIES), action="append")
    return parser.parse_args()


def _codes(world: World) -> list[str]:
    return [stop.code for stop in world.network.stops]


POLICIES: dict[str, Callable[[World, int, date], Policy]] = {
    "rotation": lambda world, _rate, _day: Rotation(_codes(world)),
    "adaptive": lambda world, rate, _day: Adaptive(_codes(world), courses_of(world), rate),
}

if __name__ == "__main__":
    sys.exit(main())

"""Compares the ways to spend permits on stops with the truth: what share of trips and passages is evidenced.

    python benchmarks/collector.py --gtfs feed.zip             # that feed and the city network, three seeds
    python benchmarks/collector.py --size city --rate 60 --hours 6 9 --seed 1 --policy adaptive

Policies are driven straight against the emulated world, without HTTP: one poll per permit, evenly spaced.
A passage is evidenced when a poll lists its bus live and a poll of the same stop at most 60 s later lists it
no more. Counted are the trips of the day that ran and were tracked throughout, from the first stop to the
last, within the hours; their passages are the visits. With faults one answer in twenty is an error, none
comes for twenty minutes at eight, ids are those of vehicles, and live rows vanish for a minute.

Two policies know the truth. `clairvoyant` has the same aims as `adaptive`, the same formula with the same
bonuses for trips and thirds: it shows what better knowledge would bring, and the share is that of its visits.
`clairvoyant-visits` wants visits alone: more of them at the cost of trips and thirds. Faults hit both.
"""

import argparse
import sys
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import product
from pathlib import Path
from statistics import mean, median

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.clairvoyant import Clairvoyant
from transit_emulator import noise
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.world import Passage, World, build_world
from transit_etl.collect.passage_parser import normal_label
from transit_etl.collect.planning.planner import Listing, Observation, Policy
from transit_etl.collect.planning.policies import policy_of
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.settings import PolicyName

EVIDENCE_SECONDS = 60.0
ANSWER_SECONDS = 0.15  # from the permit to the instant the answer speaks of
TARGETS = {60: (0.96, 0.18, 0.85), 300: (0.995, 0.80, 0.98)}  # for a feed without faults
SHARE_TARGETS = {60: 0.8, 300: 0.9}  # of the clairvoyant policy's evidenced visits
CLAIRVOYANT, ONLY_VISITS = "clairvoyant", "clairvoyant-visits"
POLICIES = [CLAIRVOYANT, ONLY_VISITS, *sorted(PolicyName)]  # it comes first: the others are compared with it
ERROR_SHARE, VANISHING_SHARE = 0.05, 0.03
OUTAGE_HOUR, OUTAGE_SECONDS = 8, 1_200.0


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
    """What a policy evidenced. `n_false`: vanished listings that were no passage."""

    evidenced: dict[str, set[int]] = field(default_factory=dict)
    n_polls: int = 0
    n_false: int = 0
    most_in_a_minute: int = 0
    milliseconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """The shares that are wanted, what a decision took, and whether the allowance was kept and used."""

    three_visits: float
    visits: float
    thirds: float
    median_ms: float
    n_false: int
    used: float
    n_over: int


@dataclass(frozen=True)
class Trouble:
    """What goes wrong with answers, as a function of stop and instant."""

    seed: int
    outage_from: float

    def is_lost(self, stop: str, at: float) -> bool:
        """Tell whether a request gets an error for an answer."""
        is_out = self.outage_from <= at < self.outage_from + OUTAGE_SECONDS
        return is_out or noise.unit("error", self.seed, stop, f"{at:.2f}") < ERROR_SHARE

    def hides(self, passage: Passage, at: float) -> bool:
        """Tell whether a live row is missing in this minute."""
        draw = noise.unit("vanishes", self.seed, int(at // 60), passage.trip_id)
        return not passage.is_theoretical and draw < VANISHING_SHARE


def truth_of(world: World, day: date, first_hour: float, last_hour: float) -> Truth:
    """Return the trips that ran, tracked and undiverted, within some hours of a service date."""
    board = world.board(day)
    schedule, motion = board.schedule, board.motion
    start, end = schedule.starts_at + first_hour * 3600, schedule.starts_at + last_hour * 3600
    found: dict[str, list[float]] = {}
    for row in np.flatnonzero(motion.is_complete).tolist():
        passed = motion.passed_at[row][schedule.is_call[row]].tolist()
        if start <= passed[0] and passed[-1] <= end:
            found[world.network.trips[int(schedule.trips[row])].id] = passed
    return Truth(found)


def line_stops_of(world: World) -> list[LineStops]:
    """Return what the lists of lines and stops tell a collector."""
    return [
        LineStops(normal_label(line.number), tuple(stop.stop_code for stop in stops))
        for line in world.network.lines
        for stops in line.stops.values()
    ]


def polls(world: World, day: date, hours: tuple[float, float], rate: int) -> Iterator[float]:
    """Yield the instants of the permits."""
    start = world.schedule(day).starts_at
    first, last = start + hours[0] * 3600, start + hours[1] * 3600
    yield from np.arange(first, last, 60 / rate).tolist()


def run(
    world: World, policy: Policy, moments: Iterator[float], judge: "Judge", trouble: Trouble | None = None
) -> Score:
    """Let a policy poll the world at the given instants, and judge what it could know."""
    score, last_minute = judge.score, deque[float]()
    for moment in moments:
        began = time.thread_time()
        stop = policy.choose(moment)
        chose = time.thread_time() - began
        at = moment + ANSWER_SECONDS
        is_good, passages = _answer(world, stop, at, trouble)
        observation = Observation(stop, at, is_good, listings=tuple(map(_listing, passages)))
        began = time.thread_time()
        policy.observe(observation)
        score.milliseconds.append(1000 * (chose + time.thread_time() - began))
        last_minute.append(moment)
        while last_minute[0] <= moment - 60:
            last_minute.popleft()
        score.most_in_a_minute = max(score.most_in_a_minute, len(last_minute))
        score.n_polls += 1
        if is_good:
            judge.poll(stop, at, passages)
    return score


def _answer(world: World, stop: str, at: float, trouble: Trouble | None) -> tuple[bool, list[Passage]]:
    if trouble is not None and trouble.is_lost(stop, at):
        return False, []
    passages = world.passages(stop, datetime.fromtimestamp(at, world.network.zone))
    if trouble is not None:
        passages = [passage for passage in passages if not trouble.hides(passage, at)]
    return True, passages


class Judge:
    """Finds the passages that two polls of a stop enclose, and looks them up in the truth."""

    def __init__(self, truth: Truth, day: date) -> None:
        self.score = Score()
        self._truth = truth
        self._day = day
        self._last: dict[str, tuple[float, set[tuple[str, int]]]] = {}

    def poll(self, stop: str, at: float, passages: list[Passage]) -> None:
        """Take a good poll into account."""
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
                self.score.evidenced.setdefault(trip, set()).add(sequence)
            else:
                self.score.n_false += 1


def _listing(passage: Passage) -> Listing:
    return Listing(
        line_label=normal_label(passage.line_label),
        destination=passage.destination,
        trip_id=passage.shown_id,
        predicted_at=float(passage.shown_at),
        is_live=not passage.is_theoretical,
    )


def result_of(score: Score, truth: Truth, n_permits: int, rate: int) -> Result:
    """Return the shares of trips and visits."""
    n_trips = max(1, len(truth.trips))
    thirds = {
        trip: {min(2, 3 * (sequence - 1) // len(truth.trips[trip])) for sequence in sequences}
        for trip, sequences in score.evidenced.items()
    }
    return Result(
        three_visits=sum(len(found) >= 3 for found in score.evidenced.values()) / n_trips,
        visits=sum(map(len, score.evidenced.values())) / max(1, truth.n_visits),
        thirds=sum(len(found) == 3 for found in thirds.values()) / n_trips,
        median_ms=median(score.milliseconds),
        n_false=score.n_false,
        used=score.n_polls / n_permits,
        n_over=max(0, score.most_in_a_minute - rate),
    )


def results(
    name: str, rate: int, worlds: list[World], arguments: argparse.Namespace, *, is_faulty: bool
) -> list[Result]:
    """Run a policy once in each world."""
    hours, found = (arguments.hours[0], arguments.hours[1]), []
    for world in worlds:
        day = arguments.day
        truth = truth_of(world, day, *hours)
        moments = list(polls(world, day, hours, rate))
        outage_from = world.schedule(day).starts_at + OUTAGE_HOUR * 3600.0
        world.id_mode = IdMode.VEHICLE if is_faulty else IdMode.STABLE
        trouble = Trouble(world.seed, outage_from) if is_faulty else None
        score = run(world, policy(name, world, day, rate), iter(moments), Judge(truth, day), trouble)
        found.append(result_of(score, truth, len(moments), rate))
    return found


def policy(name: str, world: World, day: date, rate: int) -> Policy:
    """Return a new policy for a network."""
    if name in (CLAIRVOYANT, ONLY_VISITS):
        return Clairvoyant(world, day, rate, has_bonuses=name == CLAIRVOYANT)
    codes = [stop.code for stop in world.network.stops]
    return policy_of(PolicyName(name), codes, line_stops_of(world), rate)


def main() -> int:
    """Run the policies side by side; 1 if adaptive misses a goal on a feed."""
    arguments = _arguments()
    console, missed = Console(width=130), []
    table = Table(
        "network", "rate", "faults", "policy", "trips ≥ 3", "visits", "each third",
        "of clairvoyant", "allowance used", "over it", "false", "median CPU ms",
        title=f"{arguments.day}, {arguments.hours[0]:g}-{arguments.hours[1]:g} h, seeds {arguments.seed}",
    )  # fmt: skip
    for size, gtfs in [(None, path) for path in arguments.gtfs] + [(size, None) for size in arguments.size]:
        worlds = [build_world(size or "", gtfs, seed) for seed in arguments.seed]
        best: dict[tuple[int, bool], float] = {}
        for rate, is_faulty, name in product(arguments.rate, arguments.faults, arguments.policy):
            found = results(name, rate, worlds, arguments, is_faulty=is_faulty)
            shares = [
                mean(getattr(one, part) for one in found) for part in ("three_visits", "visits", "thirds")
            ]
            if name == CLAIRVOYANT:
                best[rate, is_faulty] = shares[1]
            share = shares[1] / best[rate, is_faulty] if (rate, is_faulty) in best else None
            row = [
                worlds[0].network.name, str(rate), "on" if is_faulty else "off", name,
                *(f"{value:.1%}" for value in shares), "-" if share is None else f"{share:.0%}",
                f"{min(one.used for one in found):.1%}", str(max(one.n_over for one in found)),
                str(sum(one.n_false for one in found)), f"{median(one.median_ms for one in found):.3f}",
            ]  # fmt: skip
            table.add_row(*row)
            print(*row, sep="  ", file=sys.stderr, flush=True)
            if name == PolicyName.ADAPTIVE and gtfs and not is_faulty:
                goals = [
                    *zip(shares, TARGETS.get(rate, ()), strict=False),
                    (share or 1.0, SHARE_TARGETS.get(rate, 0.0)),
                ]
                missed += [
                    f"adaptive at {rate}: {value:.1%} of {goal:.1%}" for value, goal in goals if value < goal
                ]
    console.print(table)
    for problem in missed:
        console.print(problem, style="red")
    return 1 if missed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gtfs", type=Path, action="append", default=[])
    parser.add_argument("--only-gtfs", action="store_true", help="leave the built-in networks out")
    parser.add_argument("--size", action="append", choices=["small", "city"])
    parser.add_argument("--day", type=date.fromisoformat, default=date(2026, 9, 23))
    parser.add_argument("--hours", type=float, nargs=2, default=(4, 28))
    parser.add_argument("--rate", type=int, action="append")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--policy", choices=POLICIES, action="append")
    parser.add_argument("--faults", choices=["on", "off"], help="both unless told")
    arguments = parser.parse_args()
    arguments.size = (arguments.size or ["city"]) if not arguments.only_gtfs else []
    arguments.rate = arguments.rate or [60, 300]
    arguments.seed = arguments.seed or [1, 2, 3]
    arguments.policy = sorted(arguments.policy or POLICIES, key=POLICIES.index)
    arguments.faults = [False, True] if arguments.faults is None else [arguments.faults == "on"]
    return arguments


if __name__ == "__main__":
    sys.exit(main())

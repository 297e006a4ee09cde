"""Compares policies with the truth: what share of the trips and passages of a day each of them evidences.

    python benchmarks/collector.py --gtfs feed.zip             # that feed and the city network, three seeds
    python benchmarks/collector.py --size city --rate 60 --hours 6 9 --seed 1 --policy adaptive
    python benchmarks/collector.py --policy adaptive --parameter poll_value.locating_weight=0.6

Policies are driven directly against the emulated world, without HTTP: one poll per permit, evenly spaced.
A passage is evidenced when a poll lists its trip live and a poll of the same stop at most 60 s later no
longer lists it. Only trips count that ran and were tracked from the first stop to the last within the hours;
their passages are the visits. With faults 5 % of the answers are errors, none comes for 20 minutes at eight,
ids are those of vehicles, and live rows vanish for a minute.

Two policies know the truth. `clairvoyant` has the same aims as `adaptive`, the same formula with the same
bonuses for trips and thirds: it shows what better knowledge would bring, and "of clairvoyant" is the share of
its visits. `clairvoyant-visits` has no bonuses: more visits at the cost of trips and thirds.
"""

import argparse
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.clairvoyant import Clairvoyant
from benchmarks.polled_world import ANSWER_SECONDS, PolledWorld, line_stops_of, observation_of
from transit_emulator.world import NETWORK_NAMES, Passage, World, build_world
from transit_etl.collect.planning.parameters import DEFAULTS, PlannerParameters
from transit_etl.collect.planning.policies import policy_of
from transit_etl.collect.planning.policy import Policy
from transit_etl.settings import PolicyName

EVIDENCE_SECONDS = DEFAULTS.poll.evidence_seconds
CLAIRVOYANT, ONLY_VISITS = "clairvoyant", "clairvoyant-visits"
POLICIES = [CLAIRVOYANT, ONLY_VISITS, *sorted(PolicyName)]  # it comes first: the others are compared with it
COLUMNS = (
    "network", "rate", "faults", "policy", "trips ≥ 3", "visits", "each third",
    "of clairvoyant", "allowance used", "over it", "false", "median CPU ms",
)  # fmt: skip


class Shares(NamedTuple):
    """The shares of trips with three evidenced visits, of visits, and of trips with one in each third."""

    three_visits: float
    visits: float
    thirds: float


GOALS = {60: Shares(0.96, 0.18, 0.85), 300: Shares(0.995, 0.80, 0.98)}  # for a feed without faults
CLAIRVOYANT_GOALS = {60: 0.8, 300: 0.9}  # of the clairvoyant policy's evidenced visits


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
    """What a policy evidenced, as places by trip. `n_false`: vanished listings that were no passage."""

    evidenced: dict[str, set[int]] = field(default_factory=dict)
    n_polls: int = 0
    n_false: int = 0
    most_in_a_minute: int = 0
    milliseconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Result:
    """The shares reached in one world, what a decision took, and whether the allowance was kept and used."""

    shares: Shares
    median_ms: float
    n_false: int
    used: float
    n_over: int


@dataclass(frozen=True)
class Scenario:
    """One policy at one permit rate, with or without faults."""

    rate: int
    is_faulty: bool
    policy: str


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


class ListedCall(NamedTuple):
    """A call of a trip that a poll listed live."""

    trip_id: str
    stop_sequence: int


class LastPoll(NamedTuple):
    """The last good poll of a stop."""

    at: float
    live: set[ListedCall]


class Judge:
    """Finds the passages between two polls of a stop, and compares them with the truth."""

    def __init__(self, truth: Truth, day: date) -> None:
        self.score = Score()
        self._truth = truth
        self._day = day
        self._last: dict[str, LastPoll] = {}

    def poll(self, stop: str, at: float, passages: list[Passage]) -> None:
        """Score a good poll."""
        last = self._last.get(stop, LastPoll(0.0, set()))
        live = {
            ListedCall(passage.trip_id, passage.stop_sequence)
            for passage in passages
            if not passage.is_theoretical and passage.service_date == self._day
        }
        self._last[stop] = LastPoll(at, live)
        if at - last.at > EVIDENCE_SECONDS:
            return
        for call in last.live - live:
            passed = self._truth.trips.get(call.trip_id)
            if passed is None:
                continue
            if last.at <= passed[call.stop_sequence - 1] <= at:
                self.score.evidenced.setdefault(call.trip_id, set()).add(call.stop_sequence)
            else:
                self.score.n_false += 1


def run(polled: PolledWorld, policy: Policy, permit_times: Iterable[float], judge: Judge) -> Score:
    """Let a policy poll a world at the given instants, and score what it evidences."""
    score, last_minute = judge.score, deque[float]()
    for moment in permit_times:
        began = time.thread_time()
        stop = policy.choose(moment)
        chose = time.thread_time() - began
        at = moment + ANSWER_SECONDS
        passages = polled.answer(stop, at)
        observation = observation_of(stop, at, passages)
        began = time.thread_time()
        policy.observe(observation)
        score.milliseconds.append(1000 * (chose + time.thread_time() - began))
        last_minute.append(moment)
        while last_minute[0] <= moment - 60:
            last_minute.popleft()
        score.most_in_a_minute = max(score.most_in_a_minute, len(last_minute))
        score.n_polls += 1
        if passages is not None:
            judge.poll(stop, at, passages)
    return score


def result_of(score: Score, truth: Truth, n_permits: int, rate: int) -> Result:
    """Return the shares of trips and visits."""
    n_trips = max(1, len(truth.trips))
    thirds = {
        trip: {min(2, 3 * (sequence - 1) // len(truth.trips[trip])) for sequence in sequences}
        for trip, sequences in score.evidenced.items()
    }
    shares = Shares(
        three_visits=sum(len(found) >= 3 for found in score.evidenced.values()) / n_trips,
        visits=sum(map(len, score.evidenced.values())) / max(1, truth.n_visits),
        thirds=sum(len(found) == 3 for found in thirds.values()) / n_trips,
    )
    return Result(
        shares=shares,
        median_ms=median(score.milliseconds),
        n_false=score.n_false,
        used=score.n_polls / n_permits,
        n_over=max(0, score.most_in_a_minute - rate),
    )


def results(scenario: Scenario, worlds: list[World], arguments: argparse.Namespace) -> list[Result]:
    """Run a policy once in each world."""
    day, (first_hour, last_hour), found = arguments.day, arguments.hours, []
    for world in worlds:
        truth = truth_of(world, day, first_hour, last_hour)
        polled = PolledWorld(world, day, is_faulty=scenario.is_faulty)
        permit_times = polled.permit_times(first_hour, last_hour, scenario.rate)
        policy = policy_named(scenario.policy, world, day, scenario.rate, arguments.parameters)
        score = run(polled, policy, permit_times, Judge(truth, day))
        found.append(result_of(score, truth, len(permit_times), scenario.rate))
    return found


def policy_named(
    name: str, world: World, day: date, rate: int, parameters: PlannerParameters = DEFAULTS
) -> Policy:
    """Return a new policy for a network."""
    if name in (CLAIRVOYANT, ONLY_VISITS):
        return Clairvoyant(world, day, rate, parameters, has_bonuses=name == CLAIRVOYANT)
    codes = [stop.code for stop in world.network.stops]
    return policy_of(PolicyName(name), codes, line_stops_of(world), rate, parameters)


def means(found: list[Result]) -> Shares:
    """Return the shares averaged over the worlds."""
    return Shares(*(mean(values) for values in zip(*(each.shares for each in found), strict=True)))


def row(network: str, scenario: Scenario, found: list[Result], of_clairvoyant: float | None) -> list[str]:
    """Return the cells of a scenario, in the order of COLUMNS."""
    return [
        network, str(scenario.rate), "on" if scenario.is_faulty else "off", scenario.policy,
        *(f"{share:.1%}" for share in means(found)),
        "-" if of_clairvoyant is None else f"{of_clairvoyant:.0%}",
        f"{min(each.used for each in found):.1%}", str(max(each.n_over for each in found)),
        str(sum(each.n_false for each in found)), f"{median(each.median_ms for each in found):.3f}",
    ]  # fmt: skip


def missed_goals(rate: int, shares: Shares, of_clairvoyant: float | None) -> list[str]:
    """Return the goals of a permit rate that the adaptive policy misses."""
    goals = list(zip(shares, GOALS.get(rate, ()), strict=False))
    if of_clairvoyant is not None:
        goals.append((of_clairvoyant, CLAIRVOYANT_GOALS.get(rate, 0.0)))
    return [f"adaptive at {rate}: {share:.1%} of {goal:.1%}" for share, goal in goals if share < goal]


def main() -> int:
    """Run the policies side by side; 1 if adaptive misses a goal on a feed."""
    arguments = _arguments()
    console, missed = Console(width=130), []
    hours = f"{arguments.hours[0]:g}-{arguments.hours[1]:g} h"
    table = Table(*COLUMNS, title=f"{arguments.day}, {hours}, seeds {arguments.seed}")
    for size, gtfs in [(None, path) for path in arguments.gtfs] + [(size, None) for size in arguments.size]:
        worlds = [build_world(size or "", gtfs, seed) for seed in arguments.seed]
        best: dict[tuple[int, bool], float] = {}
        for rate, is_faulty, name in product(arguments.rate, arguments.faults, arguments.policy):
            scenario = Scenario(rate, is_faulty, name)
            found = results(scenario, worlds, arguments)
            shares = means(found)
            if name == CLAIRVOYANT:
                best[rate, is_faulty] = shares.visits
            of_clairvoyant = shares.visits / best[rate, is_faulty] if (rate, is_faulty) in best else None
            cells = row(worlds[0].network.name, scenario, found, of_clairvoyant)
            table.add_row(*cells)
            print(*cells, sep="  ", file=sys.stderr, flush=True)
            if name == PolicyName.ADAPTIVE and gtfs and not is_faulty:
                missed += missed_goals(rate, shares, of_clairvoyant)
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
    parser.add_argument("--size", action="append", choices=NETWORK_NAMES)
    parser.add_argument("--day", type=date.fromisoformat, default=date(2026, 9, 23))
    parser.add_argument("--hours", type=float, nargs=2, default=(4, 28))
    parser.add_argument("--rate", type=int, action="append")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--policy", choices=POLICIES, action="append")
    parser.add_argument("--faults", choices=["on", "off"], help="both by default")
    parser.add_argument(
        "--parameter", action="append", default=[], help="group.name=value, instead of its default"
    )
    arguments = parser.parse_args()
    arguments.size = (arguments.size or ["city"]) if not arguments.only_gtfs else []
    arguments.rate = arguments.rate or [60, 300]
    arguments.seed = arguments.seed or [1, 2, 3]
    arguments.policy = sorted(arguments.policy or POLICIES, key=POLICIES.index)
    arguments.faults = [False, True] if arguments.faults is None else [arguments.faults == "on"]
    arguments.parameters = parameters_with(arguments.parameter)
    return arguments


def parameters_with(changes: Iterable[str]) -> PlannerParameters:
    """Return the planner's parameters with some of its numbers changed, each given as `group.name=value`."""
    parameters = DEFAULTS
    for change in changes:
        path, value = change.split("=")
        group_name, name = path.split(".")
        group = getattr(parameters, group_name)
        number = type(getattr(group, name))(value)
        parameters = replace(parameters, **{group_name: replace(group, **{name: number})})
    return parameters


if __name__ == "__main__":
    sys.exit(main())

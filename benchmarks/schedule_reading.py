"""Measure how much of the schedule is read from the lists of stops, and what that costs in passages.

    python benchmarks/schedule_reading.py --size city                   # three days, two times: without, with
    python benchmarks/schedule_reading.py --size small --faults --days 5

The adaptive policy polls an emulated world without HTTP, day after day. Each day begins with a new policy,
which knows of the days before only what scheduled times were read; "without" it is not told of the timetable
and reads what it comes across. Shares are of all scheduled passages of the day within the hours:

- listed: its time was listed that day, or for the same trip on a day before;
- told: that, or a departure of the same pattern within 15 minutes was listed at the stop.

`visits`, `trips ≥ 3` and `each third` are those of benchmarks/collector.py, `rows` the passages that answers
listed, `for it` the share of the requests made mainly for scheduled times.
"""

import argparse
from collections import defaultdict
from datetime import date, timedelta

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.collector import Judge, Result, parameters_with, result_of, run, truth_of
from benchmarks.polled_world import PolledWorld, line_stops_of
from transit_emulator.days.schedule import Flags, Schedule
from transit_emulator.world import NETWORK_NAMES, Passage, World, build_world
from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.schedule_reading import LineSchedule, TimetableDeparture
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.line_labels import normal_label

TOLD_SECONDS = 900
COLUMNS = ("date", "schedule", "listed", "told", "for it", "visits", "trips ≥ 3", "each third", "rows")


class ScheduleJudge(Judge):
    """Notes, beside passages, which scheduled times were listed: trips of the network by sequence."""

    def __init__(self, world: World, day: date, hours: tuple[float, float], is_listed: Flags) -> None:
        super().__init__(truth_of(world, day, *hours), day)
        self.n_rows = 0
        self._is_listed = is_listed
        self._numbers = {trip.id: number for number, trip in enumerate(world.network.trips)}
        self._date = day

    def poll(self, stop: str, at: float, passages: list[Passage]) -> None:
        """Note a good poll."""
        super().poll(stop, at, passages)
        self.n_rows += len(passages)
        for passage in passages:
            if passage.is_theoretical and passage.service_date == self._date:
                self._is_listed[self._numbers[passage.trip_id], passage.stop_sequence - 1] = True


def set_departures(schedules: dict[LineStops, LineSchedule], world: World, day: date) -> None:
    """Give each line and direction its departures of a date, as its timetable has them."""
    schedule, network = world.schedule(day), world.network
    departures: dict[tuple[int, object], set[TimetableDeparture]] = defaultdict(set)
    for row in np.flatnonzero(~schedule.is_added).tolist():
        pattern = network.patterns[int(network.trip_pattern[schedule.trips[row]])]
        leaves_at = int(schedule.departs_at[row])
        departure = TimetableDeparture(leaves_at, leaves_at - schedule.starts_at)
        departures[pattern.line, pattern.direction].add(departure)
    for number, line in enumerate(network.lines):
        for direction, stops in line.stops.items():
            codes = tuple(stop.stop_code for stop in stops)
            key = LineStops(normal_label(line.number), codes)
            schedules.setdefault(key, LineSchedule()).departures = sorted(departures[number, direction])


def shares_known(world: World, schedule: Schedule, is_due: Flags, is_listed: Flags) -> tuple[float, float]:
    """Return the shares of the passages due whose time was listed, and was told by a departure near it."""
    listed = is_listed[schedule.trips][:, : is_due.shape[1]]
    told, patterns = listed.copy(), world.network.trip_pattern[schedule.trips]
    for pattern in set(patterns.tolist()):
        rows = np.flatnonzero((patterns == pattern) & ~schedule.is_added)
        leaves = schedule.departs_at[rows]
        is_near = np.abs(leaves[:, None] - leaves[None, :]) <= TOLD_SECONDS
        told[rows] = is_near.astype(np.int64) @ listed[rows].astype(np.int64) > 0
    return float(listed[is_due].mean()), float(told[is_due].mean())


def measure(world: World, arguments: argparse.Namespace, *, reads: bool) -> list[list[str]]:
    """Poll a world for some days, and return the cells of each."""
    found: list[list[str]] = []
    network, (first, last) = world.network, arguments.hours
    is_listed = np.zeros((len(network.trips), network.pattern_stops.shape[1]), dtype=np.bool_)
    schedules: dict[LineStops, LineSchedule] = {}
    for day in (arguments.day + timedelta(days=number) for number in range(arguments.days)):
        polled = PolledWorld(world, day, is_faulty=arguments.faults)
        judge = ScheduleJudge(world, day, (first, last), is_listed)
        if reads:
            set_departures(schedules, world, day)
        codes = [stop.code for stop in network.stops]
        policy = Adaptive(
            codes, line_stops_of(world), arguments.rate, arguments.parameters, schedules=schedules
        )
        permit_times = polled.permit_times(first, last, arguments.rate)
        score = run(polled, policy, permit_times, judge)
        result = result_of(score, truth_of(world, day, first, last), len(permit_times), arguments.rate)
        schedule = world.board(day).schedule
        due_hours = (schedule.scheduled_at - schedule.starts_at) / 3600
        is_due = schedule.is_call & ~schedule.is_added[:, None]
        is_due &= (due_hours >= first) & (due_hours < last)
        known = shares_known(world, schedule, is_due, is_listed)
        spent = policy.schedule.n_choices / len(permit_times)
        found.append(_cells(day, known, spent, result, judge.n_rows, reads=reads))
        print(*found[-1], f"{result.median_ms:.3f} ms", sep="  ", flush=True)
    return found


def _cells(
    day: date, known: tuple[float, float], spent: float, result: Result, n_rows: int, *, reads: bool
) -> list[str]:
    shares = [*known, spent, result.shares.visits, result.shares.three_visits, result.shares.thirds]
    return [str(day), "read" if reads else "not", *(f"{share:.1%}" for share in shares), f"{n_rows:,}"]


def main() -> None:
    """Run the measurement without and with reading the schedule, and print it."""
    arguments = _arguments()
    world = build_world(arguments.size, None, arguments.seed)
    table = Table(*COLUMNS, title=f"{world.network.name}, {arguments.rate} a minute, seed {arguments.seed}")
    for reads in arguments.reads:
        for cells in measure(world, arguments, reads=reads):
            table.add_row(*cells)
    Console(width=120).print(table)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=NETWORK_NAMES, default="city")
    parser.add_argument("--day", type=date.fromisoformat, default=date(2026, 9, 22))
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--hours", type=float, nargs=2, default=(4, 28))
    parser.add_argument("--rate", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", action="store_true", help="among them rows without an id")
    parser.add_argument("--only", choices=["without", "with"])
    parser.add_argument("--parameter", action="append", default=[], help="group.name=value")
    arguments = parser.parse_args()
    arguments.reads = [False, True] if arguments.only is None else [arguments.only == "with"]
    arguments.parameters = parameters_with(arguments.parameter)
    return arguments


if __name__ == "__main__":
    main()

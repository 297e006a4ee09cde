"""Measure whether adding a service date costs more when the warehouse already holds a long history.

    python benchmarks/build_history.py [--short 5] [--long 60] [--hours 4] [--repeat 3] [--data FOLDER]

Rehearses one morning of the small network against the emulator and copies it, shifted by whole days, into two
lakes: a short history and a long one. Both are built completely; then the same number of dates is added to
each in turn, and the processor time of each addition is measured. Prints the medians and their ratio; fails
over 1.2.

A large part of that time is spent by dbt itself, whatever the lake holds. So the time of the models and
checks is compared too, and those that cost more with the longer history are listed. With `--data`, later runs
only add dates.
"""

import argparse
import json
import resource
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import httpx2

from benchmarks.repeated_days import repeat_day
from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl import paths, warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

START = datetime(2026, 1, 7, 6, 0, tzinfo=UTC)  # ten weeks without a clock change from here
MOST = 1.2
SEED = 1


@dataclass(frozen=True)
class Addition:
    """The cost of adding one date: processor time in total, and elapsed time of each model and check."""

    cpu_seconds: float
    node_seconds: dict[str, float]


@dataclass(frozen=True)
class History:
    """A data folder with a number of days, and the cost of each date added to it."""

    n_days: int
    settings: Settings
    additions: list[Addition]

    def cpu_seconds(self) -> float:
        """Return the median over the additions."""
        return median(addition.cpu_seconds for addition in self.additions)

    def node_seconds(self) -> dict[str, float]:
        """Return the median of each model and check over the additions."""
        nodes = self.additions[0].node_seconds
        return {
            name: median(addition.node_seconds.get(name, 0) for addition in self.additions) for name in nodes
        }


def main() -> int:
    """Run the measurement and print it; 1 if a date costs too much more with the long history."""
    arguments = _arguments()
    with tempfile.TemporaryDirectory(prefix="history-") as scratch:
        folder = arguments.data or Path(scratch)
        day = Settings(data_dir=folder / "day", window_seconds=3600)
        if not day.data_dir.exists():
            _rehearse(day, arguments.hours)
        histories = [
            History(n_days, Settings(data_dir=folder / f"{n_days}-days"), [])
            for n_days in (arguments.short, arguments.long)
        ]
        for history in histories:
            _build_whole(day, history)
        _add_dates(day, histories, arguments.repeat)
    ratio = histories[1].cpu_seconds() / histories[0].cpu_seconds()
    _show(*histories)
    print(f"ratio of the medians: {ratio:.2f} (at most {MOST})")
    return 0 if ratio <= MOST else 1


def _build_whole(day: Settings, history: History) -> None:
    """Copy and build a history, unless its folder exists."""
    if history.settings.data_dir.exists():
        return
    repeat_day(day.data_dir, history.settings.data_dir, day.operator, range(history.n_days))
    began = _cpu_seconds()
    warehouse.build(history.settings)
    print(
        f"{history.n_days} days built completely in {_cpu_seconds() - began:.1f} s of processor time",
        flush=True,
    )


def _add_dates(day: Settings, histories: list[History], repeat: int) -> None:
    """Add dates to each history in turn, so that other load of the machine affects both."""
    for _ in range(repeat):
        for history in histories:
            number = len(paths.lake_files(history.settings.data_dir, "requests", day.operator))
            repeat_day(day.data_dir, history.settings.data_dir, day.operator, [number])
            began = _cpu_seconds()
            warehouse.build(history.settings)
            addition = Addition(_cpu_seconds() - began, _node_seconds(history.settings))
            history.additions.append(addition)
            print(
                f"one more date after {number} days: {addition.cpu_seconds:.1f} s of processor time, "
                f"{sum(addition.node_seconds.values()):.1f} s in models and checks",
                flush=True,
            )


def _show(short: History, long: History) -> None:
    """Print the models and checks that cost more with the longer history, most first."""
    before, after = short.node_seconds(), long.node_seconds()
    more = {name: after[name] - before.get(name, 0) for name in after}
    print(f"models and checks: {sum(before.values()):.1f} s, {sum(after.values()):.1f} s; most by")
    for name, seconds in sorted(more.items(), key=lambda item: -item[1])[:10]:
        print(f"  {name:<60} {before.get(name, 0):6.2f} s -> {after[name]:6.2f} s ({seconds:+.2f})")


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _node_seconds(settings: Settings) -> dict[str, float]:
    path = paths.dbt_run_results(settings.data_dir)
    results = json.loads(path.read_text(encoding="utf-8"))["results"]
    return {result["unique_id"].split(".")[2]: float(result["execution_time"]) for result in results}


def _rehearse(settings: Settings, hours: float) -> None:
    transport = httpx2.ASGITransport(create_app(build_world("small", None, SEED)))
    rehearse(settings, START, hours, transport=transport)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--short", type=int, default=5, help="days of the short history")
    parser.add_argument("--long", type=int, default=60, help="days of the long history")
    parser.add_argument("--hours", type=float, default=4.0, help="hours of each day that are polled")
    parser.add_argument("--repeat", type=int, default=3, help="dates added to each")
    parser.add_argument("--data", type=Path, help="a folder to work in, which is kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

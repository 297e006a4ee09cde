"""Measures how fast days are rehearsed against the emulator at city size, and where the time goes.

    python benchmarks/rehearsal.py [--hours 2] [--start 2026-03-02T06:00] [--window 3600] [--policy adaptive]
    python benchmarks/rehearsal.py --hours 72 --only status,news,timetables,network

The code is that of production; staging runs in a process of its own. So does the emulator, asked over HTTP,
unless passages are left out. On a machine that does other work too, the processor time of each process is
more reliable than elapsed time.
"""

import argparse
import resource
import sys
import tempfile
import threading
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Self

import httpx2
import psutil

import transit_etl
from transit_emulator.app import create_app
from transit_emulator.process import emulator_process
from transit_emulator.world import build_world
from transit_etl.endpoints import REHEARSED
from transit_etl.rehearsal import RehearsalReport, rehearse
from transit_etl.settings import PolicyName, Settings

GOAL, GOAL_WITHOUT_PASSAGES = 300, 2_000
PACKAGE = Path(transit_etl.__file__).parent
SAMPLE_SECONDS = 0.01


def main() -> int:
    """Rehearse, print what it took, and fail if the upstream refused a request."""
    arguments = _arguments()
    only = tuple(arguments.only.split(","))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            data_dir=Path(folder),
            window_seconds=arguments.window,
            rate_per_minute=arguments.rate,
            policy=PolicyName(arguments.policy),
        )
        if "passages" in only:
            report, served, sampler = _over_http(settings, arguments, only)
        else:
            app = create_app(build_world(arguments.size), limit_without_token=arguments.rate)
            report, sampler = _rehearse(settings, arguments, only, httpx2.ASGITransport(app))
            served = 0.0
    _show(report, served, sampler, GOAL if "passages" in only else GOAL_WITHOUT_PASSAGES)
    return 1 if report.is_failure or report.n_rate_limited else 0


def _over_http(
    settings: Settings, arguments: argparse.Namespace, only: tuple[str, ...]
) -> tuple[RehearsalReport, float, "_Sampler"]:
    """Rehearse against an emulator in a process of its own; return its processor time as well."""
    with emulator_process("--size", arguments.size) as server:
        process = psutil.Process(server.process.pid)
        before = _cpu_seconds(process)
        settings = settings.model_copy(update={"base_url": server.base_url})
        report, sampler = _rehearse(settings, arguments, only, None)
        return report, _cpu_seconds(process) - before, sampler


def _rehearse(
    settings: Settings,
    arguments: argparse.Namespace,
    only: tuple[str, ...],
    transport: httpx2.AsyncBaseTransport | None,
) -> tuple[RehearsalReport, "_Sampler"]:
    with _Sampler() as sampler:
        report = rehearse(
            settings, arguments.start, arguments.hours, transport=transport, only=only, in_two_processes=True
        )
    return report, sampler


class _Sampler:
    """Samples the function that the main thread executes, a hundred times a second."""

    def __init__(self) -> None:
        self.places: Counter[str] = Counter()
        self._main = threading.get_ident()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._is_over.wait(SAMPLE_SECONDS):
            self.places[_place(sys._current_frames()[self._main])] += 1  # noqa: SLF001 - no public function does this


def _place(frame: FrameType) -> str:
    """Return the innermost function of transit_etl on the stack, and the library that it calls, if any."""
    innermost, found = frame, frame
    while not found.f_code.co_filename.startswith(str(PACKAGE)):
        if found.f_back is None:
            return "the event loop and libraries"
        found = found.f_back
    module = Path(found.f_code.co_filename).relative_to(PACKAGE).with_suffix("")
    library = "" if innermost is found else f" > {Path(innermost.f_code.co_filename).parent.name}"
    return f"{module}.{found.f_code.co_name}{library}"


def _show(report: RehearsalReport, served: float, sampler: _Sampler, goal: int) -> None:
    own = resource.getrusage(resource.RUSAGE_SELF)
    staging = resource.getrusage(resource.RUSAGE_CHILDREN)  # the emulator has not been waited for yet
    own_seconds, staging_seconds = own.ru_utime + own.ru_stime, staging.ru_utime + staging.ru_stime
    n_requests = sum(report.outcomes.values())
    print(
        f"{report.virtual_seconds / 3600:.1f} hours in {report.real_seconds:.0f} s: "
        f"{report.times_real_time:.0f} times real time (goal {goal}); {n_requests:,} requests, "
        f"{report.allowance_share:.1%} of the allowance, {report.n_rate_limited} refused"
    )
    print("\nelapsed time of the rehearsing process, by activity")
    for part, seconds in sorted(report.seconds_spent.items(), key=lambda entry: -entry[1]):
        share, each = seconds / report.real_seconds, 1000 * seconds / n_requests
        print(f"  {part:<16} {seconds:7.1f} s  {share:4.0%}  {each:6.2f} ms a request")
    print("\nprocessor time")
    for name, seconds in (
        ("collector", own_seconds), ("emulator", served), ("staging (parallel)", staging_seconds),
    ):  # fmt: skip
        print(f"  {name:<16} {seconds:7.1f} s        {1000 * seconds / n_requests:6.2f} ms a request")
    fastest = report.virtual_seconds / (own_seconds + served)
    print(f"  collector and emulator alternate: {fastest:.0f} times real time on an idle machine")
    total = sum(sampler.places.values())
    print("\nfunctions of the collector, by share of samples")
    for place, count in sampler.places.most_common(15):
        print(f"  {count / total:5.1%}  {place}")


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=2.0, help="24 is a whole day")
    parser.add_argument(
        "--start", type=_instant, default="2026-03-02T06:00", help="UTC; a rush hour by default"
    )
    parser.add_argument("--window", type=float, default=3600, help="seconds, as TRANSIT_WINDOW_SECONDS")
    parser.add_argument("--rate", type=int, default=60, help="requests a minute")
    parser.add_argument("--policy", default="adaptive")
    parser.add_argument("--only", default=",".join(REHEARSED), help="what is rehearsed")
    parser.add_argument("--size", default="city")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

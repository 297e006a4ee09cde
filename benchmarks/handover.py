"""Measure how much of the allowance is left unused between two windows of passages, under a real Airflow.

    python benchmarks/handover.py [--handovers 4] [--window 60] [--rate 60] [--all-dags]

Starts an emulator and Airflow (scheduler, DAG processor, API server, executor) in a folder of their own,
lets `passages` run window after window, and reads from the raw ledger when the last request of each window
and the first of the next were sent. The time between them, minus the usual interval between requests, was
unused. Fails if that was more than three seconds at any handover.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from scripts.local_airflow import BIN, PROGRAMS, environment, set_up
from scripts.stack import Stack, without_settings
from transit_emulator.process import first_answer, free_port
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.paths import raw_files

MOST_UNUSED_SECONDS = 3.0
START_SECONDS = 240.0
OTHER_DAGS = ("status", "staging")


class Window(NamedTuple):
    """A finished window: when its first request was planned, when its requests were sent, and how many."""

    name: str
    first_planned_at: datetime
    first_sent_at: datetime
    last_sent_at: datetime
    n_sent: int


def main() -> int:
    """Run the measurement and print it; 1 if a handover left more than three seconds unused."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory(prefix="handover-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        with _running(folder, arguments) as data_dir:
            windows = _wait_for_windows(data_dir, arguments)
    return _judge(windows, 60 / arguments.rate)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--handovers", type=int, default=4)
    parser.add_argument("--window", type=float, default=60, help="seconds; a real one has 600")
    parser.add_argument("--rate", type=int, default=60, help="requests a minute")
    parser.add_argument("--all-dags", action="store_true", help="with every DAG running at the same time")
    return parser.parse_args()


@contextmanager
def _running(folder: Path, arguments: argparse.Namespace) -> Iterator[Path]:
    """Run the emulator and Airflow to the end of the context; yield the data folder."""
    stack = Stack(folder / "programs")
    data_dir = folder / "data"
    port = free_port()
    settings = {
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_DATA_DIR": str(data_dir),
        "TRANSIT_LIMITER_URL": f"sqlite:///{data_dir.absolute()}/state/budget.sqlite",
        "TRANSIT_WINDOW_SECONDS": str(arguments.window),
        "TRANSIT_RATE_PER_MINUTE": str(arguments.rate),
        "TRANSIT_TOKEN": "demo-token",
    }
    plain = without_settings(folder)
    airflow = {**environment(folder / "airflow", {**plain, **settings}, port=free_port())}
    airflow["AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION"] = str(not arguments.all_dags)
    try:
        emulator = stack.start("emulator", [BIN / "transit-etl", "emulator", "--port", str(port)], plain)
        first_answer(f"http://127.0.0.1:{port}/", lambda: bool(emulator.processes()))
        for step in (["collect", "lines"], ["stage"], ["collect", "stops"], ["stage"]):
            subprocess.run(  # noqa: S603 - our own program
                [BIN / "transit-etl", *step], env={**plain, **settings}, check=True, stdout=sys.stderr
            )
        set_up(airflow)
        for name, words in PROGRAMS.items():
            stack.start(name, [BIN / "airflow", *words], airflow)
        _unpause(airflow, ["passages", *OTHER_DAGS])
        yield data_dir
    finally:
        stack.stop(grace_seconds=10)


def _unpause(airflow: Mapping[str, str], dags: Sequence[str]) -> None:
    """Unpause DAGs, as soon as Airflow has read them."""
    give_up_at = time.monotonic() + START_SECONDS
    for dag in dags:
        while time.monotonic() < give_up_at:
            command = [str(BIN / "airflow"), "dags", "unpause", dag, "--yes"]
            done = subprocess.run(  # noqa: S603 - Airflow's own client
                command, env=airflow, check=False, capture_output=True, text=True
            )
            if done.returncode == 0 and "No paused" not in done.stdout:
                break
            time.sleep(2)


def _wait_for_windows(data_dir: Path, arguments: argparse.Namespace) -> list[Window]:
    """Return the windows in order, once there are enough for the requested number of handovers."""
    limit = START_SECONDS + (arguments.handovers + 2) * (arguments.window + 60)
    give_up_at = time.monotonic() + limit
    n_finished = 0
    while time.monotonic() < give_up_at:
        windows = _finished_windows(data_dir)
        if len(windows) > n_finished:
            n_finished = len(windows)
            print(f"window {n_finished} finished", file=sys.stderr)
        if len(windows) > arguments.handovers:
            return windows[: arguments.handovers + 1]
        time.sleep(2)
    raise SystemExit(f"only {n_finished} windows were finished in {limit:.0f} seconds")


def _finished_windows(data_dir: Path) -> list[Window]:
    windows = [_window(path) for path in raw_files(data_dir, endpoint="passages")]
    return sorted((window for window in windows if window), key=lambda window: window.first_sent_at)


def _window(path: Path) -> Window | None:
    rows: list[dict[str, Any]] = [json.loads(line) for line in read_lines(path)]
    sent = sorted(datetime.fromisoformat(row["sent_at"]) for row in rows if row["sent_at"])
    planned = min((datetime.fromisoformat(row["planned_at"]) for row in rows), default=None)
    return Window(path.name, planned, sent[0], sent[-1], len(sent)) if planned and sent else None


def _judge(windows: Sequence[Window], pace: float) -> int:
    gaps = [
        (after.first_sent_at - before.last_sent_at).total_seconds() for before, after in pairwise(windows)
    ]
    unused = [max(0.0, gap - pace) for gap in gaps]
    for (before, after), seconds in zip(pairwise(windows), unused, strict=True):
        print(
            f"{before.last_sent_at:%H:%M:%S.%f} -> {after.first_planned_at:%H:%M:%S.%f} permit "
            f"-> {after.first_sent_at:%H:%M:%S.%f} sent: {seconds:5.1f} s unused "
            f"({before.n_sent} requests before, {after.n_sent} after)"
        )
    print(f"{len(unused)} handovers, worst {max(unused):.1f} s, allowed {MOST_UNUSED_SECONDS:.0f} s")
    is_too_much = max(unused) > MOST_UNUSED_SECONDS
    print("FAILED" if is_too_much else "passed")
    return int(is_too_much)


def _interrupt(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

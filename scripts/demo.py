"""Demonstrates the whole pipeline: rehearses days, polls live through the DAGs, compares with the truth."""

import argparse
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from rich.console import Console

from scripts.demo_findings import ALLOWANCE, show_findings
from scripts.demo_progress import waiting
from scripts.demo_rehearsal import (
    Days,
    Rehearsal,
    RehearsalFailedError,
    choose_days,
    write_stops,
    write_truth,
)
from scripts.demo_runs import DagFailedError, Runs
from scripts.local_airflow import BIN, CHECKOUT, environment, set_up
from scripts.stack import Program, Stack, without_settings
from transit_emulator.process import NoAnswerError, first_answer, free_port

FOLDER = CHECKOUT / "data" / "demo"
STOPS = FOLDER / "stops.csv"
WINDOW_SECONDS = 120
LARGEST_SMALL = 200  # stops of a network that is small; the DAG of version 0 asks for each of them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 if every DAG succeeded, 1 if one failed, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gtfs", type=Path, help="a GTFS zip whose network is emulated")
    parser.add_argument(
        "--window", type=int, default=WINDOW_SECONDS, help="how many seconds passages are polled for"
    )
    parser.add_argument("--hours", type=float, help="how many hours are rehearsed, from the first date on")
    chosen = parser.parse_args(arguments)
    console, started = Console(width=None if sys.stdout.isatty() else 110), time.monotonic()
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, _interrupt)
    stack = Stack(FOLDER / "programs")
    stack.stop()
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        demonstrate(console, stack, chosen.gtfs, chosen.window, chosen.hours)
    except (
        DagFailedError,
        NoAnswerError,
        RehearsalFailedError,
        subprocess.CalledProcessError,
    ) as error:
        console.print(f"demo: {error}", style="red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("demo: interrupted", style="red")
        return 130
    finally:
        stack.stop(grace_seconds=5)
    console.print(f"\nDone in {time.monotonic() - started:.0f} seconds.", style="dim", highlight=False)
    return 0


def demonstrate(
    console: Console, stack: Stack, gtfs: Path | None, window_seconds: int, hours: float | None
) -> None:
    """Rehearse some days, run every DAG once on the morning after them, and show the results."""
    port, network = free_port(), ["--gtfs", str(gtfs.resolve())] if gtfs else ["--size", "small"]
    log = str(FOLDER / "answers.jsonl")
    command = [str(BIN / "transit-etl"), "emulator", "--port", str(port), "--log", log, *network]
    emulator = stack.start("emulator", command, without_settings(FOLDER))
    with waiting(console, "starting the emulated interface"):
        about = _about(stack, emulator, port)
        is_small = about["n_stops"] <= LARGEST_SMALL
        days = choose_days(f"http://127.0.0.1:{port}/", is_small=is_small, hours=hours)
        write_stops(without_settings(FOLDER), network, STOPS)
    _introduce(console, about, days, window_seconds)
    common = {**without_settings(FOLDER), **_common_settings(about)}
    rehearsal = Rehearsal(stack, common, network, days)
    airflow = environment(FOLDER / "airflow", without_settings(FOLDER))
    with waiting(console, "setting up Airflow"):
        set_up(airflow)
    settings = {**_common_settings(about), **_live_settings(port, days.now, window_seconds)}
    runs = Runs(FOLDER, {**airflow, **settings}, console)
    runs.run(["network", "timetables"])
    runs.run(["passages"], ["status", "news"])
    console.print(rehearsal.wait(console), highlight=False)
    runs.run(["staging", "warehouse", "nightly"], *([["legacy_v0"]] if is_small else []))
    with waiting(console, "writing down what truly happened"):
        write_truth(common, network, days, FOLDER / "truth")
    show_findings(console, {**without_settings(FOLDER), **settings}, FOLDER, days)


def _introduce(console: Console, about: dict[str, Any], days: Days, window_seconds: int) -> None:
    """Say what is demonstrated."""
    size = f"{about['n_lines']} lines, {about['n_stops']} stops"
    console.rule(f"[bold]The emulated network {about['network']}: {size}")
    for line in (
        "An emulator on this machine stands for the operator's interface. It knows what truly happens.",
        (
            f"Rehearsed, on a virtual clock: {days.hours:g} hours from {days}, at "
            f"{days.rate_per_minute} requests a minute."
        ),
        (
            f"Polled live, by Airflow over HTTP: {window_seconds} seconds of {days.now:%A %d %B, from %H:%M} "
            f"({about['timezone']}), at up to {ALLOWANCE} requests a minute, which a token allows."
        ),
        "Both go on at the same time and write into the same lake.",
        "\nFor each DAG that Airflow has run, a line with its duration and its tasks, as they ended:",
    ):
        console.print(line, highlight=False)


def _common_settings(about: dict[str, Any]) -> dict[str, str]:
    """Return the settings that the rehearsal and the pipeline share."""
    return {
        "TRANSIT_DATA_DIR": str(FOLDER),
        "TRANSIT_TIMEZONE": about["timezone"],
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
        "TRANSIT_STOPS_FILE": str(STOPS),
    }


def _live_settings(port: int, now: datetime, window_seconds: int) -> dict[str, str]:
    """Return the settings of a pipeline whose clock shows the emulated time."""
    return {
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_TOKEN": "demo-token",
        "TRANSIT_STATUS_INTERVAL_SECONDS": "20",
        "TRANSIT_WINDOW_SECONDS": str(window_seconds),
        "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
    }


def _about(stack: Stack, emulator: Program, port: int) -> dict[str, Any]:
    """Return the emulator's description of itself; wait until it answers."""
    try:
        answer = first_answer(f"http://127.0.0.1:{port}/", lambda: bool(emulator.processes()))
    except NoAnswerError as error:
        raise NoAnswerError(f"the emulator does not answer: see {stack.log('emulator')}") from error
    about: dict[str, Any] = answer.json()
    return about


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

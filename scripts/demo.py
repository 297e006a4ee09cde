"""Demonstrates the whole pipeline: rehearses a day, polls live through the DAGs, compares with the truth."""

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
from scripts.demo_rehearsal import Rehearsal, RehearsalFailedError, choose_days, write_truth
from scripts.demo_runs import DagFailedError, Runs
from scripts.local_airflow import BIN, CHECKOUT, environment, set_up
from scripts.stack import Program, Stack, without_settings
from transit_emulator.process import NoAnswerError, first_answer, free_port

FOLDER = CHECKOUT / "data" / "demo"
WINDOW_SECONDS = 120
REHEARSED_RATE = 60  # the allowance without a token
LARGEST_FOR_VERSION_0 = 200  # stops; the DAG of version 0 asks for each of them


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 if every DAG succeeded, 1 if one failed, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gtfs", type=Path, help="a GTFS zip whose network is emulated")
    parser.add_argument(
        "--window", type=int, default=WINDOW_SECONDS, help="how many seconds passages are polled for"
    )
    parser.add_argument(
        "--hours", type=float, default=24, help="how many hours of a service day are rehearsed"
    )
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
    console.print(f"\nDone in {time.monotonic() - started:.0f} seconds.", style="dim")
    return 0


def demonstrate(console: Console, stack: Stack, gtfs: Path | None, window_seconds: int, hours: float) -> None:
    """Rehearse a day, run every DAG once on the morning after it, and show the results."""
    port, network = free_port(), ["--gtfs", str(gtfs.resolve())] if gtfs else ["--size", "small"]
    log = str(FOLDER / "answers.jsonl")
    command = [str(BIN / "transit-etl"), "emulator", "--port", str(port), "--log", log, *network]
    emulator = stack.start("emulator", command, without_settings(FOLDER))
    with console.status("starting the emulated upstream"):
        about = _about(stack, emulator, port)
        days = choose_days(f"http://127.0.0.1:{port}/")
    console.rule(f"[bold]{about['network']}: {about['n_lines']} lines, {about['n_stops']} stops")
    console.print(
        f"Rehearsal: {hours:g} hours of the service day {days.rehearsed:%A %d %B %Y} on a virtual clock, "
        f"at {REHEARSED_RATE} requests a minute.\n"
        f"Live: {window_seconds} seconds of {days.now:%A %d %B, from %H:%M} ({about['timezone']}), "
        f"through the DAGs over HTTP, at {ALLOWANCE} requests a minute (with a token).\n"
        "Both run at the same time and write into the same lake.",
        highlight=False,
    )
    common = {**without_settings(FOLDER), **_common_settings(about)}
    rehearsal = Rehearsal(stack, common, network, days.rehearsed, hours)
    airflow = environment(FOLDER / "airflow", without_settings(FOLDER))
    with console.status("setting up Airflow"):
        set_up(airflow)
    settings = {**_common_settings(about), **_live_settings(port, days.now, window_seconds)}
    runs = Runs(FOLDER, {**airflow, **settings}, console)
    runs.run(["network", "timetables"])
    runs.run(["passages"], ["status", "news"])
    console.print(summary(rehearsal.wait(console)), highlight=False)
    is_small = about["n_stops"] <= LARGEST_FOR_VERSION_0
    runs.run(["staging", "warehouse", "nightly"], *([["legacy_v0"]] if is_small else []))
    write_truth(common, network, days.rehearsed, FOLDER / "truth")
    show_findings(console, {**without_settings(FOLDER), **settings}, FOLDER, days.rehearsed)


def summary(report: dict[str, Any]) -> str:
    """Return one line about what a rehearsal did."""
    n_requests, refused = sum(report["outcomes"].values()), report["outcomes"].get("rate_limited", 0)
    return (
        f"[green]✓[/] rehearsal   {report['real_seconds']:.0f} s  {n_requests:,} requests, "
        f"{report['allowance_share']:.0%} of the allowance used, {refused} refused"
    )


def _common_settings(about: dict[str, Any]) -> dict[str, str]:
    """Return the settings that the rehearsal and the pipeline share."""
    return {
        "TRANSIT_DATA_DIR": str(FOLDER),
        "TRANSIT_TIMEZONE": about["timezone"],
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
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

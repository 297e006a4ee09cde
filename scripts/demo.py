"""Shows the whole way on a made-up morning: an emulated upstream, the real DAGs, and what they found out."""

import argparse
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import httpx
from rich.console import Console

from scripts.demo_findings import show_findings
from scripts.demo_runs import DagFailedError, Runs
from scripts.local_airflow import BIN, CHECKOUT, environment, set_up
from scripts.stack import Stack

FOLDER = CHECKOUT / "data" / "demo"
WINDOW_SECONDS = 120
LARGEST_FOR_VERSION_0 = (
    200  # stops; version 0 is asked for each of them, and a demonstration has five minutes
)
PATIENCE_SECONDS = 120


class EmulatorFailedError(Exception):
    """The emulator does not answer; the message says where its log is."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demonstration; 0 if every DAG succeeded, 1 if one failed, 130 if it was interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gtfs", type=Path, help="a GTFS zip whose network is emulated")
    parser.add_argument(
        "--window", type=int, default=WINDOW_SECONDS, help="seconds that passages are polled for"
    )
    chosen = parser.parse_args(arguments)
    console, started = Console(width=None if sys.stdout.isatty() else 110), time.monotonic()
    for interruption in (signal.SIGINT, signal.SIGTERM):
        signal.signal(interruption, _interrupt)
    stack = Stack(FOLDER / "programs")
    stack.stop()
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        demonstrate(console, stack, chosen.gtfs, chosen.window)
    except (DagFailedError, EmulatorFailedError, subprocess.CalledProcessError) as error:
        console.print(f"demo: {error}", style="red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("demo: interrupted", style="red")
        return 130
    finally:
        stack.stop(patience_seconds=5)
    console.print(f"\nDone in {time.monotonic() - started:.0f} seconds.", style="dim")
    return 0


def demonstrate(console: Console, stack: Stack, gtfs: Path | None, window_seconds: int) -> None:
    """Start the upstream, run every DAG once, and show what is known afterwards."""
    port = _free_port()
    command = [
        str(BIN / "transit-etl"),
        "emulator",
        "--port",
        str(port),
        "--log",
        str(FOLDER / "answers.jsonl"),
    ]
    stack.start("emulator", [*command, *(["--gtfs", str(gtfs)] if gtfs else [])], _without_settings())
    airflow = environment(FOLDER / "airflow", _without_settings())
    with console.status("setting up Airflow and the emulated upstream …"):
        set_up(airflow)
        about = _about(stack, port)
    now = datetime.fromisoformat(about["suggested_now"])
    console.rule(f"[bold]{about['network']}: {about['n_lines']} lines, {about['n_stops']} stops")
    console.print(
        f"The emulated upstream says it is {now:%A %d %B %Y, %H:%M} in {about['timezone']}; with a token it "
        "allows 300 requests in any minute. Every DAG runs once, over HTTP.",
        highlight=False,
    )
    settings = _settings(about, port, now, window_seconds)
    runs = Runs(FOLDER, {**airflow, **settings}, console)
    runs.run(["network", "timetables"])
    runs.run(["passages"], ["status", "news"])
    is_small = about["n_stops"] <= LARGEST_FOR_VERSION_0
    runs.run(["staging", "warehouse", "nightly"], *([["legacy_v0"]] if is_small else []))
    show_findings(console, {**_without_settings(), **settings}, FOLDER)


def _settings(about: dict[str, Any], port: int, now: datetime, window_seconds: int) -> dict[str, str]:
    """Return the settings of a pipeline whose clock shows the emulated moment."""
    return {
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_TOKEN": "demo-token",
        "TRANSIT_DATA_DIR": str(FOLDER),
        "TRANSIT_TIMEZONE": about["timezone"],
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
        "TRANSIT_STATUS_INTERVAL_SECONDS": "20",
        "TRANSIT_WINDOW_SECONDS": str(window_seconds),
        "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
    }


def _without_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("TRANSIT_")}


def _about(stack: Stack, port: int) -> dict[str, Any]:
    """Return what the emulator says of itself, once it answers."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline and any(program.processes() for program in stack.programs()):
        try:
            about: dict[str, Any] = (
                httpx.get(f"http://127.0.0.1:{port}/", timeout=30).raise_for_status().json()
            )
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return about
    raise EmulatorFailedError(f"the emulator does not answer: see {stack.log('emulator')}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

"""Measure how soon an outage of the upstream, and its end, are seen, under a real Airflow with every DAG.

    python benchmarks/outage.py [--down 300]

Starts an emulator, Airflow and a receiver of alerts, waits until all is well, kills the emulator, and starts
it again. Prints after how many seconds `transit-etl status`, `transit-etl check`, the first page of Airflow
("Failed Dags") and an alert said so. Fails if one of them took more than 150 seconds.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx2

from scripts.local_airflow import BIN, PROGRAMS, USER, environment, new_password, set_up
from scripts.stack import Program, Stack, without_settings
from transit_emulator.process import first_answer, free_port

MOST_SECONDS = 150.0
START_SECONDS = 600.0
FEWEST_ANSWERS = 60  # of passages, before the upstream is killed
Signs = Mapping[str, Callable[[], bool]]


@dataclass(frozen=True)
class Installation:
    """What runs: the emulator's port, the settings, Airflow's address and login, and the alerts so far."""

    stack: Stack
    port: int
    settings: Mapping[str, str]
    airflow: str
    password: str
    alerts: list[str]

    def start_upstream(self) -> Program:
        """Start the emulator, and wait until it answers."""
        program = self.stack.start(
            "emulator", [BIN / "transit-etl", "emulator", "--port", str(self.port)], self.settings
        )
        first_answer(f"http://127.0.0.1:{self.port}/", lambda: bool(program.processes()))
        return program

    def tells(self, command: str) -> dict[str, Any]:
        """Return what `transit-etl status` or `check` says."""
        done = subprocess.run(  # noqa: S603 - our own program
            [BIN / "transit-etl", command, "--json"], env=self.settings, check=False, capture_output=True
        )
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def is_down_by_check(self) -> bool:
        """Tell whether `transit-etl check` finds the upstream down."""
        return any(each["name"] in ("upstream", "address") for each in self.tells("check")["problems"])

    def n_failed_dags(self) -> int:
        """Return the number that the first page of Airflow shows."""
        user = {"username": USER, "password": self.password}
        token = httpx2.post(f"{self.airflow}/auth/token", json=user, timeout=60).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        stats = httpx2.get(f"{self.airflow}/ui/dashboard/dag_stats", headers=headers, timeout=60).json()
        return int(stats["failed_dag_count"])

    def is_well(self) -> bool:
        """Tell whether passages are answered, nothing is wrong, and Airflow shows no failure."""
        usage = {each["kind"]: each["n_good"] for each in self.tells("status")["usage"]}
        is_collecting = usage.get("passages", 0) >= FEWEST_ANSWERS
        return is_collecting and bool(self.tells("check")["is_healthy"]) and self.n_failed_dags() == 0


def main() -> int:
    """Run the measurement and print it; 1 if something took longer than 150 seconds."""
    arguments = _arguments()
    with (
        tempfile.TemporaryDirectory(prefix="outage-", ignore_cleanup_errors=True) as name,
        _alerts() as alerts,
    ):
        stack = Stack(Path(name) / "programs")
        try:
            running, upstream = _start(Path(name), stack, *alerts)
            seconds = _measure(running, upstream, arguments.down)
        finally:
            stack.stop(grace_seconds=10)
    for label, taken in seconds.items():
        print(f"{label:<24} {taken:.0f} s")
    return 1 if max(seconds.values()) > MOST_SECONDS else 0


def _measure(running: Installation, upstream: Program, down_seconds: float) -> dict[str, float]:
    down: Signs = {
        "status": lambda: running.tells("status")["outage"] is not None,
        "check": running.is_down_by_check,
        "first page": lambda: running.n_failed_dags() > 0,
        "alert": lambda: "upstream" in running.alerts,
    }
    over: Signs = {
        "status, over": lambda: running.tells("status")["outage"] is None,
        "check, over": lambda: not running.is_down_by_check(),
        "first page, over": lambda: running.n_failed_dags() == 0,
        "alert, over": lambda: any("upstream answers again" in title for title in running.alerts),
    }
    _wait_until(running.is_well)
    killed_at = time.monotonic()
    os.kill(upstream.pid, signal.SIGKILL)
    seen = _first_seen(down)
    time.sleep(max(0.0, killed_at + down_seconds - time.monotonic()))
    running.start_upstream()
    return {**seen, **_first_seen(over)}


def _first_seen(signs: Signs) -> dict[str, float]:
    """Return after how many seconds each sign was seen first; those never seen take longer than allowed."""
    began, seen = time.monotonic(), dict[str, float]()
    while len(seen) < len(signs) and time.monotonic() - began < 3 * MOST_SECONDS:
        for label, is_seen in signs.items():
            if label not in seen and is_seen():
                seen[label] = time.monotonic() - began
        time.sleep(1)
    return {label: seen.get(label, 3 * MOST_SECONDS) for label in signs}


def _wait_until(is_well: Callable[[], bool]) -> None:
    give_up_at = time.monotonic() + START_SECONDS
    while not is_well():
        if time.monotonic() > give_up_at:
            raise RuntimeError("the installation is not well within ten minutes")
        time.sleep(5)


def _start(folder: Path, stack: Stack, alert_url: str, alerts: list[str]) -> tuple[Installation, Program]:
    port, airflow_port = free_port(), free_port()
    settings = {
        **without_settings(folder),
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_DATA_DIR": str(folder / "data"),
        "TRANSIT_LIMITER_URL": f"sqlite:///{folder}/budget.sqlite",
        "TRANSIT_ALERT_URLS": alert_url,
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
    }
    airflow_address = f"http://localhost:{airflow_port}"
    before = Installation(stack, port, settings, airflow_address, "", alerts)
    upstream = before.start_upstream()
    about = httpx2.get(f"http://127.0.0.1:{port}/", timeout=60).json()
    shift = datetime.fromisoformat(about["suggested_now"]) - datetime.now(UTC)
    settings["TRANSIT_CLOCK_SHIFT_SECONDS"] = str(shift.total_seconds())
    airflow = environment(folder / "airflow", settings, port=airflow_port)
    set_up(airflow)
    password = new_password(folder / "airflow")
    for name, words in PROGRAMS.items():
        stack.start(name, [BIN / "airflow", *words], airflow)
    first_answer(f"{airflow_address}/api/v2/monitor/health", lambda: True)
    return Installation(stack, port, settings, airflow_address, password, alerts), upstream


@contextmanager
def _alerts() -> Iterator[tuple[str, list[str]]]:
    """Receive alerts; yield their address, and a list that gets the name of each problem."""
    names: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            names.append(body["title"].partition(": ")[2])
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"json://127.0.0.1:{server.server_port}/", names
        server.shutdown()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--down", type=float, default=300, help="seconds from the kill to the new start")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

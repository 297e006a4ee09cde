"""Measures how fast the live page inside Airflow answers while a collector polls and builds run.

    python benchmarks/live_page.py [--seconds 120] [--clients 4] [--size city] [--hours 4] [--data FOLDER]

Rehearses some hours, or copies a data folder (of the network `--size`), and builds them. Then an emulator, a
collector that polls it, and one build after the other run, each with staging and publishing, while uvicorn
serves the application of the plugin from a process of its own. Once a second the clients ask the page at
once, and half a second later one of them alone, for `--seconds` and until a build has ended. The log-in is
left out. Fails if one in twenty answers after the first took longer than 300 ms, or if nothing was polled.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, takewhile
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

import httpx2

from transit_emulator.process import emulator_process, first_answer, free_port
from transit_emulator.world import NETWORK_NAMES

MOST_SECONDS = 0.3  # p95
TOKEN = "live-token"  # noqa: S105 - a made-up token, for 300 requests a minute
START, DATE = "2026-03-02T06:00", "2026-03-02"
POLLING_SECONDS = 10.0  # of a collector alone, so that the page has something to show
AGE = re.compile(r"read (\d+) s ago")
SERVER = """
import sys
import uvicorn
from airflow.api_fastapi.app import create_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.api_fastapi.core_api.security import get_user
from transit_airflow.app import make_app
create_auth_manager()
app = make_app()
app.dependency_overrides[get_user] = lambda: SimpleAuthManagerUser(username="reader", role="viewer")
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""


class Answer(NamedTuple):
    """An answer of the page: how long it took, and how old the state in it was (none if it had none)."""

    seconds: float
    age_seconds: int | None


@dataclass
class Installation:
    """A data folder and the environment of the programs that work on it; `log` has what they print."""

    data_dir: Path
    environment: dict[str, str]
    log: Path
    n_builds: int = 0
    stops: threading.Event = field(default_factory=threading.Event)

    def start(self, *command: str) -> "subprocess.Popen[bytes]":
        """Start a program of Python in a session of its own."""
        with self.log.open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, *command],
                env=self.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def run(self, *words: str) -> None:
        """Run a command of ours to its end; RuntimeError if it fails."""
        if self.start("-m", "transit_etl.cli", *words).wait():
            raise RuntimeError(f"{words} failed: {self.log.read_text()[-2000:]}")

    def build(self) -> None:
        """Stage what was polled, build the rehearsed date and what is new, and publish."""
        for words in (["stage"], ["build"], ["build", "--from", DATE, "--to", DATE], ["publish"]):
            self.run(*words)

    def keep_building(self) -> None:
        """Build again and again until the end, and count the builds."""
        while not self.stops.is_set():
            self.build()
            self.n_builds += 1


def main() -> int:
    """Print the measurement; 1 if an answer was too slow, or if nothing ran meanwhile."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="live-page-", ignore_cleanup_errors=True) as name:
        scratch = Path(name)
        requests = scratch / "requests.jsonl"
        with emulator_process("--size", options.size, "--token", TOKEN, "--log", str(requests)) as emulator:
            ours = _prepared(scratch, emulator.base_url, options)
            with _running(ours, "-m", "transit_etl.cli", "collect", "passages", "--for", "24h"):
                time.sleep(POLLING_SECONDS)
                n_before = _n_lines(requests)
                with _building(ours) as has_built, _served(ours) as address:
                    first, together, alone = _asked(address, options, has_built)
                    n_requests, n_builds = _n_lines(requests) - n_before, ours.n_builds
    print(f"{n_builds} builds ended and {n_requests} requests were sent meanwhile")
    print(f"the first answer of the process: {1000 * first.seconds:.0f} ms")
    _print(f"{options.clients} at once", together)
    _print("alone", alone)
    ages = [each.age_seconds for each in (*together, *alone) if each.age_seconds is not None]
    n_empty = len(together) + len(alone) - len(ages)
    print(f"{n_empty} answers had no state yet; in the others it was at most {max(ages, default=0)} s old")
    is_failed = max(_p95(together), _p95(alone)) > MOST_SECONDS or n_requests == 0 or not ages
    print("FAILED" if is_failed else "passed")
    return int(is_failed)


def _prepared(scratch: Path, base_url: str, options: argparse.Namespace) -> Installation:
    """Return an installation with a published file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRANSIT_")}
    ours = Installation(scratch / "data", environment, scratch / "log")
    environment |= {
        "AIRFLOW_HOME": str(scratch / "airflow"),
        "TRANSIT_BASE_URL": base_url,
        "TRANSIT_DATA_DIR": str(ours.data_dir),
        "TRANSIT_OPERATOR": "emulated",
        "TRANSIT_PROJECT_DIR": str(scratch),
        "TRANSIT_TOKEN": TOKEN,
        "TRANSIT_WINDOW_SECONDS": "60",
    }
    if options.data:
        shutil.copytree(options.data, ours.data_dir)
    else:
        ours.run("rehearse", "--start", START, "--hours", str(options.hours), "--size", options.size)
    ours.build()
    return ours


@contextmanager
def _running(ours: Installation, *command: str) -> Iterator["subprocess.Popen[bytes]"]:
    process = ours.start(*command)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


@contextmanager
def _building(ours: Installation) -> Iterator[Callable[[], bool]]:
    """Build again and again; yield what tells whether a build has ended, or failed."""
    with ThreadPoolExecutor(1) as pool:
        building = pool.submit(ours.keep_building)
        try:
            yield lambda: ours.n_builds > 0 or building.done()
        finally:
            ours.stops.set()
    building.result()


@contextmanager
def _served(ours: Installation) -> Iterator[str]:
    """Yield the address of the application, which has answered for another page than the live one."""
    port = free_port()
    with _running(ours, "-c", SERVER, str(port)) as server:
        address = f"http://127.0.0.1:{port}"
        first_answer(f"{address}/dictionary/", lambda: server.poll() is None)
        yield address


def _asked(
    address: str, options: argparse.Namespace, may_end: Callable[[], bool]
) -> tuple[Answer, list[Answer], list[Answer]]:
    """Return the first answer, those to all clients at once, and those to one alone."""
    together: list[Answer] = []
    alone: list[Answer] = []
    clients = [httpx2.Client(base_url=address, timeout=60) for _ in range(options.clients)]
    with ThreadPoolExecutor(options.clients) as pool:
        first = _ask(clients[0])
        began = time.monotonic()
        for number in takewhile(lambda number: number < options.seconds or not may_end(), count()):
            _sleep_until(began + number)
            together += pool.map(_ask, clients)
            _sleep_until(began + number + 0.5)
            alone.append(_ask(clients[0]))
    for client in clients:
        client.close()
    return first, together, alone


def _ask(client: httpx2.Client) -> Answer:
    began = time.perf_counter()
    answer = client.get("/live").raise_for_status()
    seconds = time.perf_counter() - began
    age = AGE.search(answer.text)
    return Answer(seconds, int(age[1]) if age else None)


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


def _n_lines(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def _p95(answers: Sequence[Answer]) -> float:
    return quantiles((each.seconds for each in answers), n=20, method="inclusive")[-1]


def _print(name: str, answers: Sequence[Answer]) -> None:
    seconds = [each.seconds for each in answers]
    print(
        f"{name}: {len(answers)} answers, median {1000 * median(seconds):.0f} ms, "
        f"p95 {1000 * _p95(answers):.0f} ms, max {1000 * max(seconds):.0f} ms"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--size", choices=NETWORK_NAMES, default="city")
    parser.add_argument("--hours", type=float, default=4, help="that are rehearsed")
    parser.add_argument("--data", type=Path, help="copy this data folder instead")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

"""Rehearses service days for the demonstration in the background, and waits for their end."""

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from rich.console import Console

from scripts.demo_progress import waiting
from scripts.local_airflow import BIN
from scripts.stack import Program, Stack
from transit_etl.paths import rehearsal_journal

NAME = "rehearsal"
_START_SECONDS = 60


class RehearsalFailedError(Exception):
    """The rehearsal failed; the message ends with its output."""


@dataclass(frozen=True, slots=True)
class Days:
    """The service dates that are rehearsed, for how many hours from the first on, and how.

    At `now`, on the morning after the last, is polled live.
    """

    first: date
    last: date
    now: datetime
    hours: float
    rate_per_minute: int

    def __str__(self) -> str:
        """Return the dates in words."""
        last = f"{self.last:%A %d %B %Y}"
        return f"{self.first:%A %d %B} to {last}" if self.first < self.last else last


def choose_days(address: str, *, is_small: bool, hours: float | None) -> Days:
    """Choose dates of the emulated network and the morning after them, busy like the last one if possible.

    Three dates of a small network, each stop of which is then polled as often as in a large one or oftener,
    take as long as one date of a large one at the whole allowance without a token.
    """
    n_days, rate_per_minute = (3, 20) if is_small else (1, 60)
    now = _busy_instant(address, None)
    earlier = now - timedelta(days=1)
    if _busy_instant(address, earlier).date() != earlier.date():
        earlier, now = now, now + timedelta(days=1)
    first = earlier.date() - timedelta(days=n_days - 1)
    return Days(first, earlier.date(), now, hours or 24 * n_days, rate_per_minute)


class Rehearsal:
    """A rehearsal in a process of its own; other programs may use its data folder meanwhile."""

    def __init__(self, stack: Stack, settings: Mapping[str, str], network: list[str], days: Days) -> None:
        self._stack, self._hours = stack, days.hours
        self._state = rehearsal_journal(Path(settings["TRANSIT_DATA_DIR"]))
        self._command = [
            str(BIN / "transit-etl"), "rehearse", "--start", days.first.isoformat(),
            "--hours", str(days.hours), "--rate", str(days.rate_per_minute), *network, "--json",
        ]  # fmt: skip
        # The longest window that is allowed: each new window spends time on reading what is known.
        environment = {**settings, "TRANSIT_WINDOW_SECONDS": "3600"}
        self._program: Program = stack.start(NAME, self._command, environment)
        self._wait_until_started()

    def wait(self, console: Console) -> str:
        """Show its progress until it has ended, and return a sentence about what it did."""
        with waiting(console, "rehearsing") as update:
            while self._program.processes():
                update(f"rehearsing: {self._share_done():.0%} of {self._hours:g} hours are done")
                time.sleep(0.5)
        return _sentence(self._report())

    def _wait_until_started(self) -> None:
        """Return once it has checked that the data folder is new; after that others may collect into it."""
        deadline = time.monotonic() + _START_SECONDS
        while not self._state.exists():
            if not self._program.processes() or time.monotonic() > deadline:
                raise RehearsalFailedError(f"the rehearsal does not start: {self._output()}")
            time.sleep(0.1)

    def _share_done(self) -> float:
        state = json.loads(self._state.read_text())
        elapsed = datetime.fromisoformat(state["done_until"]) - datetime.fromisoformat(state["start"])
        return elapsed / timedelta(hours=self._hours)

    def _report(self) -> dict[str, Any]:
        output = self._output()
        try:
            report: dict[str, Any] = json.loads(output[output.index("{") :])
        except ValueError:
            raise RehearsalFailedError(f"the rehearsal failed: {output}") from None
        if report["is_failure"]:
            raise RehearsalFailedError(f"the rehearsal failed: {output}")
        return report

    def _output(self) -> str:
        return self._stack.log(NAME).read_text(errors="replace").strip()


def _sentence(report: Mapping[str, Any]) -> str:
    n_requests, n_refused = sum(report["outcomes"].values()), report["outcomes"].get("rate_limited", 0)
    return (
        f"[green]✓[/] The rehearsal took {report['real_seconds']:.0f} s: {n_requests:,} requests, "
        f"{report['allowance_share']:.0%} of those allowed; {n_refused or 'none'} refused."
    )


def write_truth(settings: Mapping[str, str], network: list[str], days: Days, folder: Path) -> None:
    """Let the emulator write what really happened on the rehearsed service dates."""
    dates = ["--from", str(days.first), "--to", str(days.last)]
    _run_emulator("truth", *dates, "--out", str(folder), *network, settings=settings)


def write_stops(settings: Mapping[str, str], network: list[str], file: Path) -> None:
    """Let the emulator write names and places of the stops, as an operator publishes them."""
    _run_emulator("stops", "--out", str(file), *network, settings=settings)


def _run_emulator(*words: str, settings: Mapping[str, str]) -> None:
    subprocess.run(
        [BIN / "transit-etl", "emulator", *words],
        env=dict(settings),
        check=True,
        capture_output=True,
        text=True,
    )


def _busy_instant(address: str, now: datetime | None) -> datetime:
    """Return the busy instant that the emulator suggests at `now`."""
    headers = {} if now is None else {"X-Emulated-Now": now.isoformat()}
    about = httpx2.get(address, headers=headers, timeout=30).raise_for_status().json()
    return datetime.fromisoformat(about["suggested_now"])

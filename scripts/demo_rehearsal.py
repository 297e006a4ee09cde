"""Rehearses a service day for the demonstration in the background, and waits for its end."""

import json
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from rich.console import Console

from scripts.local_airflow import BIN
from scripts.stack import Program, Stack
from transit_etl.paths import rehearsal_journal

NAME = "rehearsal"
_START_SECONDS = 60


class RehearsalFailedError(Exception):
    """The rehearsal failed; the message ends with its output."""


@dataclass(frozen=True, slots=True)
class Days:
    """The service date that is rehearsed, and the later instant at which the upstream is polled live."""

    rehearsed: date
    now: datetime


def choose_days(address: str) -> Days:
    """Choose two consecutive days of the emulated network, both busy if there are such."""
    now = _busy_instant(address, None)
    earlier, later = now - timedelta(days=1), now + timedelta(days=1)
    if _busy_instant(address, earlier).date() == earlier.date():
        return Days(earlier.date(), now)
    return Days(now.date(), later)


class Rehearsal:
    """A rehearsal of one service date in a process of its own; other programs may use its data folder."""

    def __init__(
        self, stack: Stack, settings: Mapping[str, str], network: list[str], day: date, hours: float
    ) -> None:
        self._stack, self._hours = stack, hours
        self._state = rehearsal_journal(Path(settings["TRANSIT_DATA_DIR"]))
        self._command = [
            str(BIN / "transit-etl"), "rehearse", "--start", day.isoformat(), "--hours", str(hours),
            *network, "--json",
        ]  # fmt: skip
        # The longest window that is allowed: each new window spends time on reading what is known.
        environment = {**settings, "TRANSIT_WINDOW_SECONDS": "3600"}
        self._program: Program = stack.start(NAME, self._command, environment)
        self._wait_until_started()

    def wait(self, console: Console) -> dict[str, Any]:
        """Show its progress until it has ended, and return its report."""
        with console.status("rehearsing") as status:
            while self._program.processes():
                status.update(f"rehearsing: {self._share_done():.0%} of the day is in the lake")
                time.sleep(0.5)
        return self._report()

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


def write_truth(settings: Mapping[str, str], network: list[str], day: date, folder: Path) -> None:
    """Let the emulator write what really happened on a service date."""
    subprocess.run(
        [BIN / "transit-etl", "emulator", "truth", "--from", str(day), "--to", str(day),
         "--out", str(folder), *network],
        env=dict(settings),
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip


def _busy_instant(address: str, now: datetime | None) -> datetime:
    """Return the busy instant that the emulator suggests at `now`."""
    headers = {} if now is None else {"X-Emulated-Now": now.isoformat()}
    about = httpx.get(address, headers=headers, timeout=30).raise_for_status().json()
    return datetime.fromisoformat(about["suggested_now"])

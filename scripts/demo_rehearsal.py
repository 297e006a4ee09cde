"""Rehearses a whole service day for a demonstration, beside whatever else it does, and waits for its end."""

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
_PATIENCE_SECONDS = 60


class RehearsalFailedError(Exception):
    """The rehearsal failed; the message ends with what it said."""


@dataclass(frozen=True, slots=True)
class Days:
    """The service date that is rehearsed, and the later instant at which the upstream is polled live."""

    rehearsed: date
    now: datetime


def choose_days(address: str) -> Days:
    """Choose two days of the emulated network that follow each other, both busy if there are such."""
    now = _busy_instant(address, None)
    earlier, later = now - timedelta(days=1), now + timedelta(days=1)
    if _busy_instant(address, earlier).date() == earlier.date():
        return Days(earlier.date(), now)
    return Days(now.date(), later)


class Rehearsal:
    """A rehearsal of one service date in a process of its own, into a data folder that others use too."""

    def __init__(
        self, stack: Stack, settings: Mapping[str, str], world: list[str], day: date, hours: float
    ) -> None:
        self._stack, self._hours = stack, hours
        self._state = rehearsal_journal(Path(settings["TRANSIT_DATA_DIR"]))
        self._command = [
            str(BIN / "transit-etl"), "rehearse", "--start", day.isoformat(), "--hours", str(hours),
            *world, "--json",
        ]  # fmt: skip
        # An hour is the longest window: a new one takes time to learn what the last one knew.
        environment = {**settings, "TRANSIT_WINDOW_SECONDS": "3600"}
        self._program: Program = stack.start(NAME, self._command, environment)
        self._wait_until_it_owns_the_folder()

    def wait(self, console: Console) -> dict[str, Any]:
        """Show how far it is until it has ended, and return its report."""
        with console.status("rehearsing") as status:
            while self._program.processes():
                status.update(f"rehearsing: {self._share_done():.0%} of the day is in the lake")
                time.sleep(0.5)
        return self._report()

    def _wait_until_it_owns_the_folder(self) -> None:
        """Return once it has made sure that the folder is new: from then on others may collect there."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._state.exists():
            if not self._program.processes() or time.monotonic() > deadline:
                raise RehearsalFailedError(f"the rehearsal does not begin: {self._said()}")
            time.sleep(0.1)

    def _share_done(self) -> float:
        state = json.loads(self._state.read_text())
        elapsed = datetime.fromisoformat(state["done_until"]) - datetime.fromisoformat(state["start"])
        return elapsed / timedelta(hours=self._hours)

    def _report(self) -> dict[str, Any]:
        said = self._said()
        try:
            report: dict[str, Any] = json.loads(said[said.index("{") :])
        except ValueError:
            raise RehearsalFailedError(f"the rehearsal failed: {said}") from None
        if report["is_failure"]:
            raise RehearsalFailedError(f"the rehearsal failed: {said}")
        return report

    def _said(self) -> str:
        return self._stack.log(NAME).read_text(errors="replace").strip()


def write_truth(settings: Mapping[str, str], world: list[str], day: date, folder: Path) -> None:
    """Let the emulator write down what truly happened on a service date."""
    subprocess.run(
        [BIN / "transit-etl", "emulator", "truth", "--from", str(day), "--to", str(day),
         "--out", str(folder), *world],
        env=dict(settings),
        check=True,
        capture_output=True,
        text=True,
    )  # fmt: skip


def _busy_instant(address: str, now: datetime | None) -> datetime:
    """Return the busy instant that the emulator suggests when it is `now`."""
    headers = {} if now is None else {"X-Emulated-Now": now.isoformat()}
    about = httpx.get(address, headers=headers, timeout=30).raise_for_status().json()
    return datetime.fromisoformat(about["suggested_now"])

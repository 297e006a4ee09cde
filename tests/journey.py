"""One run of the whole pipeline, from an upstream to figures, which all end-to-end tests share."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest

from transit_emulator.process import emulator_process

PASSAGES_SECONDS = 90
CLI = [sys.executable, "-m", "transit_etl.cli"]


@dataclass(frozen=True)
class Journey:
    """An installation after one run of every step: its folder, settings, and the upstream's first page."""

    folder: Path
    settings: dict[str, str]
    about: dict[str, Any]

    @property
    def data(self) -> Path:
        """The data folder."""
        return self.folder / "data"

    @property
    def day(self) -> date:
        """The service date that was polled."""
        return datetime.fromisoformat(self.about["suggested_now"]).date()

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Start a command and return at once."""
        return subprocess.Popen(
            [*CLI, *words],
            env=environment(self.settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words: str) -> Any:  # noqa: ANN401 - any JSON
        """Run a command and return the JSON it prints."""
        return self.finish(self.start(*words, "--json"))

    def finish(self, process: subprocess.Popen[str]) -> Any:  # noqa: ANN401 - any JSON
        """Wait for a command and return the JSON it prints."""
        output, errors = process.communicate(timeout=240)
        assert process.returncode == 0, output + errors
        return json.loads(output)

    def sql(self, query: str) -> list[dict[str, Any]]:
        """Query the published warehouse."""
        rows: list[dict[str, Any]] = self.run("sql", query)
        return rows

    def answers(self) -> list[dict[str, Any]]:
        """Return the upstream's log of its answers under /api/; its other pages are left out."""
        log = [json.loads(line) for line in (self.folder / "answers.jsonl").read_text().splitlines()]
        return [answer for answer in log if answer["path"].startswith("/api/")]


def environment(settings: dict[str, str]) -> dict[str, str]:
    """Return this process's environment with these settings and no others."""
    return {**os.environ, **settings}


@pytest.fixture(scope="session")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """Serve an emulator; yield the folder of its log and its port."""
    folder = tmp_path_factory.mktemp("journey")
    with emulator_process("--log", str(folder / "answers.jsonl")) as server:
        yield folder, server.port


@pytest.fixture(scope="session")
def journey(upstream: tuple[Path, int]) -> Journey:
    """Collect everything, stage, build and publish once."""
    folder, port = upstream
    about = httpx2.get(f"http://127.0.0.1:{port}/", timeout=10).json()
    now = datetime.fromisoformat(about["suggested_now"])
    settings = {
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_TOKEN": "demo-token",
        "TRANSIT_DATA_DIR": str(folder / "data"),
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
        "TRANSIT_STATUS_INTERVAL_SECONDS": "15",
        "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
    }
    journey = Journey(folder, settings, about)
    for dataset in ("lines", "stops"):
        journey.run("collect", dataset)
        journey.run("stage")
    polling = [
        journey.start("collect", name, "--for", f"{PASSAGES_SECONDS}s", "--json")
        for name in ("passages", "status")
    ]
    for dataset in ("timetables", "news"):
        journey.run("collect", dataset)
    for process in polling:
        journey.finish(process)
    for step in ("stage", "build", "publish"):
        journey.run(step)
    return journey

"""One journey from an upstream to figures, by the command line, that every end-to-end test looks at."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from transit_emulator.process import emulator_process

PASSAGES_SECONDS = 60
CLI = [sys.executable, "-m", "transit_etl.cli"]


@dataclass(frozen=True)
class Journey:
    """An installation whose way was gone once: its folder, its settings, and what its upstream says."""

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

    def run(self, *words: str) -> Any:  # noqa: ANN401 - whatever the command prints
        """Run a command to its end and return the JSON it prints."""
        return self.finish(self.start(*words, "--json"))

    def finish(self, process: subprocess.Popen[str]) -> Any:  # noqa: ANN401 - the same
        """Wait for a command and return the JSON it prints."""
        said, complained = process.communicate(timeout=240)
        assert process.returncode == 0, said + complained
        return json.loads(said)

    def sql(self, question: str) -> list[dict[str, Any]]:
        """Ask the published warehouse."""
        rows: list[dict[str, Any]] = self.run("sql", question)
        return rows

    def answers(self) -> list[dict[str, Any]]:
        """Return what the upstream says it answered of its interface; what it says of itself is left out."""
        said = [json.loads(line) for line in (self.folder / "answers.jsonl").read_text().splitlines()]
        return [answer for answer in said if answer["path"].startswith("/api/")]


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
    """Go the whole way once: collect everything, stage, build, publish."""
    folder, port = upstream
    about = httpx.get(f"http://127.0.0.1:{port}/", timeout=10).json()
    now = datetime.fromisoformat(about["suggested_now"])
    settings = {
        "TRANSIT_BASE_URL": f"http://127.0.0.1:{port}/api/v1/",
        "TRANSIT_TOKEN": "demo-token",
        "TRANSIT_DATA_DIR": str(folder / "data"),
        "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
        "TRANSIT_STATUS_INTERVAL_SECONDS": "15",
        "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
    }
    way = Journey(folder, settings, about)
    for dataset in ("lines", "stops"):
        way.run("collect", dataset)
        way.run("stage")
    polling = [
        way.start("collect", name, "--for", f"{PASSAGES_SECONDS}s", "--json")
        for name in ("passages", "status")
    ]
    for dataset in ("timetables", "news"):
        way.run("collect", dataset)
    for process in polling:
        way.finish(process)
    for step in ("stage", "build", "publish"):
        way.run(step)
    return way

"""`transit-etl rehearse`: in process or over HTTP, interrupted or killed, refused or not."""

import hashlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from tests.hostile import json_reply, serving
from transit_emulator.app import create_app
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.process import emulator_process
from transit_emulator.world import build_world
from transit_etl.cli.rehearse import start_instant
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

CLI = [sys.executable, "-m", "transit_etl.cli"]
START = datetime(2026, 11, 18, 7, tzinfo=UTC)
MINUTES = 6
REHEARSE = ["rehearse", "--start", START.isoformat(), "--hours", str(MINUTES / 60)]
IN_PROCESS = [*REHEARSE, "--size", "small"]


def _settings(data_dir: Path) -> Settings:
    return Settings(data_dir=data_dir, window_seconds=120)


def _environment(data_dir: Path) -> dict[str, str]:
    settings = {"TRANSIT_DATA_DIR": str(data_dir), "TRANSIT_WINDOW_SECONDS": "120"}
    return {**os.environ, **settings, "COLUMNS": "200"}


def _run(data_dir: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CLI, *words],
        env=_environment(data_dir),
        check=False,
        capture_output=True,
        text=True,
        timeout=250,
    )


def _lake(data_dir: Path) -> dict[str, str]:
    files = sorted((data_dir / "lake").rglob("*.parquet"))
    return {str(path.relative_to(data_dir)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the lake of a rehearsal that staged in its own process."""
    data_dir = tmp_path_factory.mktemp("uninterrupted")
    app = create_app(build_world("small"))
    rehearse(_settings(data_dir), START, MINUTES / 60, transport=httpx2.ASGITransport(app))
    return _lake(data_dir)


@pytest.mark.long
def test_a_rehearsal_that_stages_in_a_second_process_leaves_the_same_lake(
    uninterrupted: dict[str, str], tmp_path: Path
) -> None:
    done = _run(tmp_path, *IN_PROCESS, "--json")
    report = json.loads(done.stdout)

    assert done.returncode == 0
    assert MINUTES * 60 == report["virtual_seconds"]
    assert 0 == report["n_refused"]
    assert {"asking", "planning", "staging", "landing", "budget"} <= set(report["seconds_spent"])
    assert uninterrupted == _lake(tmp_path)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Undo what a shell does to its jobs in the background: they, and their children, ignore an interrupt."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("number", "code"),
    [
        pytest.param(signal.SIGINT, 130, id="interrupted", marks=pytest.mark.long),
        pytest.param(signal.SIGKILL, -9, id="killed", marks=pytest.mark.long),
    ],
)
def test_the_same_command_resumes_an_interrupted_rehearsal(
    uninterrupted: dict[str, str], tmp_path: Path, number: signal.Signals, code: int
) -> None:
    command = subprocess.Popen(
        [*CLI, *IN_PROCESS], env=_environment(tmp_path), stderr=subprocess.PIPE, text=True
    )
    _wait_for(lambda: any(tmp_path.glob("raw/*/endpoint=passages/*/*.jsonl.zst")))
    command.send_signal(number)
    _, said = command.communicate(timeout=200)
    again = _run(tmp_path, *IN_PROCESS)

    assert code == command.returncode
    assert "Traceback" not in said
    assert ("the same command continues from there" in said) == (number is signal.SIGINT)
    assert again.returncode == 0
    assert re.search(r"^took +(\d+ min )?\d+ s: [\d,]+ times real time *$", again.stdout, re.MULTILINE)
    assert uninterrupted == _lake(tmp_path)


@pytest.mark.long
def test_a_refusal_without_an_injected_fault_fails_the_rehearsal(tmp_path: Path) -> None:
    with emulator_process() as server:
        done = _run(tmp_path, *REHEARSE, "--base-url", server.base_url, "--rate", "75")

    assert done.returncode == 1
    assert "no injected fault was the reason" in done.stderr
    assert 1 == done.stderr.strip().count("\n") + 1


@pytest.mark.long
def test_over_http_the_lake_is_the_same_as_in_process(uninterrupted: dict[str, str], tmp_path: Path) -> None:
    with emulator_process() as server:
        done = _run(tmp_path, *REHEARSE, "--base-url", server.base_url)

    assert done.returncode == 0
    assert uninterrupted == _lake(tmp_path)


@pytest.mark.long
def test_a_refusal_by_an_injected_fault_does_not_fail_it(tmp_path: Path) -> None:
    fault = Fault(kind=FaultKind.RATE_LIMITED, share=0.05, retry_after_seconds=2)
    app = create_app(build_world("small"), faults=[fault])
    report = rehearse(_settings(tmp_path), START, MINUTES / 60, transport=httpx2.ASGITransport(app))

    assert report.n_rate_limited > 0
    assert report.n_refused == 0
    assert not report.is_failure


def test_a_server_that_ignores_the_emulated_time_is_refused(tmp_path: Path) -> None:
    with serving(lambda _: json_reply({"timestamp": "2020-01-01T00:00:00.000Z", "passaggi": []})) as base_url:
        done = _run(tmp_path, *REHEARSE, "--base-url", base_url)

    assert done.returncode == 1
    assert "only a server that honours X-Emulated-Now can be rehearsed against" in done.stderr
    assert not (tmp_path / "raw").exists()


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-11-18", "2026-11-18T03:00:00+00:00"),
        ("2026-03-29", "2026-03-29T02:00:00+00:00"),
        ("2026-11-18T08:30", "2026-11-18T07:30:00+00:00"),
        ("2026-11-18T08:30Z", "2026-11-18T08:30:00+00:00"),
    ],
    ids=["a date begins at the cutoff", "also in summer", "local time", "an instant"],
)
def test_a_start_is_an_instant_of_the_operators_day(text: str, instant: str) -> None:
    assert datetime.fromisoformat(instant) == start_instant(text, Settings())


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--start", "tomorrow"], "is not an instant"),
        (["--start", "2026-11-18", "--only", "news,stato"], "'stato' is not one of status, news, network"),
        (["--start", "2026-11-18", "--seed", "2"], "need --size, --gtfs or --actuals"),
        (["--start", "2026-11-18", "--size", "small", "--base-url", "http://x.test/api/v1/"], "--base-url"),
        (["--start", "2026-11-18", "--base-url", "http://x.test/"], "TRANSIT_BASE_URL: must end in /api/v1/"),
    ],
)
def test_contradictory_options_are_refused(tmp_path: Path, words: list[str], complaint: str) -> None:
    done = _run(tmp_path, "rehearse", *words)

    assert done.returncode != 0
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr


def _wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 200
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)

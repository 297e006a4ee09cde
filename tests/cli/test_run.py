"""The command that does the whole round."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from tests.cli.conftest import RunCli
from tests.hostile import http, serving
from transit_emulator.process import emulator_process
from transit_etl import project
from transit_etl.cli.run import next_steps
from transit_etl.paths import published_database, raw_files


@pytest.fixture(scope="module")
def upstream() -> Iterator[dict[str, str]]:
    """Run an emulator; return the settings that use it at a busy hour."""
    with emulator_process() as server:
        about = httpx2.get(f"http://127.0.0.1:{server.port}/", timeout=10).json()
        shift = datetime.fromisoformat(about["suggested_now"]) - datetime.now(UTC)
        yield {
            "TRANSIT_BASE_URL": server.base_url,
            "TRANSIT_TOKEN": "demo-token",
            "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
            "TRANSIT_CLOCK_SHIFT_SECONDS": str(shift.total_seconds()),
        }


def test_a_round_that_gets_no_answer_fails_at_its_first_step_and_says_what_to_do(cli: RunCli) -> None:
    with serving(lambda _: http(b"{}", "401 Unauthorized")) as base_url:
        done = cli("run", "--for", "5s", TRANSIT_BASE_URL=base_url)

    assert 1 == done.returncode
    assert (
        f"transit-etl: no usable answer for lines: 1 client_error; {base_url} refuses a request without a "
        "token: HTTP 401; look at TRANSIT_TOKEN"
    ) == done.stderr.splitlines()[-1]


def test_only_who_has_a_checkout_is_told_of_make_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "make up" in next_steps(is_stopped=False)
    monkeypatch.setattr(project, "INSTALLED_IN", tmp_path)
    assert "make" not in next_steps(is_stopped=False)


@pytest.mark.long
def test_an_interrupt_ends_the_polling_and_what_was_received_is_published(
    upstream: dict[str, str], tmp_path: Path
) -> None:
    data = tmp_path / "data"
    process = subprocess.Popen(
        [sys.executable, "-m", "transit_etl.cli", "run", "--for", "2h", "--json"],
        env={**os.environ, **upstream, "TRANSIT_DATA_DIR": str(data)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not list(data.glob("raw/operator=*/endpoint=passages/date=*/*.part")) and process.poll() is None:
        time.sleep(0.1)
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=240)
    done = json.loads(out)

    assert 130 == process.returncode
    assert done["is_stopped"]
    assert done["rows"]["passages"]
    assert done["found"]["n_due"]
    assert published_database(data).exists()
    assert {"passages", "status"} <= {path.parents[1].name.partition("=")[2] for path in raw_files(data)}

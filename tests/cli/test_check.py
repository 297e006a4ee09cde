"""The commands that look after an installation."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.cli.conftest import RunCli
from tests.hostile import http, serving
from tests.operations.check.receivers import web_server

REFUSING = http(b"{}", "401 Unauthorized")


def test_each_problem_is_one_line_and_any_is_a_failure(cli: RunCli) -> None:
    with serving(lambda _: REFUSING) as base_url:
        done = cli("check", TRANSIT_BASE_URL=base_url)

    assert 1 == done.returncode
    assert ["token", "empty"] == [line.partition(":")[0] for line in done.stdout.splitlines()]


def test_problems_are_json_for_a_program(cli: RunCli) -> None:
    with serving(lambda _: REFUSING) as base_url:
        done = cli("check", "--json", TRANSIT_BASE_URL=base_url)
    found = json.loads(done.stdout)

    assert not found["is_healthy"]
    assert ["token", "empty"] == [problem["name"] for problem in found["problems"]]


def test_people_are_told_only_when_it_is_asked_to(cli: RunCli) -> None:
    with web_server() as (url, titles), serving(lambda _: REFUSING) as base_url:
        cli("check", TRANSIT_BASE_URL=base_url, TRANSIT_ALERT_URLS=url)
        before = list(titles)
        cli("check", "--alert", TRANSIT_BASE_URL=base_url, TRANSIT_ALERT_URLS=url)

    assert ([], ["token", "empty"]) == (before, titles)


def test_the_status_is_shown_anew_until_an_interrupt(tmp_path: Path) -> None:
    log = tmp_path / "log"
    # a shell starts what runs in the background with interrupts ignored, and children inherit that
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with log.open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "transit_etl.cli", "status", "--watch"],
            env={**os.environ, "TRANSIT_DATA_DIR": str(tmp_path / "data")},
            stdout=out,
        )
    while log.read_text().count("Allowance") < 2 and process.poll() is None:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)

    assert process.wait(timeout=30)
    assert 2 <= log.read_text().count("Allowance")

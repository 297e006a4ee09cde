import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.collect.helpers import rows, write_network
from tests.hostile import Reply, json_reply, never_answer, serving

PROGRAM = """
import sys
from pathlib import Path
from transit_etl.collect import collect
from transit_etl.settings import load_settings
print("ready", flush=True)
report = collect(load_settings(), "passages")
print(report.is_stopped, report.planned, report.outcomes, flush=True)
"""
ANSWER = {"codice_fermata": "x", "timestamp": "2026-03-04T07:00:00.000Z", "passaggi": []}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_window_properly(tmp_path: Path, number: signal.Signals) -> None:
    write_network(tmp_path, {"015-00": ["0001", "0002", "0003"]})

    def choose(path: str) -> Reply:
        return never_answer if path.endswith("0002") else json_reply(ANSWER)

    with serving(choose) as base_url:
        environment = {
            **os.environ,
            "TRANSIT_BASE_URL": base_url,
            "TRANSIT_DATA_DIR": str(tmp_path),
            "TRANSIT_RATE_PER_MINUTE": "600",
        }
        command = [sys.executable, "-c", PROGRAM]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as collector:
            wait_for_rows(tmp_path)
            collector.send_signal(number)
            output, _ = collector.communicate(timeout=20)

    landed = rows(tmp_path)
    assert output.splitlines()[-1].startswith(f"True {len(landed)} ")
    assert {"ok", "interrupted"} == {row["outcome"] for row in landed}
    assert [] == list(tmp_path.rglob("*.part"))


def wait_for_rows(folder: Path) -> None:
    for _ in range(400):
        planned = list(folder.rglob("*.planned.part"))
        if planned and planned[0].read_bytes().count(b"\n") >= 5:
            return
        time.sleep(0.05)
    pytest.fail("the collector never began")

"""The documented steps for an Airflow that exists, done literally: the DAGs run in it."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.local_airflow import PROGRAMS
from scripts.stack import Stack
from tests.collect.postgresql import running_postgresql
from tests.deploy.airflow import LONGEST_SECONDS, PASSWORDS, Airflow, replacements
from tests.deploy.units import UNITS, variables
from tests.documents.sessions import NOT_COPIED, ROOT, blocks
from transit_emulator.process import emulator_process, free_port
from transit_etl.paths import lake_files

DOCUMENT = ROOT / "docs" / "deployment.md"
SECTION = "An Airflow that exists"
DAGS = ("network", "status")
# What an Airflow that exists does not have before the documented steps are done.
_ADDED = ("DAGS_FOLDER", "PLUGINS_FOLDER", "DAGS_ARE_PAUSED_AT_CREATION", "PARALLELISM")


def documented() -> list[str]:
    """Return the blocks of the section: commands, and at last the settings."""
    text = DOCUMENT.read_text(encoding="utf-8")
    first = text.count("\n", 0, text.index(f"## {SECTION}")) + 1
    last = text.count("\n", 0, text.index("\n## ", text.index(f"## {SECTION}"))) + 1
    return [block.text for block in blocks(DOCUMENT) if first < block.line < last]


@pytest.fixture
def airflow(tmp_path: Path) -> Iterator[Airflow]:
    """Yield an Airflow of its own environment, to which the documented steps were done."""
    port = free_port()
    home = tmp_path / "airflow"
    home.mkdir()
    (home / "passwords.json").write_text(PASSWORDS)
    shutil.copytree(ROOT, tmp_path / "transit-etl", ignore=NOT_COPIED)
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "environment"], check=True)
    *commands, settings = documented()
    stack = Stack(tmp_path / "logs")
    with running_postgresql() as database, emulator_process() as emulator:
        placed = {
            "/opt/airflow": str(tmp_path / "environment"),
            "/opt/transit-etl": str(tmp_path / "transit-etl"),
            "/var/lib/transit-etl": str(tmp_path),
            **replacements(database, port, emulator.base_url),
        }

        def here(text: str) -> str:
            for shown, instead in placed.items():
                text = text.replace(shown, instead)
            return text

        before = variables(here((UNITS / "airflow.env").read_text(encoding="utf-8")))
        environment = {
            **_inherited(),
            **{name: value for name, value in before.items() if not name.endswith(_ADDED)},
            **variables(here(settings)),
            "TRANSIT_WINDOW_SECONDS": "60",
        }
        packages, pool = commands
        program = tmp_path / "environment/bin/airflow"
        _run(here(packages), environment)
        _run(f"{program} db migrate", environment)  # as its administrator did, or does after an upgrade
        _run(here(pool), environment)
        airflow = Airflow(
            f"http://localhost:{port}",
            list(PROGRAMS),
            lambda name: stack.start(name, [program, *PROGRAMS[name]], environment),
            stack.log,
        )
        try:
            airflow.keep_running()
            yield airflow
        finally:
            stack.stop()


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(3 * LONGEST_SECONDS)
def test_the_dags_run_in_an_airflow_that_exists(airflow: Airflow, tmp_path: Path) -> None:
    airflow.wait_until(airflow.is_healthy)
    airflow.wait_until(lambda: all(airflow.unpause(dag) for dag in ("network", "status", "staging")))
    airflow.wait_until(lambda: all("success" in airflow.states(dag) for dag in (*DAGS, "staging")))

    for dataset in ("lines", "line_stops"):
        assert list(lake_files(tmp_path / "data", dataset, "example"))
    assert list(lake_files(tmp_path / "data", "requests", "example"))


def _inherited() -> dict[str, str]:
    """Return this environment without what belongs to this project, its Airflow or its Python."""
    ours = ("TRANSIT_", "AIRFLOW_", "VIRTUAL_ENV", "PYTHONPATH")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}


def _run(commands: str, environment: dict[str, str]) -> None:
    """Run commands, one a line, but the one that clones: the checkout is there."""
    for command in commands.splitlines():
        if not command.startswith("git clone "):
            done = subprocess.run(
                shlex.split(command), env=environment, check=False, capture_output=True, text=True
            )
            assert 0 == done.returncode, f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}"

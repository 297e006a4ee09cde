"""An Airflow of the tests' own, set up once, and DAG runs in it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
DAGS = CHECKOUT / "dags"
RunDag = Callable[..., dict[str, Any]]


@pytest.fixture(scope="session")
def airflow_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a fresh Airflow whose metadata database is ready."""
    command = [sys.executable, "-m", "scripts.local_airflow", str(tmp_path_factory.mktemp("airflow"))]
    done = subprocess.run(command, cwd=CHECKOUT, check=True, capture_output=True, text=True)
    return {**os.environ, **json.loads(done.stdout)}


@pytest.fixture
def run_dag(airflow_environment: dict[str, str], tmp_path: Path) -> RunDag:
    """Return a function that runs a DAG once, under some settings, and tells how it and its tasks ended."""

    def run(dag: str, *options: str, **settings: str) -> dict[str, Any]:
        results = tmp_path / "results.jsonl"
        command = [sys.executable, "-m", "scripts.run_dags", dag, "--results", str(results), *options]
        env = {**airflow_environment, "TRANSIT_DATA_DIR": str(tmp_path / "data"), **settings}
        done = subprocess.run(
            command, cwd=CHECKOUT, env=env, check=False, capture_output=True, text=True, timeout=240
        )
        assert results.exists(), done.stdout + done.stderr
        return {**json.loads(results.read_text().splitlines()[-1]), "log": done.stdout + done.stderr}

    return run

"""Runs dbt in a copy of a finished build."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from transit_etl import paths
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.dbt_manifest import PROJECT


def run_dbt(built: Settings, folder: Path, *arguments: str) -> Path:
    """Run a dbt command for one service date in a copy of the build; return dbt's target folder."""
    database = shutil.copy(paths.build_database(built.data_dir), folder / "build.duckdb")
    command = [
        sys.executable, "-m", "dbt.cli.main", "--quiet", "--log-level-file", "none",
        *arguments, "--target", "build",
        "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT),
        "--target-path", str(folder / "target"), "--log-path", str(folder / "logs"),
    ]  # fmt: skip
    environment = {
        **os.environ,
        "BUILD_DATA": str(built.data_dir),
        "BUILD_DATABASE": str(database),
        "BUILD_SCRATCH": str(folder / "scratch"),
        "BUILD_FROM": "2026-11-10",
        "BUILD_TO": "2026-11-10",
    }
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stdout + done.stderr
    return folder / "target"

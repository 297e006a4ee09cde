"""The unit tests of the models, which dbt runs in a copy of a finished build."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from transit_etl import paths
from transit_etl.settings import Settings
from transit_etl.warehouse.dbt import PROJECT

pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all


def test_every_unit_test_of_the_models_passes(built: Settings, tmp_path: Path) -> None:
    database = shutil.copy(paths.build_database(built.data_dir), tmp_path / "build.duckdb")
    command = [
        sys.executable, "-m", "dbt.cli.main", "--quiet", "--log-level-file", "none",
        "test", "--select", "test_type:unit", "--target", "build",
        "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT),
        "--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs"),
    ]  # fmt: skip
    environment = {
        **os.environ,
        "BUILD_DATA": str(built.data_dir),
        "BUILD_DATABASE": str(database),
        "BUILD_SCRATCH": str(tmp_path / "scratch"),
    }
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    results = json.loads((tmp_path / "target" / "run_results.json").read_text(encoding="utf-8"))["results"]

    written = [
        name
        for path in (PROJECT / "models").rglob("*tests.yml")
        for name in re.findall(r"^  - name: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert 0 == done.returncode, done.stdout
    assert sorted(written) == sorted(result["unique_id"].split(".")[-1] for result in results)
    assert {"pass"} == {result["status"] for result in results}

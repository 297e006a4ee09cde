import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Done = subprocess.CompletedProcess[str]
RunCli = Callable[..., Done]


@pytest.fixture
def cli(tmp_path: Path) -> RunCli:
    """Return a function that runs the command line with a data folder of the test's own."""

    def run(*words: str, **settings: str) -> Done:
        return subprocess.run(
            [sys.executable, "-m", "transit_etl.cli", *words],
            env={**os.environ, "TRANSIT_DATA_DIR": str(tmp_path / "data"), "COLUMNS": "200", **settings},
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
        )

    return run

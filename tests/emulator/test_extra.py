"""Without the extra `emulator` its commands say what to install, and all others work."""

import subprocess
import sys
from pathlib import Path

import pytest

IN_PROCESS = ["rehearse", "--start", "2026-03-02", "--hours", "1", "--size", "small"]
TRUTH = ["emulator", "truth", "--from", "2026-03-02", "--to", "2026-03-02", "--out", "truth"]


def run_without(package: str, folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line in a folder, in a process that cannot import a package."""
    program = f"import sys; sys.modules[{package!r}] = None; from transit_etl.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    ("words", "package"), [(["emulator"], "uvicorn"), (TRUTH, "numpy"), (IN_PROCESS, "fastapi")]
)
def test_a_command_of_the_emulator_says_what_to_install(
    words: list[str], package: str, tmp_path: Path
) -> None:
    done = run_without(package, tmp_path, *words)

    expected = f"transit-etl: this needs the package {package}: run pip install 'transit-etl[emulator]'"
    assert expected == done.stderr.strip()
    assert done.returncode == 1
    assert list(tmp_path.iterdir()) == []


def test_another_command_works_without_them(tmp_path: Path) -> None:
    done = run_without("fastapi", tmp_path, "stage", "--json")

    assert done.stderr == ""
    assert done.returncode == 0

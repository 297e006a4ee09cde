"""Each extra installs what its commands need, from the wheel, in an environment of its own."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.documents.sessions import ROOT
from tests.wheels import wheel
from transit_etl.settings import Settings

__all__ = ["wheel"]
pytestmark = pytest.mark.long
MOST_PACKAGES, MOST_MEGABYTES = 30, 300
DAY = ["--from", "2026-11-10", "--to", "2026-11-10", "--allow-incomplete"]
TABLE = ["export", "marts.punctuality_daily", *DAY, "--output", "out", "--format"]
FEED = ["export", *DAY, "--output", "out", "--format"]
Done = subprocess.CompletedProcess[str]
Run = Callable[..., Done]


@pytest.fixture
def installed(wheel: Path, tmp_path: Path, built: Settings) -> Callable[[str], Run]:
    """Return a function that installs the wheel with extras, and returns what runs its command."""

    def _install(extras: str) -> Run:
        lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
        versions = re.findall(r"^[a-z0-9._\[\]-]+==\S+", lock, re.MULTILINE)
        (tmp_path / "versions.txt").write_text("\n".join(versions))
        uv, python = [sys.executable, "-m", "uv"], tmp_path / "env" / "bin" / "python"
        for command in (
            [*uv, "venv", "--quiet", "--python", sys.executable, str(tmp_path / "env")],
            [*uv, "pip", "install", "--quiet", "--python", str(python), f"{wheel}{extras}",
             "--constraints", str(tmp_path / "versions.txt")],
        ):  # fmt: skip
            subprocess.run(command, check=True)
        shutil.copytree(built.data_dir / "warehouse", tmp_path / "data" / "warehouse")
        return lambda *words: subprocess.run(
            [python.with_name("transit-etl"), *words],
            cwd=tmp_path,
            env={**os.environ, "TRANSIT_DATA_DIR": str(tmp_path / "data"), "TRANSIT_OPERATOR": "testville"},
            check=False,
            capture_output=True,
            text=True,
        )

    return _install


def test_without_an_extra_the_published_file_is_read_and_exported(
    installed: Callable[[str], Run], tmp_path: Path
) -> None:
    run = installed("")
    site = next((tmp_path / "env" / "lib").glob("python*/site-packages"))
    size = sum(path.stat().st_size for path in site.rglob("*") if path.is_file())

    assert MOST_PACKAGES >= len([*site.glob("*.dist-info")])
    assert MOST_MEGABYTES * 1_000_000 >= size
    for words in (
        ["tables"], ["describe", "core.trips"], ["sql", "select count(*) from core.trips"], ["config"],
        *([*TABLE, form] for form in ("csv", "parquet", "jsonl", "xlsx")),
    ):  # fmt: skip
        done = run(*words)
        assert (0, "") == (done.returncode, done.stderr), words


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("collect", ["status"]), ("collect", ["stage"]), ("collect", ["build"]), ("report", ["report"]),
        ("export", [*FEED, "tides"]),
    ],
)  # fmt: skip
def test_without_an_extra_its_commands_say_which_one_to_install(
    installed: Callable[[str], Run], extra: str, words: list[str]
) -> None:
    done = installed("")(*words)

    assert 1 == done.returncode
    assert re.fullmatch(
        rf"transit-etl: this needs the package \w+: run pip install 'transit-etl\[{extra}\]'\n", done.stderr
    )


@pytest.mark.parametrize(
    ("extras", "words"),
    [
        ("[export]", [*FEED, "tides"]),
        ("[report]", ["report", *DAY[:4]]),
        ("[collect]", ["stage"]),
        ("[collect]", ["check", "--json"]),
        (
            "[collect,build,emulator]",
            ["rehearse", "--start", "2026-03-02", "--hours", "0.1", "--size", "small"],
        ),
    ],
)
def test_an_extra_has_what_its_commands_need(
    installed: Callable[[str], Run], extras: str, words: list[str]
) -> None:
    done = installed(extras)(*words)

    assert "transit-etl[" not in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == (1 if words[0] == "check" else 0), done.stderr

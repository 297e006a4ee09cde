"""The checks before a commit run with the programs of `.venv`, without a network."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.sessions import ROOT, Session

CONFIGURATION = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


@pytest.fixture
def session(tmp_path: Path) -> Session:
    settings = {
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "HOME": str(tmp_path),
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "https_proxy": "http://127.0.0.1:1",  # whatever is asked for elsewhere fails
    }
    session = Session(tmp_path, settings)
    session.run("git init -q && git add --all")
    return session


@pytest.mark.timeout(300)
def test_the_checks_before_a_commit_pass(session: Session) -> None:
    printed = session.run("pre-commit install && pre-commit run --all-files")

    assert (session.folder / ".git" / "hooks" / "pre-commit").exists()
    assert (session.folder / ".git" / "hooks" / "pre-push").exists()
    assert printed.count("Passed") == 3


def test_every_check_is_one_of_make_lint() -> None:
    programs = set(re.findall(r"entry: \.venv/bin/(\S+(?: (?:check|format --check|lint))?)", CONFIGURATION))
    linted = subprocess.run(
        ["/usr/bin/make", "--dry-run", "--old-file", ".venv/.set-up", "lint"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert len(programs) == 5
    assert {program for program in programs if f".venv/bin/{program}" not in linted} == set()

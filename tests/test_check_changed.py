"""What `make check` looks at: the files that changed, and the tests named after them."""

import subprocess
from pathlib import Path

import pytest

from scripts import check_changed

GIT = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]


def test_a_module_has_the_tests_named_after_it_and_a_changed_test_runs_itself() -> None:
    files = [Path("transit_etl/cli/recipe.py"), Path("tests/cli/test_trip.py"), Path("scripts/demo.py")]

    assert ["tests/cli/test_recipe.py", "tests/cli/test_trip.py"] == [
        path.as_posix() for path in check_changed.tests_named_after(files)
    ]


def test_changed_and_new_files_count_and_removed_ones_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(check_changed, "ROOT", tmp_path)
    for name in ("same.py", "changed.py", "removed.py"):
        (tmp_path / name).write_text("")
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "first"]):
        subprocess.run([*GIT, *command], cwd=tmp_path, check=True)
    (tmp_path / "changed.py").write_text("x = 1\n")
    (tmp_path / "removed.py").unlink()
    (tmp_path / "new.sql").write_text("select 1\n")

    assert ["changed.py", "new.sql"] == [path.as_posix() for path in check_changed.changed()]


@pytest.mark.parametrize(("codes", "code"), [((0, 0), 0), ((0, 1), 1), ((2, 0), 2)])
def test_it_fails_if_sql_or_a_test_does(
    monkeypatch: pytest.MonkeyPatch, codes: tuple[int, int], code: int
) -> None:
    remaining = dict(zip(("sqlfluff", "pytest"), codes, strict=True))
    files = [Path("sql/models/facts/trips.sql"), Path("transit_etl/clock.py")]
    monkeypatch.setattr(check_changed, "changed", lambda: files)

    def _run(command: list[str], **_options: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, remaining.pop(command[2]))

    monkeypatch.setattr(subprocess, "run", _run)

    assert code == check_changed.main()
    assert {} == remaining

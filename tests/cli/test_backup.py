"""The commands that copy data to another disk, and back."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import RunCli
from tests.collect.upstream import Upstream, collect_from, settings_at
from transit_etl.paths import raw_files
from transit_etl.stage import stage


def test_a_lost_file_comes_back_and_the_report_says_what_is_next(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    collect_from(Upstream(), settings_at(tmp_path / "data"), "lines")
    saved = cli("backup", str(tmp_path / "backup"), "--verify")
    next(raw_files(tmp_path / "data")).unlink()
    restored = cli("restore", str(tmp_path / "backup"), "--json")
    found = json.loads(restored.stdout)

    assert (0, 0) == (saved.returncode, restored.returncode)
    assert 1 == found["n_restored"] == len(list(raw_files(tmp_path / "data")))
    assert ["transit-etl stage", "transit-etl build", "transit-etl publish"] == found["to_do"][-3:]


def test_a_damaged_file_is_a_failure(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    collect_from(Upstream(), settings_at(tmp_path / "data"), "lines")
    next(raw_files(tmp_path / "data")).write_bytes(b"x")
    done = cli("backup", str(tmp_path / "backup"))

    assert 1 == done.returncode
    assert "breaks off" in done.stdout or "damaged" in done.stdout


@pytest.mark.long
def test_raw_answers_are_removed_only_if_the_backup_has_them(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    collect_from(Upstream(), settings_at(tmp_path / "data"), "lines")
    stage(settings_at(tmp_path / "data"))

    def pruned() -> int:
        return cli("prune", "--raw-before", "2026-03-05", "--backup", str(tmp_path / "backup")).returncode

    without = pruned(), len(list(raw_files(tmp_path / "data")))
    cli("backup", str(tmp_path / "backup"))
    with_backup = pruned(), len(list(raw_files(tmp_path / "data")))

    assert ((1, 1), (0, 0)) == (without, with_backup)


def test_a_folder_that_is_missing_is_one_line(cli: RunCli, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    done = cli("backup", str(tmp_path / "none"))

    assert 1 == done.returncode
    assert done.stderr.count("\n") == 1
    assert "mount its disk, or make it once" in done.stderr

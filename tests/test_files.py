"""Durable writing: a file or folder is there whole, the old one or the new, whatever happens meanwhile."""

import os
from pathlib import Path

import pytest

from transit_base import files


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def folder_with(path: Path, name: str) -> Path:
    path.mkdir()
    (path / name).touch()
    return path


def test_a_file_appears_whole_in_a_folder_that_is_made(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "file"
    with files.open_atomic(path) as file:
        file.write(b"half")
        assert not path.exists()
        file.write(b" and half")

    assert b"half and half" == path.read_bytes()
    assert {"file"} == names(path.parent)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.write_text(path, "old")

    def fail_halfway() -> None:
        with files.open_atomic(path) as file:
            file.write(b"new")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail_halfway()

    assert "old" == path.read_text()
    assert {"file"} == names(tmp_path)


def test_what_a_killed_process_left_is_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "file"
    (tmp_path / "file.new").write_text("a long text that was cut")
    files.write_text(path, "new")

    assert "new" == path.read_text()
    assert {"file"} == names(tmp_path)


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "state" / "lock"
    with files.locked(path), pytest.raises(BlockingIOError), files.locked(path, waits=False):
        pass
    with files.locked(path, waits=False):
        pass


def test_a_folder_takes_the_place_of_another_or_of_none(tmp_path: Path) -> None:
    place = tmp_path / "day=1" / "dataset"
    files.make_folder(place.parent)
    for name in ("first", "second"):
        files.replace_folder(folder_with(files.replacement_of(place), name), place)

        assert {name} == names(place)
        assert {"dataset"} == names(place.parent)


def test_a_folder_is_removed_once_or_twice(tmp_path: Path) -> None:
    place = folder_with(tmp_path / "folder", "file")
    files.remove_folder(place)
    files.remove_folder(place)

    assert set() == names(tmp_path)


def test_folders_change_places_at_once_or_in_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (folder_with(tmp_path / name, name) for name in "ab")
    files.exchange_folders(first, second)
    assert {"b"} == names(first)

    def missing(*_names: Path) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(files, "_exchange_at_once", missing)
    files.exchange_folders(first, second)
    assert {"a"} == names(first)
    assert {"a", "b"} == names(tmp_path)


def test_an_exchange_in_steps_that_was_killed_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = folder_with(tmp_path / "place", "old")
    built = folder_with(files.replacement_of(place), "new")

    def killed(_source: Path, _target: Path) -> None:
        raise KeyboardInterrupt

    def in_steps(*_names: Path) -> None:
        place.rename(tmp_path / ".place.aside")
        killed(built, place)

    monkeypatch.setattr(files, "_exchange_at_once", in_steps)
    with pytest.raises(KeyboardInterrupt):
        files.replace_folder(built, place)
    files.repair_folder(place)

    assert {"old"} == names(place)
    assert {"place"} == names(tmp_path)


@pytest.mark.parametrize(
    ("umask", "file_mode", "folder_mode"),
    [(0o000, 0o640, 0o750), (0o022, 0o640, 0o750), (0o027, 0o640, 0o750), (0o077, 0o600, 0o700)],
)
def test_what_is_written_is_for_owner_and_group_and_never_for_more_than_the_umask_allows(
    tmp_path: Path, umask: int, file_mode: int, folder_mode: int
) -> None:
    before = os.umask(umask)
    try:
        files.write_text(tmp_path / "new" / "folder" / "file", "text")
        with files.locked(tmp_path / "new" / "lock"):
            pass
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "new").rglob("*")}

    assert {"folder": folder_mode, "file": file_mode, "lock": file_mode} == modes
    assert folder_mode == (tmp_path / "new").stat().st_mode & 0o777

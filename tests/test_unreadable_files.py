"""What cannot be read is named, and every command that walks files goes on with the rest, and fails."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.collect.upstream import START, Upstream, collect_from, settings_at
from tests.operations.check.installation import healthy
from tests.operations.status.installations import minutes, put_requests
from transit_etl import paths
from transit_etl.cli.commands import app
from transit_etl.lake_schemas import QUARANTINE
from transit_etl.operations.backup import back_up, restore
from transit_etl.operations.backup.place import backup_checksums
from transit_etl.operations.check import check
from transit_etl.operations.pruning import prune
from transit_etl.operations.status import read_status
from transit_etl.operations.verification import verify
from transit_etl.settings import Settings
from transit_etl.stage import stage
from transit_etl.stage.compaction import compact
from transit_etl.stage.lake import write_table
from transit_etl.stage.runner import restage

DAY = START.date()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return a data folder with answers of three endpoints, none of them staged."""
    settings = settings_at(tmp_path / "data")
    for dataset in ("lines", "news", "status"):
        collect_from(Upstream(), settings, dataset, seconds=20)
    (tmp_path / "backup").mkdir()
    return settings


@pytest.fixture
def target(settings: Settings) -> Path:
    return settings.data_dir.parent / "backup"


def _dangling(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


@contextmanager
def _unlistable(folder: Path) -> Iterator[None]:
    """Refuse to list a folder, as the system does without permission, which root always has."""
    real: dict[str, Any] = {name: getattr(os, name) for name in ("listdir", "scandir")}

    def refusing(name: str) -> Callable[..., Any]:
        def listing(path: Any = ".") -> Any:  # noqa: ANN401 - as `os` has it
            if not isinstance(path, int) and Path(path) == folder:
                raise PermissionError(13, "Permission denied", str(folder))
            return real[name](path)

        return listing

    with pytest.MonkeyPatch.context() as patched:
        for name in real:
            patched.setattr(os, name, refusing(name))
        yield


FAULTS = ["link", "folder"]
STEPS: dict[str, Callable[[Settings, Path], list[str]]] = {
    "backup": lambda settings, target: back_up(settings, target).damaged,
    "verify": lambda settings, _: verify(settings).damaged,
    "stage": lambda settings, _: stage(settings, builds_pages=False).errors,
    "reprocess": lambda settings, _: restage(settings, DAY, DAY).errors,
}
DONE: dict[str, Callable[[Settings, Path], int]] = {
    "backup": lambda _, target: len(list(paths.raw_files(target))),
    "verify": lambda settings, _: paths.checksum_list(settings.data_dir).read_text().count('"raw/'),
    "stage": lambda settings, _: len(paths.lake_files(settings.data_dir, "requests", settings.operator)),
    "reprocess": lambda settings, _: len(paths.lake_files(settings.data_dir, "requests", settings.operator)),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("step", STEPS)
def test_a_step_names_the_first_file_that_it_cannot_read_and_does_the_rest(
    settings: Settings, target: Path, step: str, fault: str
) -> None:
    first, *others = sorted(paths.raw_files(settings.data_dir))
    if fault == "link":
        _dangling(first)
        named = STEPS[step](settings, target)
        place = first
    else:
        others = [path for path in others if path.parent != first.parent]
        place = first.parent
        with _unlistable(place):
            named = STEPS[step](settings, target)

    assert 1 == len([text for text in named if str(place) in text])
    assert len(others) == DONE[step](settings, target) > 0


def test_the_command_fails_and_names_the_file(
    settings: Settings, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRANSIT_DATA_DIR", str(settings.data_dir))
    first = min(paths.raw_files(settings.data_dir))
    _dangling(first)
    done = CliRunner().invoke(app, ["backup", str(target)])

    assert 1 == done.exit_code
    assert f"{first} is a link that leads nowhere" in done.output.replace("\n", "")


def test_state_that_cannot_be_read_keeps_no_answer_from_the_backup(settings: Settings, target: Path) -> None:
    path = paths.alerts_file(settings.data_dir)
    path.parent.mkdir(exist_ok=True)
    path.write_text("{}")
    with pytest.MonkeyPatch.context() as patched:
        real = Path.open

        def refusing(self: Path, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as Path has it
            if self == path:
                raise PermissionError(13, "Permission denied", str(path))
            return real(self, *args, **kwargs)

        patched.setattr(Path, "open", refusing)
        report = back_up(settings, target)

    assert [f"{path}: Permission denied"] == report.damaged
    assert len(list(paths.raw_files(settings.data_dir))) == report.n_new
    assert paths.identity_file(target).exists()


def test_a_fault_of_the_disk_of_the_backup_ends_it(settings: Settings, target: Path) -> None:
    (target / "raw").write_text("a file where a folder belongs")

    with pytest.raises(OSError, match=str(target)):
        back_up(settings, target)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_restore_goes_on(settings: Settings, target: Path, fault: str) -> None:
    back_up(settings, target)
    first, *others = sorted(paths.raw_files(target))
    new = settings_at(target.parent / "new")
    if fault == "link":
        _dangling(first)
        report = restore(new, target, target.parent)
    else:
        backup_checksums(target).write_text("")
        others = [path for path in others if path.parent != first.parent]
        with _unlistable(first.parent):
            report = restore(new, target, target.parent)

    assert report.damaged
    assert any(str(first.parent) in text for text in report.damaged)
    assert len(others) == len(list(paths.raw_files(new.data_dir)))


@pytest.mark.parametrize("is_emptied", [True, False])
def test_a_restore_from_a_list_that_was_cut_brings_every_whole_file_back_and_says_so(
    settings: Settings, target: Path, *, is_emptied: bool
) -> None:
    back_up(settings, target)
    lines = backup_checksums(target).read_text().splitlines(keepends=True)
    backup_checksums(target).write_text("" if is_emptied else "".join(lines[: len(lines) // 2]))
    new = settings_at(target.parent / "new")
    report = restore(new, target, target.parent)

    assert "lines are damaged or missing" in report.damaged[0]
    assert len(list(paths.raw_files(target))) == len(list(paths.raw_files(new.data_dir)))


def test_a_backup_whose_list_was_cut_keeps_what_is_nowhere_else(settings: Settings, target: Path) -> None:
    back_up(settings, target)
    for path in paths.raw_files(settings.data_dir):
        path.unlink()
    backup_checksums(target).write_text("")
    report = back_up(settings, target)

    assert [] == report.damaged
    assert any("is damaged or was cut" in text for text in report.warnings)
    assert len(list(paths.raw_files(target))) == backup_checksums(target).read_text().count('"raw/')


def test_old_quarantine_that_cannot_be_removed_keeps_the_rest_from_nothing(settings: Settings) -> None:
    folders = []
    for dataset in ("lines", "news"):
        path = paths.quarantine_file(settings.data_dir, settings.operator, dataset, DAY, "w")
        write_table(path, QUARANTINE.empty_table())
        folders.append(path.parent)
    with _unlistable(folders[0]):
        report = prune(settings)

    assert 1 == report.n_quarantine_files
    assert [f"{folders[0]}: Permission denied"] == report.errors


def test_an_operator_whose_files_cannot_be_listed_keeps_no_other_from_being_merged(tmp_path: Path) -> None:
    first, second = (settings_at(tmp_path / "data", operator=name) for name in ("bari", "genova"))
    both = first.knowing({"bari": first, "genova": second})
    for settings in (first, second):
        for at in (0, 60):
            collect_from(Upstream(), both.of(settings.operator), "news", start=START + minutes(at))
    stage(both, builds_pages=False)
    folder = paths.lake_file(tmp_path / "data", "bari", "requests", DAY, "w").parent
    with _unlistable(folder), pytest.raises(PermissionError):
        compact(both, DAY)

    assert paths.lake_file(tmp_path / "data", "genova", "requests", DAY, paths.DAY_STEM).exists()


@pytest.mark.long
@pytest.mark.parametrize("fault", [*FAULTS, "older link", "lake folder", "state"])
def test_check_and_status_go_on_and_name_it(tmp_path: Path, fault: str) -> None:
    settings = healthy(Settings(data_dir=tmp_path / "data"))
    put_requests(settings, "passages", [minutes(0.1)])
    path = min(paths.raw_files(settings.data_dir), default=None) or min(
        paths.open_raw_files(settings.data_dir)
    )
    before = date.fromisoformat(paths.partition_of(path)["date"]) - timedelta(days=1)
    places = {
        "link": path,
        "older link": path.parent.with_name(f"date={before}") / path.name,
        "folder": path.parent,
        "lake folder": paths.lake_files(settings.data_dir, "passages")[0].parent,
        "state": paths.alerts_file(settings.data_dir).parent,
    }
    place = places[fault]
    strict = settings.model_copy(update={"check_clock_seconds": -1.0})
    if fault.endswith("link"):
        place.parent.mkdir(exist_ok=True)
        place.touch()
        _dangling(place)
        found, status = check(strict), read_status(strict)
    else:
        with _unlistable(place):
            found, status = check(strict), read_status(strict)

    if fault != "state":  # nothing of the state is listed but misplaced folders
        assert str(place) in next(each.text for each in found if each.name == "unreadable")
        assert any(str(place) in text for text in status.unreadable)
    assert "clock" in {each.name for each in found}

"""What cannot be made again is copied once, with its checksum, and comes back."""

import json
import os
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_etl.checksums import entry_of, read_checksums, write_checksums
from transit_etl.identity import accept
from transit_etl.operations.backup import back_up, last_backup, release_old_raw, release_raw, restore
from transit_etl.operations.backup.place import SETTINGS, SETTINGS_FILE, BackupError, backup_checksums
from transit_etl.operations.verification import verify
from transit_etl.paths import (
    alerts_file,
    checksum_list,
    checksum_lock,
    open_raw_file,
    raw_files,
    restore_lock,
)
from transit_etl.service_day import DAY
from transit_etl.settings import Settings, load_with_sources
from transit_etl.stage import stage


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("collected")
    for dataset in ("lines", "news", "status"):
        collect_from(Upstream(), settings_at(folder), dataset, seconds=20)
    return folder


@pytest.fixture
def settings(collected: Path, tmp_path: Path) -> Settings:
    shutil.copytree(collected, tmp_path / "data")
    (tmp_path / "backup").mkdir()
    return settings_at(tmp_path / "data")


@pytest.fixture
def target(settings: Settings) -> Path:
    return settings.data_dir.parent / "backup"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in raw_files(folder)}


def some_raw_file(folder: Path) -> Path:
    return min(raw_files(folder))


def flip(path: Path) -> None:
    """Change one bit as a failing disk would: neither size nor time tells."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_everything_raw_comes_back_identical_and_verified(settings: Settings, target: Path) -> None:
    whole = contents(settings.data_dir)
    saved = back_up(settings, target)
    shutil.rmtree(settings.data_dir)
    restored = restore(settings, target, target.parent)

    assert len(whole) == saved.n_new == restored.n_restored - 1  # the file that says what the folder is
    assert whole == contents(settings.data_dir)
    assert (0, False) == (verify(settings).n_new, verify(settings).is_failure)


def test_a_second_backup_copies_only_what_is_new(settings: Settings, target: Path) -> None:
    back_up(settings, target)
    again = back_up(settings, target)
    collect_from(Upstream(), settings, "news", start=START + DAY)
    later = back_up(settings, target)

    assert (0, 0) == (again.n_new, again.n_bytes_copied)
    assert 0 < later.n_new < later.n_files
    assert contents(settings.data_dir) == contents(target)


def test_a_window_that_is_being_written_is_left_to_the_next_backup(settings: Settings, target: Path) -> None:
    path = some_raw_file(settings.data_dir)
    finished = path.read_bytes()
    path.rename(open_raw_file(path))
    first = back_up(settings, target)
    open_raw_file(path).rename(path)
    second = back_up(settings, target)

    assert (1, 0, 1) == (first.n_open, second.n_open, second.n_new)
    assert finished == (target / path.relative_to(settings.data_dir)).read_bytes()


@pytest.mark.parametrize("is_known", [True, False], ids=["verified before", "never verified"])
def test_a_damaged_file_is_never_copied(settings: Settings, target: Path, *, is_known: bool) -> None:
    if is_known:
        verify(settings)
    path = some_raw_file(settings.data_dir)
    path.write_bytes(path.read_bytes()[:-3])
    report = back_up(settings, target)

    assert [str(path)] == [sentence.split(": ")[0] for sentence in report.damaged]
    assert not (target / path.relative_to(settings.data_dir)).exists()
    assert last_backup(settings.data_dir) is None


def test_a_raw_file_that_changed_comes_back_and_is_kept_aside(settings: Settings, target: Path) -> None:
    whole = contents(settings.data_dir)
    back_up(settings, target)
    path = some_raw_file(settings.data_dir)
    flip(path)
    report = restore(settings, target, target.parent)

    assert [str(path.relative_to(settings.data_dir))] == report.replaced
    assert any(step.startswith("transit-etl reprocess --from 2026-03-04") for step in report.to_do)
    assert whole == contents(settings.data_dir)
    assert path.with_name(f"{path.name}.damaged").exists()


def test_a_file_of_the_backup_that_changed_is_found_and_copied_again(
    settings: Settings, target: Path
) -> None:
    back_up(settings, target)
    path = some_raw_file(target)
    flip(path)
    unseen, seen = back_up(settings, target), back_up(settings, target, verifies=True)

    assert ([], [str(path.relative_to(target))]) == (unseen.repaired, seen.repaired)
    assert contents(settings.data_dir) == contents(target)


def test_a_damaged_copy_replaces_nothing(settings: Settings, target: Path) -> None:
    back_up(settings, target)
    flip(some_raw_file(target))
    shutil.rmtree(settings.data_dir)
    report = restore(settings, target, target.parent)

    assert 1 == len(report.damaged)
    assert len(list(raw_files(target))) == report.n_restored == len(contents(settings.data_dir)) + 1


def test_restoring_twice_changes_nothing(settings: Settings, target: Path) -> None:
    back_up(settings, target)
    report = restore(settings, target, target.parent)

    assert (0, len(contents(target)) + 1) == (report.n_restored, report.n_kept)
    assert [] == report.to_do


def test_what_people_were_told_is_restored_but_never_replaced(settings: Settings, target: Path) -> None:
    alerts_file(settings.data_dir).parent.mkdir(exist_ok=True)
    alerts_file(settings.data_dir).write_text("{}")
    back_up(settings, target)
    alerts_file(settings.data_dir).write_text('{"newer": {}}')
    restore(settings, target, target.parent)
    kept = alerts_file(settings.data_dir).read_text()
    alerts_file(settings.data_dir).unlink()
    restore(settings, target, target.parent)

    assert ('{"newer": {}}', "{}") == (kept, alerts_file(settings.data_dir).read_text())


@pytest.mark.parametrize(
    "name",
    [
        "raw/../../outside", "../outside", "/{target}/outside", "{target}/outside", "outside", "raw/outside",
        "raw/operator=a/endpoint=b/date=c/outside", "raw/operator=a/endpoint=b/outside.jsonl.zst",
        "raw/operator=a/../../operator=a/endpoint=b/date=c/outside.jsonl.zst", "state/outside.json",
        "raw/operator=a/endpoint=b/date=c/d/outside.jsonl.zst", "warehouse/warehouse.duckdb",
        "raw/operator=a/endpoint=b/date=c/out\0side.jsonl.zst", "state/../folder.json",
    ],
)  # fmt: skip
def test_a_path_that_leads_elsewhere_is_not_restored(settings: Settings, target: Path, name: str) -> None:
    (target / "outside").write_text("x")
    name = name.format(target=target)
    if name.isprintable():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text("x")
    entry = {**asdict(entry_of(target, target / "outside")), "path": name}
    backup_checksums(target).write_text(json.dumps(entry) + "\n")
    before = sorted(target.parent.rglob("*"))
    report = restore(settings, target, target.parent)

    assert (0, 0, []) == (report.n_files, report.n_restored, report.damaged)
    assert before == sorted(
        set(target.parent.rglob("*"))
        - {each(settings.data_dir) for each in (restore_lock, checksum_list, checksum_lock)}
    )


@pytest.mark.parametrize("name", ["../outside", "{target}/outside", "stops_file/../../outside", "outside"])
def test_settings_that_name_a_file_elsewhere_write_none_there(
    settings: Settings, target: Path, tmp_path: Path, name: str
) -> None:
    back_up(Settings(data_dir=settings.data_dir, publisher="before"), target)
    project, forged = tmp_path / "new" / "project", target / SETTINGS_FILE
    project.mkdir(parents=True)
    (target / "outside").write_text("x")
    (target / SETTINGS / "outside").write_text("x")
    forged.write_text(f"stops_file = {json.dumps(name.format(target=target))}\n")
    entries, _ = read_checksums(backup_checksums(target))
    write_checksums(backup_checksums(target), entries | {SETTINGS_FILE: entry_of(target, forged)})
    report = restore(settings_at(tmp_path / "new" / "data"), target, project)

    assert [str(project / "transit-etl.toml")] == report.settings_written
    assert ["transit-etl.toml"] == [path.name for path in project.rglob("*")]
    assert not (project.parent / "outside").exists()


def test_released_files_are_no_loss_and_come_back(settings: Settings, target: Path) -> None:
    whole = contents(settings.data_dir)
    stage(settings)
    verify(settings)
    back_up(settings, target)
    n_files, _ = release_raw(settings, target, START.date() + DAY)
    is_failure, left = verify(settings).is_failure, contents(settings.data_dir)
    again = back_up(settings, target, verifies=True)
    restore(settings, target, target.parent)

    assert (len(whole), False, {}) == (n_files, is_failure, left)
    assert ([], [], len(whole)) == (again.damaged, again.repaired, len(list(raw_files(target))))
    assert whole == contents(settings.data_dir)


def test_raw_answers_older_than_set_are_released_by_rule(settings: Settings, target: Path) -> None:
    whole = contents(settings.data_dir)
    stage(settings)
    back_up(settings, target)
    age_days = (settings.clock.now().date() - START.date()).days
    kept = settings.model_copy(update={"raw_keep_days": age_days, "backup_dir": target})
    old = kept.model_copy(update={"raw_keep_days": age_days - 1})

    assert [(0, 0), (0, 0)] == [release_old_raw(each) for each in (settings, kept)]
    assert whole == contents(settings.data_dir)
    assert len(whole) == release_old_raw(old)[0]
    assert {} == contents(settings.data_dir)


def test_raw_answers_are_not_released_by_rule_without_a_backup(settings: Settings) -> None:
    with pytest.raises(BackupError, match="TRANSIT_BACKUP_DIR"):
        release_old_raw(settings.model_copy(update={"raw_keep_days": 1}))


@pytest.mark.parametrize("is_staged", [True, False])
def test_nothing_is_released_that_is_not_whole_in_the_backup_or_not_staged(
    settings: Settings, target: Path, *, is_staged: bool
) -> None:
    whole = contents(settings.data_dir)
    back_up(settings, target)
    if is_staged:
        stage(settings)
        flip(some_raw_file(target))

    with pytest.raises(BackupError, match="not whole" if is_staged else "not staged"):
        release_raw(settings, target, START.date() + DAY)
    assert whole == contents(settings.data_dir)


def test_settings_come_back_without_secrets(
    settings: Settings, target: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stops, judged = tmp_path / "our stops.csv", tmp_path / "judged" / "our stops.csv"
    judged.parent.mkdir()
    stops.write_text("stop_code,name\n")
    judged.write_text("stop_scope,stop_code\n")
    given = settings.model_dump(include={"data_dir"}) | {
        "operator": "example", "publisher": 'Città "1"', "service_day_cutoff": "03:30",
        "stops_file": stops, "judged_stops_file": judged, "token": "very-secret", "policy": "rotation",
    }  # fmt: skip
    project = tmp_path / "new project"
    project.mkdir()
    accept(Settings(**given))
    back_up(Settings(**given), target)
    report = restore(settings_at(tmp_path / "new"), target, project)
    monkeypatch.setenv("TRANSIT_PROJECT_DIR", str(project))
    loaded = load_with_sources().settings

    assert not [path for path in target.rglob("*") if path.is_file() and b"very-secret" in path.read_bytes()]
    assert "set TRANSIT_TOKEN again: a backup holds no secret" == report.to_do[0]
    assert ["transit-etl.toml", "stops_file/our stops.csv", "judged_stops_file/our stops.csv"] == [
        str(Path(path).relative_to(project)) for path in report.settings_written
    ]
    for name in ("operator", "publisher", "policy", "service_day_cutoff"):
        assert getattr(Settings(**given), name) == getattr(loaded, name)
    assert stops.read_bytes() == (project / str(loaded.stops_file)).read_bytes()
    assert judged.read_bytes() == (project / str(loaded.judged_stops_file)).read_bytes()


def test_damaged_settings_are_not_restored(settings: Settings, target: Path, tmp_path: Path) -> None:
    back_up(Settings(data_dir=settings.data_dir, publisher="before"), target)
    (target / SETTINGS_FILE).write_text("operator = [")
    report = restore(settings, target, tmp_path)

    assert [f"{target / SETTINGS_FILE}: damaged or missing"] == report.damaged
    assert not (tmp_path / "transit-etl.toml").exists()


def test_settings_that_differ_are_told_and_stay(settings: Settings, target: Path, tmp_path: Path) -> None:
    back_up(Settings(data_dir=settings.data_dir, publisher="before"), target)
    now = Settings(data_dir=settings.data_dir, publisher="now")
    report = restore(now, target, tmp_path)

    assert ["TRANSIT_PUBLISHER was 'before' and is 'now'"] == report.to_do
    assert [] == report.settings_written


def test_a_folder_that_cannot_be_right_is_refused(settings: Settings, target: Path) -> None:
    with pytest.raises(BackupError, match="mount its disk"):
        back_up(settings, target / "missing")
    with pytest.raises(BackupError, match="inside the data folder"):
        back_up(settings, settings.data_dir / "raw")
    with pytest.raises(BackupError, match="is no backup"):
        restore(settings, target, target)
    with pytest.raises(BackupError, match="nothing to back up"):
        back_up(settings_at(target / "nowhere"), target)


def test_a_backup_that_vanished_is_not_begun_anew(settings: Settings, target: Path) -> None:
    back_up(settings, target)
    shutil.rmtree(target)
    target.mkdir()

    with pytest.raises(BackupError, match="is its disk mounted"):
        back_up(settings, target)

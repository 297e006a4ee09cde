"""Puts the files of a backup back into a data folder, each compared with its checksum."""

from dataclasses import dataclass, field
from pathlib import Path

from transit_base.files import in_words, locked, make_folder, rename
from transit_etl.checksums import Entry, change_checksums, is_whole, read_checksums
from transit_etl.identity import claim, identity_of, kept_identity
from transit_etl.operations.backup.place import (
    SETTINGS,
    BackupError,
    DifferentFileError,
    backup_checksums,
    copy,
    is_restorable,
    names_any_below,
    unlisted_raw,
)
from transit_etl.operations.backup.saved_settings import restore_settings
from transit_etl.paths import raw_dir, restore_lock
from transit_etl.settings import FolderSettings


@dataclass(slots=True)
class RestoreReport:
    """What was put back. `n_kept` files were there already, with the right checksum.

    `replaced` names raw files that had changed; what they were is kept as `….damaged`. `damaged` names files
    of the backup that are not those of its checksum list: they were not restored. `settings_written` names
    settings files that were made, `to_do` says what only an operator can do.
    """

    n_files: int = 0
    n_restored: int = 0
    n_kept: int = 0
    n_bytes_copied: int = 0
    replaced: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    settings_written: list[str] = field(default_factory=list)
    to_do: list[str] = field(default_factory=list)


def restore(settings: FolderSettings, source: Path, project: Path) -> RestoreReport:
    """Copy every file of a backup that the data folder has not, or has damaged; delete nothing.

    Raw files that its checksum list lacks are restored too if they are whole. State that is there stays. The
    settings are written if `project` has none. Lake and warehouse are made from the raw files afterwards.
    Running it again changes nothing. What cannot be restored is named. BackupError without a backup.
    """
    if not backup_checksums(source).exists():
        raise BackupError(f"{source} is no backup: it has no {backup_checksums(source).name}")
    report, root = RestoreReport(), settings.data_dir
    claim(settings)
    _require_same_folder(settings, source)
    make_folder(root)
    with locked(restore_lock(root)):
        entries, n_damaged = read_checksums(backup_checksums(source))
        if n_damaged:
            report.damaged.append(f"{backup_checksums(source)}: {n_damaged} lines are damaged or missing")
        entries |= {entry.path: entry for entry in unlisted_raw(source, entries, report.damaged)}
        restored = {
            name: entry
            for name, entry in entries.items()
            if is_restorable(name, root) and _put_back(root, source, entry, report)
        }
        if _has_whole_settings(source, entries, report):
            report.settings_written, report.to_do = restore_settings(settings, source, project)
    report.n_files = len(restored)
    _add_checksums(root, restored)
    report.to_do += _next_steps(report)
    return report


def _require_same_folder(settings: FolderSettings, source: Path) -> None:
    """Raise BackupError if the data folder holds answers already, and the backup is that of another one."""
    saved, here = kept_identity(source), identity_of(settings)
    if saved is None or here is None:
        return
    if not saved.operators.items() <= here.operators.items():
        raise BackupError(
            f"{source} is the backup of a data folder of {saved}, and {settings.data_dir.absolute()} is "
            f"one of {here}: restore it into a folder of its own (TRANSIT_DATA_DIR)"
        )


def _put_back(root: Path, source: Path, entry: Entry, report: RestoreReport) -> bool:
    """Restore one file unless it is there; tell whether it is there now."""
    path = root / entry.path
    is_raw = path.is_relative_to(raw_dir(root))
    if path.exists() and (not is_raw or is_whole(path, entry)):
        report.n_kept += 1
        return True
    try:
        if path.exists():
            _set_aside(path)
            report.replaced.append(entry.path)
        copy(source, root, entry.path, entry.sha256)
    except DifferentFileError:
        report.damaged.append(f"{source / entry.path}: damaged")
        return False
    except OSError as error:
        if names_any_below(error, root):
            raise
        report.damaged.append(in_words(error))
        return False
    report.n_restored += 1
    report.n_bytes_copied += entry.size_bytes
    return True


def _has_whole_settings(source: Path, entries: dict[str, Entry], report: RestoreReport) -> bool:
    """Compare the settings of a backup with their checksums."""
    saved = [entry for name, entry in entries.items() if Path(name).parent == Path(SETTINGS)]
    lost = [each.path for each in saved if not is_whole(source / each.path, each)]
    report.damaged += [f"{source / name}: damaged or missing" for name in lost]
    return not lost


def _set_aside(path: Path) -> None:
    rename(path, path.with_name(f"{path.name}.damaged"))


def _add_checksums(root: Path, restored: dict[str, Entry]) -> None:
    """Let `transit-etl verify` compare the raw files with the checksums that they had in the backup."""
    raw = {name: entry for name, entry in restored.items() if (root / name).is_relative_to(raw_dir(root))}
    change_checksums(root, lambda now: now | raw)


def _next_steps(report: RestoreReport) -> list[str]:
    days = {
        day for name in report.replaced for part in Path(name).parts if (day := part.partition("date=")[2])
    }
    steps = [f"transit-etl reprocess --from {day} --to {day}" for day in sorted(days)]
    if report.n_restored > len(report.replaced):
        steps.append("transit-etl stage")
    return [*steps, "transit-etl build", "transit-etl publish"] if report.n_restored else []

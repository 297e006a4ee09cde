"""Backs up a data folder: copies what is new, and never what is damaged."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from transit_base.files import in_words, locked, misplaced_text, named_in_errors, passed_over_texts
from transit_base.listing import passing_over
from transit_etl.checksums import (
    CHANGED,
    Entry,
    entry_of,
    is_whole,
    read_checksums,
    write_checksums,
)
from transit_etl.identity import claim
from transit_etl.operations.backup.place import (
    BackupError,
    DifferentFileError,
    backup_checksums,
    backup_lock,
    copy,
    kept_state,
    names_any_below,
    unlisted_raw,
)
from transit_etl.operations.backup.record import LastBackup, last_backup, remember
from transit_etl.operations.backup.saved_settings import save_settings
from transit_etl.paths import backups_file, checksum_list, misplaced_raw, open_raw_files, raw_files
from transit_etl.settings import FolderSettings
from transit_etl.stage.raw import RawFileError, check_whole


@dataclass(slots=True)
class BackupReport:
    """What a backup holds, and what was copied into it now.

    `n_open` windows are being written: the next backup takes them. `repaired` names files of the backup that
    had changed or were missing, and were copied again; `damaged` what could not be backed up, and files of
    the backup that have changed and are nowhere else.
    """

    n_files: int = 0
    n_new: int = 0
    n_bytes_copied: int = 0
    n_open: int = 0
    repaired: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def back_up(settings: FolderSettings, target: Path, *, verifies: bool = False) -> BackupReport:
    """Copy every finished raw file that a backup has not, the settings, and some state; delete nothing.

    A raw file is copied if its checksum is the one that `transit-etl verify` saw first, or, if it saw none,
    if the file can be read to its end. Files that the backup has are compared by size; with `verifies` each
    is read and compared with its checksum. Collecting may go on meanwhile. Raises BackupError for a folder
    that cannot be right. What cannot be read is named, and the rest copied; a fault of the backup's disk ends
    it.
    """
    claim(settings)
    _check_place(settings, target)
    report, root = BackupReport(), settings.data_dir
    if target.stat().st_dev == root.stat().st_dev:
        report.warnings.append(f"{target} is on the same disk as the data folder: it would be lost with it")
    with locked(backup_lock(target)):
        known, n_damaged = read_checksums(backup_checksums(target))
        if n_damaged:
            report.warnings.append(f"the checksum list of {target} is damaged or was cut: it is made again")
        if n_damaged or verifies:
            known |= {entry.path: entry for entry in unlisted_raw(target, known, report.damaged)}
        kept = {name: entry for name, entry in known.items() if _is_sound(target, entry, reads=verifies)}
        lost = known.keys() - kept.keys()
        try:
            with passing_over() as unlisted:
                report.n_open = len(list(open_raw_files(root)))
                raw = sorted(raw_files(root))
            report.damaged += passed_over_texts(unlisted)
            _copy_raw(root, target, raw, kept, report)
            kept |= {entry.path: entry for entry in _small_files(settings, target, report)}
        finally:
            write_checksums(backup_checksums(target), kept)
    report.repaired = sorted(lost & kept.keys())
    report.damaged += [f"{target / name}: damaged, and nowhere else" for name in sorted(lost - kept.keys())]
    report.n_files = len(kept)
    misplaced = [path for path in kept_state(root) if path.is_dir()]
    report.damaged += map(misplaced_text, [*misplaced_raw(root), *misplaced])
    if not report.damaged:
        remember(root, LastBackup(str(target.absolute()), datetime.now(UTC), len(kept)))
    return report


def _check_place(settings: FolderSettings, target: Path) -> None:
    root = settings.data_dir.absolute()
    if not root.is_dir():
        raise BackupError(f"there is no data folder {root}: nothing to back up")
    if not target.is_dir():
        raise BackupError(f"there is no folder {target}: mount its disk, or make it once")
    if target.resolve().is_relative_to(root.resolve()):
        raise BackupError(f"{target} is inside the data folder: it would be lost with it")
    last = last_backup(root)
    is_known = last is not None and last.path == str(target.absolute())
    if last is not None and is_known and not backup_checksums(target).exists():
        raise BackupError(
            f"{target} held a backup of {last.n_files} files and holds none now: is its disk mounted? "
            f"To begin again there, delete {backups_file(root)}"
        )


def _is_sound(target: Path, entry: Entry, *, reads: bool) -> bool:
    """Tell whether the backup still has a file as its checksum list says."""
    path = target / entry.path
    if reads:
        return is_whole(path, entry)
    return path.is_file() and path.stat().st_size == entry.size_bytes


def _copy_raw(
    root: Path, target: Path, raw: Sequence[Path], kept: dict[str, Entry], report: BackupReport
) -> None:
    """Copy the raw files that are not kept yet, and add their entries."""
    checked, _ = read_checksums(checksum_list(root))
    for path in raw:
        name = str(path.relative_to(root))
        with _going_on(target, path, report):
            if name in kept:
                if path.stat().st_size != kept[name].size_bytes:
                    report.damaged.append(
                        f"{path}: it is not the file that was backed up: `transit-etl restore`"
                    )
                continue
            if name not in checked:
                check_whole(path)
            entry = copy(root, target, name, checked[name].sha256 if name in checked else None)
            kept[name] = entry
            report.n_new += 1
            report.n_bytes_copied += entry.size_bytes


def _small_files(settings: FolderSettings, target: Path, report: BackupReport) -> Iterator[Entry]:
    """Copy the settings and some state, which may change from one backup to the next."""
    root = settings.data_dir
    with _going_on(target, root, report):
        for name in save_settings(settings, target):
            yield entry_of(target, target / name)
    for path in kept_state(root):
        with _going_on(target, path, report):
            if path.is_file():
                yield copy(root, target, str(path.relative_to(root)))


@contextmanager
def _going_on(target: Path, path: Path, report: BackupReport) -> Iterator[None]:
    """Name a file that cannot be copied for a reason of its own, and go on; raise a fault of the backup."""
    try:
        with named_in_errors(path):
            yield
    except DifferentFileError:
        report.damaged.append(f"{path}: {CHANGED}")
    except RawFileError as error:
        report.damaged.append(str(error))
    except OSError as error:
        if names_any_below(error, target):
            raise
        report.damaged.append(in_words(error))

"""Removes raw files that a backup has whole: the only way in which raw answers leave a data folder."""

from datetime import date
from pathlib import Path

from transit_etl.checksums import is_whole, read_checksums, write_checksums
from transit_etl.identity import claim
from transit_etl.operations.backup.place import BackupError, backup_checksums
from transit_etl.paths import checksum_list, partition_of, raw_files
from transit_etl.service_day import DAY
from transit_etl.settings import Settings
from transit_etl.stage.lake import waiting_windows


def release_raw(settings: Settings, backup: Path, before: date) -> tuple[int, int]:
    """Remove the raw files of the UTC days before a date; return how many files and bytes those were.

    BackupError, before anything is removed, if one of them is not staged, or if its copy in the backup is
    missing or has another checksum: every copy is read. `transit-etl restore` brings them back.
    """
    claim(settings)
    root = settings.data_dir
    entries, _ = read_checksums(backup_checksums(backup))
    old = sorted(path for path in raw_files(root) if date.fromisoformat(partition_of(path)["date"]) < before)
    if any(window.day < before for window in waiting_windows(root)):
        raise BackupError(f"nothing removed: a window of before {before} is not staged: `transit-etl stage`")
    for path in old:
        name = str(path.relative_to(root))
        entry = entries.get(name)
        if entry is None or not (is_whole(path, entry) and is_whole(backup / name, entry)):
            raise BackupError(
                f"nothing removed: {name} is not whole in {backup}: `transit-etl backup {backup}`"
            )
    n_bytes = sum(path.stat().st_size for path in old)
    _forget(root, old)
    for path in old:
        path.unlink()
    return len(old), n_bytes


def release_old_raw(settings: Settings) -> tuple[int, int]:
    """Remove the raw files that are older than `raw_keep_days` and that the backup in `backup_dir` has whole.

    Returns how many files and bytes those were: none where raw answers are kept for ever. BackupError as
    `release_raw` says, and where no backup is set.
    """
    if settings.raw_keep_days == 0:
        return 0, 0
    if settings.backup_dir is None:
        raise BackupError(
            "nothing removed: TRANSIT_RAW_KEEP_DAYS needs TRANSIT_BACKUP_DIR, where the backup is"
        )
    before = settings.clock.now().date() - DAY * settings.raw_keep_days
    return release_raw(settings, settings.backup_dir, before)


def _forget(root: Path, paths: list[Path]) -> None:
    """Take files out of the checksum list, so that they do not count as lost."""
    entries, _ = read_checksums(checksum_list(root))
    for path in paths:
        entries.pop(str(path.relative_to(root)), None)
    write_checksums(checksum_list(root), entries)

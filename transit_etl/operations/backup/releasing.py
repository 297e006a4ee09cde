"""Removes raw files that others have whole: the only way in which raw answers leave a data folder."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from transit_etl.checksums import change_checksums, is_whole, read_checksums
from transit_etl.identity import claim
from transit_etl.operations.backup.place import BackupError, backup_checksums
from transit_etl.paths import partition_of, raw_files
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings, Settings
from transit_etl.stage.lake import waiting_windows
from transit_etl.store.days import changed_days
from transit_etl.store.raw import raw_in_store
from transit_etl.store.sync import open_store


def release_raw(settings: FolderSettings, backup: Path, before: date) -> tuple[int, int]:
    """Remove the raw files of the UTC days before a date; return how many files and bytes those were.

    BackupError, before anything is removed, if one of them is not staged, or if its copy in the backup is
    missing or has another checksum: every copy is read. `transit-etl restore` brings them back.
    """
    entries, _ = read_checksums(backup_checksums(backup))

    def is_kept(path: Path) -> bool:
        name = str(path.relative_to(settings.data_dir))
        entry = entries.get(name)
        return entry is not None and is_whole(path, entry) and is_whole(backup / name, entry)

    return _release(settings, before, is_kept, f"{backup}: `transit-etl backup {backup}`")


def release_old_raw(settings: Settings) -> tuple[int, int]:
    """Remove the raw files older than `raw_keep_days` that `backup_dir`, or else the object store, has whole.

    Returns how many files and bytes those were: none where raw answers are kept for ever. BackupError as
    `release_raw` says, and where neither is set; StoreError if the store fails.
    """
    if settings.raw_keep_days == 0:
        return 0, 0
    before = settings.clock.now().date() - DAY * settings.raw_keep_days
    if settings.backup_dir is not None:
        return release_raw(settings, settings.backup_dir, before)
    if settings.lake_url is None:
        raise BackupError(
            "nothing removed: TRANSIT_RAW_KEEP_DAYS needs TRANSIT_BACKUP_DIR, where the backup is, or "
            "TRANSIT_LAKE_URL"
        )
    store = open_store(settings)
    if unpublished := [day for day in changed_days(settings, settings.operators) if day.day < before]:
        raise BackupError(f"nothing removed: {unpublished[0]} is not published yet: `transit-etl sync`")
    return _release(
        settings,
        before,
        lambda path: raw_in_store(store, settings.data_dir, path),
        f"{settings.lake_url}: `transit-etl sync`",
    )


def _release(
    settings: FolderSettings, before: date, is_kept: Callable[[Path], bool], where: str
) -> tuple[int, int]:
    """Remove the raw files of the UTC days before a date if all of them are kept elsewhere."""
    claim(settings)
    root = settings.data_dir
    old = sorted(path for path in raw_files(root) if date.fromisoformat(partition_of(path)["date"]) < before)
    if any(window.day < before for window in waiting_windows(root)):
        raise BackupError(f"nothing removed: a window of before {before} is not staged: `transit-etl stage`")
    for path in old:
        if not is_kept(path):
            raise BackupError(f"nothing removed: {path.relative_to(root)} is not whole in {where}")
    n_bytes = sum(path.stat().st_size for path in old)
    _forget(root, old)
    for path in old:
        path.unlink()
    return len(old), n_bytes


def _forget(root: Path, paths: list[Path]) -> None:
    """Take files out of the checksum list, so that they do not count as lost."""
    forgotten = {str(path.relative_to(root)) for path in paths}
    change_checksums(root, lambda now: {name: now[name] for name in now if name not in forgotten})

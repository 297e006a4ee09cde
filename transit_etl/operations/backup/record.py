"""Remembers in the data folder when it was backed up last, and where to."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import TypeAdapter

from transit_etl.kept_facts import keep, recall
from transit_etl.paths import backups_file


@dataclass(frozen=True, slots=True)
class LastBackup:
    """The last whole backup: its absolute path, when it was made (real time, UTC), its number of files."""

    path: str
    made_at: datetime
    n_files: int


_LAST = TypeAdapter(LastBackup)


def last_backup(data_dir: Path) -> LastBackup | None:
    """Return the last backup of a data folder that was made whole; None without one."""
    return recall(backups_file(data_dir), _LAST)


def remember(data_dir: Path, made: LastBackup) -> None:
    """Keep what the last backup was."""
    keep(backups_file(data_dir), _LAST, made)

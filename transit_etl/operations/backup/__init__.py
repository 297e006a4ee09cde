"""Copies what cannot be made again to another disk, and back: raw answers, settings, and some state."""

from transit_etl.operations.backup.record import LastBackup, last_backup
from transit_etl.operations.backup.releasing import release_old_raw, release_raw
from transit_etl.operations.backup.restoring import RestoreReport, restore
from transit_etl.operations.backup.saving import BackupReport, back_up

__all__ = [
    "BackupReport",
    "LastBackup",
    "RestoreReport",
    "back_up",
    "last_backup",
    "release_old_raw",
    "release_raw",
    "restore",
]

"""Copies what cannot be made again to another disk, and back: raw answers, settings, and some state."""

from transit_etl.backup.record import LastBackup, last_backup
from transit_etl.backup.releasing import release_raw
from transit_etl.backup.restoring import RestoreReport, restore
from transit_etl.backup.saving import BackupReport, backup

__all__ = ["BackupReport", "LastBackup", "RestoreReport", "backup", "last_backup", "release_raw", "restore"]

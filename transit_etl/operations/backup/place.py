"""Says where everything is in a backup, and copies a file with its checksum.

A backup is a folder that can be read without transit-etl: raw files under the paths that they have in the
data folder, `settings/`, and the checksum list, which has the SHA-256 of every file.
"""

import hashlib
import os
from pathlib import Path, PurePosixPath

from transit_etl.checksums import Entry
from transit_etl.errors import TransitError
from transit_etl.files import open_atomic
from transit_etl.paths import RAW_SUFFIX, alerts_file, identity_file, rehearsal_journal
from transit_etl.project import TOML

SETTINGS = "settings"  # the folder of the settings, and of the file of stops that they name
SETTINGS_FILE = f"{SETTINGS}/{TOML}"
_RAW_FILES = f"raw/operator=*/endpoint=*/date=*/*{RAW_SUFFIX}"
_CHUNK_BYTES = 1 << 20


class BackupError(TransitError):
    """A folder cannot be backed up to, or restored from; the message says why."""


class DifferentFileError(Exception):
    """A file is not the one that its checksum is of."""


def backup_checksums(backup: Path) -> Path:
    """Return the file that has the checksum of every file of a backup."""
    return backup / "manifest.jsonl"


def backup_lock(backup: Path) -> Path:
    """Return the file whose lock is held by who writes a backup."""
    return backup / ".lock"


def kept_state(data_dir: Path) -> list[Path]:
    """List the state that nothing can make again.

    That is what the data folder is, what people were told, and the progress of a rehearsal.
    """
    return [identity_file(data_dir), alerts_file(data_dir), rehearsal_journal(data_dir)]


def is_restorable(name: str, data_dir: Path) -> bool:
    """Tell whether the path in a line of a checksum list is that of a raw file or of kept state."""
    path = PurePosixPath(name)
    is_raw = path.match(_RAW_FILES) and len(path.parts) == len(PurePosixPath(_RAW_FILES).parts)
    is_state = data_dir / name in kept_state(data_dir) and not path.is_absolute()
    return name.isprintable() and (is_raw or is_state)


def copy(source_root: Path, target_root: Path, name: str, sha256: str | None = None) -> Entry:
    """Copy a file to the same path below another folder, durably, with its time of change.

    Raises DifferentFileError, and leaves the target as it was, if the checksum is not the one given.
    """
    source, target = source_root / name, target_root / name
    digest = hashlib.sha256()
    with source.open("rb") as read, open_atomic(target) as written:
        while chunk := read.read(_CHUNK_BYTES):
            digest.update(chunk)
            written.write(chunk)
        status = os.fstat(read.fileno())
        if sha256 not in (None, digest.hexdigest()):
            raise DifferentFileError
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return Entry(name, target.stat().st_size, status.st_mtime_ns, digest.hexdigest())

"""Says where everything is in a backup, and copies a file with its checksum.

A backup is a folder that can be read without transit-etl: raw files under the paths that they have in the
data folder, `settings/`, and the checksum list, which has the SHA-256 of every file.
"""

import hashlib
import os
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from transit_base.errors import TransitError
from transit_base.files import in_words, named_in_errors, open_atomic, passed_over_texts
from transit_base.listing import passing_over
from transit_etl.checksums import Entry, entry_of
from transit_etl.paths import RAW_SUFFIX, alerts_file, identity_file, raw_files, rehearsal_journal
from transit_etl.project import TOML
from transit_etl.stage.raw import RawFileError, check_whole

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
        while chunk := _next_of(read, source):
            digest.update(chunk)
            written.write(chunk)
        status = os.fstat(read.fileno())
        if sha256 not in (None, digest.hexdigest()):
            raise DifferentFileError
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
    return Entry(name, target.stat().st_size, status.st_mtime_ns, digest.hexdigest())


def _next_of(file: BinaryIO, path: Path) -> bytes:
    with named_in_errors(path):
        return file.read(_CHUNK_BYTES)


def names_any_below(error: OSError, folder: Path) -> bool:
    """Tell whether an error of the system is about a file below a folder."""
    names = (error.filename, error.filename2)
    return any(isinstance(name, str) and Path(name).is_relative_to(folder) for name in names)


def unlisted_raw(backup: Path, known: Collection[str], faults: list[str]) -> list[Entry]:
    """Read the raw files of a backup that its checksum list lacks; name those that are not whole as faults.

    A list that was cut lacks some, and one that a killed backup did not write.
    """
    found = []
    with passing_over() as unlisted:
        paths = sorted(raw_files(backup))
    faults += passed_over_texts(unlisted)
    for path in paths:
        if str(path.relative_to(backup)) in known:
            continue
        try:
            check_whole(path)
            found.append(entry_of(backup, path))
        except RawFileError as error:
            faults.append(f"{error}, and its checksum list lacks it")
        except OSError as error:
            faults.append(in_words(error))
    return found

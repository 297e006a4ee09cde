"""Checksums of files, and lists of them: one JSON line per file, after one that says how many there are."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter

from transit_base.files import locked, named_in_errors, write_text
from transit_etl.paths import checksum_list, checksum_lock

CHANGED = "its SHA-256 is not the one of the checksum list"
_NUMBER = re.compile(r'\{"n_files": (\d+)\}')


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was at a moment: its path below a folder, size, time of change and SHA-256."""

    path: str
    size_bytes: int
    modified_ns: int
    sha256: str


_ENTRY = TypeAdapter(Entry)


def entry_of(root: Path, path: Path) -> Entry:
    """Read a file below `root` and return its entry; OSError, which names the file, if it cannot be read."""
    with path.open("rb") as file, named_in_errors(path):
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    status = path.stat()
    return Entry(str(path.relative_to(root)), status.st_size, status.st_mtime_ns, digest)


def is_whole(path: Path, entry: Entry) -> bool:
    """Tell whether a file is there, and can be read, with the content that its entry says."""
    with suppress(OSError):
        return path.is_file() and entry_of(path.parent, path).sha256 == entry.sha256
    return False


def read_checksums(path: Path) -> tuple[dict[str, Entry], int]:
    """Return the entries of a checksum list by path (none without a file), and how many are damaged or lost.

    An emptied list has lost one at least; the lists of older versions do not say how many they have.
    IsADirectoryError, which names it, if it is a folder: no list could be written in its place.
    """
    if not path.exists():
        return {}, 0
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    entries: dict[str, Entry] = {}
    n_damaged, n_written = 0, 0 if lines else 1
    for line in lines:
        if found := _NUMBER.fullmatch(line):
            n_written = int(found[1])
            continue
        try:
            entry = _ENTRY.validate_json(line)
            entries[entry.path] = entry
        except ValueError:
            n_damaged += 1
    return entries, max(n_damaged, n_written - len(entries))


def write_checksums(path: Path, entries: Mapping[str, Entry]) -> None:
    """Replace a checksum list, sorted by path."""
    lines = [json.dumps(asdict(entries[name])) for name in sorted(entries)]
    write_text(path, "".join(f"{line}\n" for line in [json.dumps({"n_files": len(lines)}), *lines]))


def change_checksums(data_dir: Path, changed: Callable[[dict[str, Entry]], Mapping[str, Entry]]) -> None:
    """Replace the checksum list of a data folder by what is made of it; every other change waits."""
    path = checksum_list(data_dir)
    with locked(checksum_lock(data_dir)):
        write_checksums(path, changed(read_checksums(path)[0]))

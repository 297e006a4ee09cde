"""Checksums of files, and lists of them: one JSON line per file."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import TypeAdapter

from transit_etl.files import write_text

CHANGED = "its SHA-256 is not the one of the checksum list"


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was at a moment: its path below a folder, size, time of change and SHA-256."""

    path: str
    size_bytes: int
    modified_ns: int
    sha256: str


_ENTRY = TypeAdapter(Entry)


def entry_of(root: Path, path: Path) -> Entry:
    """Read a file below `root` and return its entry."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    status = path.stat()
    return Entry(str(path.relative_to(root)), status.st_size, status.st_mtime_ns, digest)


def is_whole(path: Path, entry: Entry) -> bool:
    """Tell whether a file is there with the content that its entry says."""
    return path.is_file() and entry_of(path.parent, path).sha256 == entry.sha256


def read_checksums(path: Path) -> tuple[dict[str, Entry], int]:
    """Return the entries of a checksum list by path (none without a file), and how many lines are damaged.

    IsADirectoryError, which names it, if it is a folder: no list could be written in its place.
    """
    entries, n_damaged = {}, 0
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
        try:
            entry = _ENTRY.validate_json(line)
            entries[entry.path] = entry
        except ValueError:
            n_damaged += 1
    return entries, n_damaged


def write_checksums(path: Path, entries: Mapping[str, Entry]) -> None:
    """Replace a checksum list, sorted by path."""
    lines = [json.dumps(asdict(entries[name])) + "\n" for name in sorted(entries)]
    write_text(path, "".join(lines))

"""Records the checksums of what is published, so that a file that is gone or has changed is found."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import duckdb
from pydantic import TypeAdapter

from transit_base.errors import first_line
from transit_base.files import in_words
from transit_etl import paths
from transit_etl.checksums import Entry, entry_of
from transit_etl.kept_facts import keep, recall
from transit_etl.warehouse.publishing.detail_files import files_of

_OTHER = "it is not the file that was published"
_ENTRIES = TypeAdapter(list[Entry])


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A published file, its size if it can be read, and what is wrong with it, if anything."""

    path: Path
    size_bytes: int = 0
    damage: str | None = None
    is_missing: bool = False


def record_next(data_dir: Path, unfinished: Path) -> None:
    """Record a file that is about to take the place of the published one, and its files of detail.

    What was recorded before stays until `record_published`: after a kill either file may be there.
    """
    known = _recorded(data_dir) or []
    paths_known = {entry.path for entry in known}
    new = [
        entry_of(data_dir, path)
        for path in _detail_paths(data_dir, unfinished)
        if _name(data_dir, path) not in paths_known
    ]
    entry = entry_of(unfinished.parent, unfinished)
    new.append(replace(entry, path=_name(data_dir, paths.published_database(data_dir))))
    keep(paths.publication_record(data_dir), _ENTRIES, [*known, *new])


def record_published(data_dir: Path) -> None:
    """Record that the file recorded last has taken its place; forget those before it."""
    path = paths.published_database(data_dir)
    names = {_name(data_dir, each) for each in (path, *_detail_paths(data_dir, path))}
    last = {entry.path: entry for entry in _recorded(data_dir) or () if entry.path in names}
    keep(paths.publication_record(data_dir), _ENTRIES, list(last.values()))


def is_as_published(data_dir: Path) -> bool:
    """Read the published file; tell whether it was recorded as it is, which older versions did not do."""
    with suppress(OSError):
        entry = entry_of(data_dir, paths.published_database(data_dir))
        return _is_recorded(entry, _recorded(data_dir) or ())
    return False


def lost_publication(data_dir: Path) -> str | None:
    """Say in a sentence that a published file is gone or has another size; none of them is read."""
    known = _recorded(data_dir) or ()
    for name in dict.fromkeys(entry.path for entry in known):
        path = data_dir.absolute() / name
        sizes = {entry.size_bytes for entry in known if entry.path == name}
        if not path.exists():
            return f"{path} was published and is gone: `transit-etl publish` makes it again"
        if path.is_file() and path.stat().st_size not in sizes:
            return f"{path}: {_OTHER}: `transit-etl publish` makes it again"
    return None


def read_published(data_dir: Path) -> list[PublishedFile] | None:
    """Read every published file to its end and compare it with its record; None without a record."""
    while (known := _recorded(data_dir)) is not None:
        names = dict.fromkeys(entry.path for entry in known)
        found = [_read(data_dir, data_dir / name, known) for name in names]
        if known == _recorded(data_dir):  # else another file was published meanwhile
            return found
    return None


def unreadable(path: Path) -> str | None:
    """Say why a published file cannot be opened, or does not say what it is; None if it does."""
    try:
        with duckdb.connect(path, read_only=True) as connection:
            if connection.execute("select count(*) from quality.publication").fetchone() == (1,):
                return None
    except duckdb.Error as error:
        return f"it cannot be read: {first_line(error)}"
    return "it does not say which publication it is"


def _read(data_dir: Path, path: Path, known: Sequence[Entry]) -> PublishedFile:
    try:
        entry = entry_of(data_dir, path)
    except FileNotFoundError:
        return PublishedFile(path, is_missing=True)
    except OSError as error:
        return PublishedFile(path, damage=in_words(error))
    damage = None if _is_recorded(entry, known) else _OTHER
    if damage is None and path == paths.published_database(data_dir):
        damage = unreadable(path)
    return PublishedFile(path, entry.size_bytes, damage)


def _recorded(data_dir: Path) -> list[Entry] | None:
    return recall(paths.publication_record(data_dir), _ENTRIES)


def _is_recorded(entry: Entry, known: Sequence[Entry]) -> bool:
    return any((entry.path, entry.sha256) == (each.path, each.sha256) for each in known)


def _detail_paths(data_dir: Path, published: Path) -> list[Path]:
    return [paths.detail_dir(data_dir) / each.file_name for each in files_of(published)]


def _name(data_dir: Path, path: Path) -> str:
    return str(path.relative_to(data_dir))

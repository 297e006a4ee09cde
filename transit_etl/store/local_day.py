"""Reads and changes an operator's UTC day of the lake in the data folder; the caller holds its lock."""

import os
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path

import pyarrow.parquet as pq

from transit_base.files import (
    clear_away,
    locked,
    make_folder,
    open_atomic,
    remove_folder,
    rename,
    repair_folder,
    replace_folder,
    replacement_of,
    sync_folder,
)
from transit_etl.checksums import Entry, entry_of
from transit_etl.lake_reading import damage_of, merged_windows
from transit_etl.lake_schemas import DATASETS, IN_ORDER_OF_WRITING
from transit_etl.paths import (
    DAY_STEM,
    all_lake_files,
    lake_file,
    lake_lock,
    quarantine_file,
    quarantine_files,
    warehouse_lock,
)
from transit_etl.store.manifest import DayFiles, is_quarantine, is_requests, name_of

Fetch = Callable[[Entry], bytes]
N_TRANSFERS = 8  # at the same time: a transfer mostly waits


@dataclass(frozen=True, slots=True)
class OperatorDay:
    """A UTC day of an operator; one without quarantine is older than that is kept, here and in the store."""

    operator: str
    day: date
    has_quarantine: bool = True

    def __str__(self) -> str:
        return f"{self.operator} of {self.day}"


class DayInUseError(Exception):
    """Files of a day are to be replaced while a build may be reading them."""


class DayLockedError(Exception):
    """Another process of this host is changing a day."""


@dataclass(frozen=True, slots=True)
class LocalDay:
    """A day as the data folder has it.

    `files` are those that count: whole parts, and those of the `base` that were lost here and are to be
    fetched again. `present` has the entry of each file on the disk. A day `is_halfway` while its compaction
    or a change by another host is not finished.
    """

    files: DayFiles
    present: Mapping[str, Entry] = field(default_factory=dict)
    is_halfway: bool = False


@contextmanager
def day_locked(root: Path, day: OperatorDay, *, waits: bool = True) -> Iterator[None]:
    """Hold the lock on a day in the lake, as staging does; finish what killed processes left.

    If another process has it, it waits or raises DayLockedError.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(lake_lock(root, day.operator, day.day), waits=waits))
        except BlockingIOError as error:
            raise DayLockedError from error
        for folder in _folders(root, day):
            repair_folder(folder)
        yield


def read_day(root: Path, day: OperatorDay, base: DayFiles) -> LocalDay:
    """Read a day; a file that is as its entry in the base says is not read again."""
    present = {entry.path: entry for entry in (_entry(root, path, base) for path in _paths(root, day))}
    damaged = {
        path
        for path, entry in present.items()
        if not _is_in(base, entry) and damage_of(root / path) is not None
    }
    sound = {path: entry for path, entry in present.items() if path not in damaged}
    merged = {
        path: frozenset(merged_windows(pq.read_schema(root / path)))
        for path in sound
        if name_of(path) == DAY_STEM and not is_quarantine(path)
    }
    own = {name_of(path) for path in sound if is_requests(path)} - {DAY_STEM}
    if any(own & windows for windows in merged.values()):
        return LocalDay(base, present, is_halfway=True)
    marked = [windows for path, windows in merged.items() if is_requests(path)]
    found = DayFiles(sound, frozenset[str]().union(*marked))
    return LocalDay(_whole(_without_damaged(found, damaged), base), present)


def has_changed(root: Path, day: OperatorDay, base: DayFiles) -> bool:
    """Tell whether a day's files are others than a base says, by their names, sizes and times."""
    found = {}
    for path in _paths(root, day):
        try:
            status = path.stat()
        except FileNotFoundError:
            return True  # replaced since it was listed
        found[str(path.relative_to(root))] = (status.st_size, status.st_mtime_ns)
    return found != {path: (entry.size_bytes, entry.modified_ns) for path, entry in base.entries.items()}


def as_on_disk(root: Path, files: DayFiles, local: LocalDay, fetched: Iterable[Entry]) -> DayFiles:
    """Return a day with the sizes and times that its files have here, where they are here."""
    here = {entry.path: entry.sha256 for entry in (*local.present.values(), *fetched)}
    entries = {}
    for path, entry in files.entries.items():
        entries[path] = entry
        if here.get(path) == entry.sha256:
            with suppress(FileNotFoundError):
                status = (root / path).stat()
                entries[path] = replace(entry, size_bytes=status.st_size, modified_ns=status.st_mtime_ns)
    return DayFiles(entries, files.merged)


def adopt(root: Path, local: LocalDay, wanted: DayFiles, base: DayFiles, fetch: Fetch) -> list[Entry]:
    """Let a day become what is wanted, dataset by dataset, `requests` last; return what was fetched.

    Everything is fetched before anything changes. Files of windows that nobody knows stay, as of a window
    being staged. DayInUseError, before anything changes, if files are to be replaced while a build runs.
    """
    missing = {
        path: entry
        for path, entry in wanted.entries.items()
        if path not in local.present or local.present[path].sha256 != entry.sha256
    }
    known = wanted.windows | wanted.parts().keys() | {name_of(path) for path in base.entries}
    stale = {
        path
        for path in local.present.keys() - wanted.entries.keys()
        if local.is_halfway or name_of(path) in known or path in base.entries
    }
    if not missing and not stale:
        return []
    replaces = bool(stale or missing.keys() & local.present.keys())
    with _no_build_reads(root, replaces=replaces):
        pass  # else all would be fetched for nothing while a build runs
    fetched = _fetched(root, missing, fetch)
    by_folder: dict[Path, tuple[dict[str, Path], set[str]]] = defaultdict(lambda: ({}, set()))
    for path, file in fetched.items():
        by_folder[(root / path).parent][0][Path(path).name] = file
    for path in stale:
        by_folder[(root / path).parent][1].add(Path(path).name)
    try:
        with _no_build_reads(root, replaces=replaces):
            for folder in sorted(by_folder, key=_order):
                _change_folder(folder, *by_folder[folder])
    finally:
        for file in fetched.values():
            file.unlink(missing_ok=True)
    return list(missing.values())


def _paths(root: Path, day: OperatorDay) -> list[Path]:
    paths = all_lake_files(root, day.operator, day.day)
    return paths + (quarantine_files(root, day.operator, day.day) if day.has_quarantine else [])


def _without_damaged(found: DayFiles, damaged: set[str]) -> DayFiles:
    """Leave out the parts of which a file is damaged: it is made again, or fetched, before they count."""
    names = {name_of(path) for path in damaged}
    own = {name_of(path) for path in found.entries if is_requests(path)}
    parts = {DAY_STEM if name in found.merged and name not in own else name for name in names}
    kept = {path for name, part in found.parts().items() if name not in parts for path in part}
    merged = frozenset[str]() if DAY_STEM in parts else found.merged
    return DayFiles({path: found.entries[path] for path in kept}, merged)


def _entry(root: Path, path: Path, base: DayFiles) -> Entry:
    status = path.stat()
    known = base.entries.get(str(path.relative_to(root)))
    if known and (known.size_bytes, known.modified_ns) == (status.st_size, status.st_mtime_ns):
        return known
    return entry_of(root, path)


def _is_in(base: DayFiles, entry: Entry) -> bool:
    known = base.entries.get(entry.path)
    return known is not None and known.sha256 == entry.sha256


def _whole(found: DayFiles, base: DayFiles) -> DayFiles:
    """Leave out parts that are not marked as staged; add what the base has and was lost here.

    A part was changed on purpose if its requests were written again, which happens last. If they are as they
    were, or are not there, then files that are missing were lost.
    """
    parts, before = found.parts(), base.parts()
    marks = {name_of(path): path for path in found.entries if is_requests(path)}
    marks_before = {name_of(path): path for path in base.entries if is_requests(path)}
    entries = {path: found.entries[path] for name, part in parts.items() if name in marks for path in part}
    merged = found.merged if DAY_STEM in marks else frozenset[str]()
    for name, part in before.items():
        mark = marks.get(name)
        is_replaced = mark is None and name in merged
        is_untouched = mark is not None and found.entries[mark] == base.entries.get(
            marks_before.get(name, "")
        )
        if not is_replaced and (mark is None or is_untouched):
            entries |= {path: base.entries[path] for path in part if path not in entries}
            merged = base.merged if name == DAY_STEM and mark is None else merged
    return DayFiles(entries, merged)


@contextmanager
def _no_build_reads(root: Path, *, replaces: bool) -> Iterator[None]:
    """Keep builds from beginning while files are replaced; DayInUseError if one is running."""
    if not replaces:
        yield
        return
    try:
        with locked(warehouse_lock(root), waits=False):
            yield
    except BlockingIOError as error:
        raise DayInUseError from error


def _fetched(root: Path, missing: Mapping[str, Entry], fetch: Fetch) -> dict[str, Path]:
    """Fetch files at the same time, each under a name that no reader sees; return these names by path."""
    asides = {path: _aside(root / path) for path in missing}

    def write(path: str) -> None:
        entry = missing[path]
        body = fetch(entry)
        with open_atomic(asides[path]) as file:
            file.write(body)
            file.flush()
            os.utime(file.fileno(), ns=(entry.modified_ns, entry.modified_ns))

    try:
        with ThreadPoolExecutor(N_TRANSFERS, thread_name_prefix="fetch") as transfers:
            list(transfers.map(write, missing))
    except BaseException:
        for aside in asides.values():
            aside.unlink(missing_ok=True)
        raise
    return asides


def _aside(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.getpid()}.fetched.new")


def _change_folder(folder: Path, added: Mapping[str, Path], removed: set[str]) -> None:
    """Put files into a folder, and take others out, so that a reader that lists it sees all or nothing."""
    if not removed and not any((folder / name).exists() for name in added):
        for name, file in added.items():
            rename(file, folder / name)
        return
    built = replacement_of(folder)
    clear_away(built)
    make_folder(built)
    for path in folder.iterdir():
        if path.suffix != ".new" and path.name not in removed and path.name not in added:
            os.link(path, built / path.name)
    for name, file in added.items():
        os.link(file, built / name)
    sync_folder(built)
    if any(built.iterdir()):
        replace_folder(built, folder)
    else:
        clear_away(built)
        remove_folder(folder)


def _order(folder: Path) -> tuple[int, int]:
    """Sort folders of a day: quarantine, then the lake, its requests last."""
    dataset = folder.parent.name.removeprefix("dataset=")
    rank = IN_ORDER_OF_WRITING.index(dataset) if dataset in IN_ORDER_OF_WRITING else -1
    return (0 if folder.parents[2].name == "quarantine" else 1, rank)


def _folders(root: Path, day: OperatorDay) -> Iterator[Path]:
    for dataset in DATASETS:
        for path_of in (lake_file, quarantine_file):
            yield path_of(root, day.operator, dataset, day.day, DAY_STEM).parent

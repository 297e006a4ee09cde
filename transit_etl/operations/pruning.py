"""Removes what is kept for a time only: quarantine, logs, and what killed processes left."""

import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from transit_base.files import clear_away, in_words, passed_over_texts
from transit_base.listing import passing_over
from transit_etl.identity import claim
from transit_etl.paths import lake_day, logs_dirs, quarantine_files, raw_dir, restaging_root, state_dir
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings
from transit_etl.store.errors import StoreError
from transit_etl.store.unused import remove_unused

_log = logging.getLogger(__name__)
LEFTOVER_AFTER = DAY  # nothing writes one file or folder for longer
_LEFTOVERS = ("*.new", ".replacement-*")


@dataclass(slots=True)
class PruneReport:
    """How many files were removed, and their size; `errors` say what could not be."""

    n_quarantine_files: int = 0
    n_log_files: int = 0
    n_leftovers: int = 0
    n_objects: int = 0
    n_bytes: int = 0
    errors: list[str] = field(default_factory=list)


def prune(settings: FolderSettings) -> PruneReport:
    """Remove quarantine and logs older than their settings, leftovers older than a day, and unused objects.

    Raw answers, lake and warehouse stay, and files set aside as damaged too. Quarantine goes by its UTC day,
    and `transit-etl reprocess` makes it again; logs and leftovers go by when they were written last. What
    cannot be removed is named, and the rest removed.
    """
    claim(settings)
    report, root = PruneReport(), settings.data_dir
    first = settings.clock.now().date() - DAY * settings.quarantine_keep_days
    with passing_over() as unlisted:
        quarantine = quarantine_files(root)
    report.errors += passed_over_texts(unlisted)
    for path in quarantine:
        if lake_day(path)[1] < first:
            report.n_quarantine_files += _remove(path, report)
    for path in _files(logs_dirs(root), _older_than(DAY.total_seconds() * settings.logs_keep_days)):
        report.n_log_files += _remove(path, report)
    is_left = _older_than(LEFTOVER_AFTER.total_seconds())
    for path in _leftovers(root):
        if is_left(path):
            report.n_leftovers += _remove(path, report)
    try:
        report.n_objects, n_bytes = remove_unused(settings)
        report.n_bytes += n_bytes
    except StoreError as error:
        _log.warning("%s; what no manifest names is removed by the next `transit-etl prune`", error)
    return report


def _leftovers(root: Path) -> Iterator[Path]:
    """Yield what killed processes left where others would have taken its place; nothing below raw."""
    folders = [
        each for each in root.glob("*") if each.is_dir() and each not in (raw_dir(root), state_dir(root))
    ]
    for folder in folders:
        for pattern in _LEFTOVERS:
            yield from folder.rglob(pattern)
    yield from restaging_root(root).glob("*")


def _files(folders: list[Path], is_chosen: Callable[[Path], bool]) -> Iterator[Path]:
    for folder in folders:
        yield from (path for path in folder.rglob("*") if path.is_file() and is_chosen(path))


def _older_than(seconds: float) -> Callable[[Path], bool]:
    """Return whether nothing in a file or folder was written since; links are not followed."""
    limit = time.time() - seconds

    def is_older(path: Path) -> bool:
        within = path.rglob("*") if path.is_dir() else ()
        return all(each.lstat().st_mtime < limit for each in (path, *within))

    return is_older


def _remove(path: Path, report: PruneReport) -> int:
    """Remove a file or a folder, or name what cannot be; return how many files that were."""
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    try:
        n_bytes = sum(each.lstat().st_size for each in files)
        if path.is_dir():
            clear_away(path)
        else:
            path.unlink()
    except OSError as error:
        if not isinstance(error, FileNotFoundError):  # another process was faster
            report.errors.append(in_words(error))
        return 0
    report.n_bytes += n_bytes
    return len(files)

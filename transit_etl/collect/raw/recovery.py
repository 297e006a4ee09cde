"""Finishes the windows that a killed collector left open, without losing or duplicating a row."""

import contextlib
import logging
import os
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

from transit_base.files import in_words
from transit_etl.collect.raw import ledger
from transit_etl.collect.raw.ledger import Planned
from transit_etl.collect.raw.rawfile import (
    DataFolderError,
    complete_lines,
    is_same_file,
    lock,
    read_lines,
    write_finished,
)
from transit_etl.paths import (
    finished_raw_file,
    intents_file,
    intents_files,
    open_raw_file,
    open_raw_files,
    raw_files,
    raw_parts,
)

_DAY = timedelta(days=1)
_log = logging.getLogger(__name__)


def recover(data_dir: Path) -> list[Path]:
    """Finish every window below the data folder whose writer was killed, and return the files written.

    Whole rows are kept; each planned request without one gets an `interrupted` row. A window whose writer
    still runs is left as it is, and so is one whose files cannot be read or written: a damaged disk sector
    must not stop all collecting. Running it again, or after it was killed itself, gives the same files.
    """
    try:
        orphans = _open_windows(data_dir)
    except OSError as error:
        raise DataFolderError(data_dir, error) from error
    return [path for orphan in orphans for path in _recover_or_leave(data_dir, orphan)]


def _open_windows(data_dir: Path) -> list[Path]:
    """List the final paths of the windows that have an open file, oldest first."""
    files = [*open_raw_files(data_dir), *intents_files(data_dir)]
    return sorted({finished_raw_file(path) for path in files})


def _recover_or_leave(data_dir: Path, path: Path) -> list[Path]:
    try:
        return _recover_window(data_dir, path)
    except OSError as error:
        _log.warning("left %s to the next recovery: %s", path.name, in_words(error))
        return []


def _recover_window(data_dir: Path, path: Path) -> list[Path]:
    part, intents = open_raw_file(path), intents_file(path)
    with _orphan(part if os.path.lexists(part) else intents) as is_ours:  # also a link that leads nowhere
        if not is_ours:
            return []
        finished = [] if path.exists() else _finish(data_dir, path)
        intents.unlink(missing_ok=True)
        part.unlink(missing_ok=True)
    return finished


@contextlib.contextmanager
def _orphan(open_file: Path) -> Iterator[bool]:
    """Hold the writer's lock; yields False if a writer or another recovery has it, or had it first."""
    try:
        fd = os.open(open_file, os.O_RDWR)
    except FileNotFoundError:
        yield False
        return
    try:
        yield lock(fd) and is_same_file(fd, open_file)
    finally:
        os.close(fd)


def _finish(data_dir: Path, path: Path) -> list[Path]:
    """Write the final file from what the open files hold; none if they hold nothing."""
    rows = dict(_whole_rows(open_raw_file(path)))
    missing = [intent for intent in _intents(intents_file(path)) if intent.request_id not in rows]
    if missing:
        landed_elsewhere = _ids_around(data_dir, path)
        missing = [intent for intent in missing if intent.request_id not in landed_elsewhere]
    names = raw_parts(path)
    interrupted = [ledger.interrupted_row(names["operator"], names["window"], intent) for intent in missing]
    lines = [row + b"\n" for row in rows.values()] + interrupted
    if not lines:
        return []
    write_finished(path, lines)
    return [path]


def _whole_rows(part: Path) -> Iterator[tuple[str, bytes]]:
    """Yield request id and line of each row; a damaged one is left out, with a warning."""
    if not part.exists():
        return
    for line in read_lines(part):
        try:
            yield ledger.read_request_id(line), line
        except ValueError:
            _log.warning("left a damaged row out of %s", part.name)


def _intents(planned: Path) -> list[Planned]:
    if not planned.exists():
        return []
    found = []
    for line in complete_lines(planned):
        try:
            found.append(ledger.read_intent(line))
        except ValueError:
            _log.warning("left a damaged intent out of %s", planned.name)
    return found


def _ids_around(data_dir: Path, path: Path) -> set[str]:
    """Return the requests in windows of the next and previous day: some are answered after midnight."""
    parts = raw_parts(path)
    day = date.fromisoformat(parts["date"])
    files = [
        file
        for neighbour in (day - _DAY, day + _DAY)
        for listed in (open_raw_files, raw_files)
        for file in listed(data_dir, parts["operator"], parts["endpoint"], neighbour)
    ]
    return {request_id for file in files for request_id, _ in _whole_rows(file)}

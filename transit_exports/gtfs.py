"""Plans GTFS feeds: the timetable as it was collected, and what ran of it."""

import hashlib
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from transit_base.files import open_atomic
from transit_base.quoting import sql_text
from transit_exports.copying import copy
from transit_exports.parts import Part
from transit_exports.periods import Period
from transit_exports.request import ExportError, Request
from transit_exports.source import Source
from transit_exports.statements import named_statements, statement

_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)  # of every file in the zip: the same rows give the same bytes
_CSV = "format csv, header"
_MISSING = (
    "Not told by the interface, and missing here: shapes, fares, transfers, accessibility. Types of routes "
    "are those of a feed that was given, or else assumed (`core.line_modes`): bus, where none is known."
)
STATIC_NOTES = [
    "`gtfs.zip` is a GTFS Schedule feed of the timetable as collected, after the corrections of each day.",
    "A departure from the origin is exact; other times are learned running times and have `timepoint` 0.",
    _MISSING,
]
RETROSPECTIVE_NOTES = [
    "`gtfs.zip` is a GTFS Schedule feed of what ran: a trip for each that was seen at two stops or more.",
    "`timepoint` is 1 where the passage is known to about a minute, else 0: an estimate.",
    "Stops before the first and after the last where a trip was seen are left out.",
    "A trip that is missing may have run unseen.",
    _MISSING,
]


def gtfs_parts(
    _source: Source, _request: Request, period: Period, *, statements: str, notes: Sequence[str]
) -> list[Part]:
    """Return the one file of a feed whose trips and stop times some statements make."""
    write = partial(_write, period, statements, " ".join(notes).replace("`", ""))
    return [Part("gtfs.zip", "gtfs", write)]


def stops_without_place(source: Source) -> list[str]:
    """Say how many stops have no place, without which a feed is not valid."""
    [(n_stops, n_without)] = source.rows("select count(*), count(*) - count(latitude) from core.stops")
    if not n_without:
        return []
    return [f"{n_without} of {n_stops} stops have no place, which TRANSIT_STOPS_FILE would give"]


def _write(period: Period, statements: str, comment: str, source: Source, path: Path) -> int:
    """Write the feed; return the number of its stop times."""
    publication = source.publication
    operator = {"operator": publication.operator}
    source.connection.execute(statement(statements, operator, condition=period.holds("service_date")))
    lacking = [f"{each}." for each in stops_without_place(source)]
    texts = {
        **operator,
        "publisher": source.publisher,
        "url": source.feed_url,
        "language": source.settings.language,
        "first": f"{period.first:%Y%m%d}",
        "last": f"{period.last:%Y%m%d}",
        "comment": " ".join([comment, *lacking]),
    }
    n_rows = 0
    with open_atomic(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text, n_written in _texts(source, texts):
            _add(archive, name, text)
            n_rows = n_written if name == "stop_times" else n_rows
    if not n_rows:
        raise ExportError(f"there is no trip from {period.first} to {period.last}")
    return n_rows


def _texts(source: Source, texts: dict[str, str]) -> Iterator[tuple[str, Path, int]]:
    """Write each table of the feed; yield its name, its file and the number of rows.

    The version in `feed_info`, which is the last, is a digest of the others.
    """
    digest = hashlib.sha256()
    for name, query in named_statements("gtfs_files", texts):
        source.connection.execute(f"set variable feed_version = {sql_text(digest.hexdigest()[:12])}")
        path = source.scratch / f"{name}.txt"
        yield name, path, copy(source, query, _CSV, path)
        with path.open("rb") as content:
            hashlib.file_digest(content, lambda: digest)
        path.unlink()


def _add(archive: zipfile.ZipFile, name: str, text: Path) -> None:
    entry = zipfile.ZipInfo(f"{name}.txt", _ENTRY_TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    with text.open("rb") as content, archive.open(entry, "w", force_zip64=True) as target:
        shutil.copyfileobj(content, target, 1 << 20)

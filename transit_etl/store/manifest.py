"""What a UTC day of the lake consists of: read, written, and merged when two hosts changed it.

The manifest of an operator's UTC day lists exactly the files of the lake and the quarantine that the day has.
It is replaced in one step, so that who follows one sees the day before or after a compaction, never both.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from pathlib import PurePosixPath
from typing import Literal

from pydantic import TypeAdapter

from transit_etl.checksums import Entry
from transit_etl.paths import DAY_STEM, partition_of
from transit_etl.store.errors import ManifestError

FORMAT = 1
Parts = dict[str, dict[str, str]]


@dataclass(frozen=True, slots=True)
class DayFiles:
    """The files of an operator's UTC day by path, and the windows that its compacted files hold.

    Paths are below the data folder. A file of a path and a checksum never changes.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    merged: frozenset[str] = frozenset()

    @property
    def windows(self) -> set[str]:
        """The windows that are staged: those with a file of requests, and those in the compacted one."""
        own = {name_of(path) for path in self.entries if is_requests(path)}
        return (own - {DAY_STEM}) | (self.merged if DAY_STEM in own else set())

    @property
    def checksums(self) -> dict[str, str]:
        """The checksum of each file, by path."""
        return {path: entry.sha256 for path, entry in self.entries.items()}

    def is_same(self, other: "DayFiles") -> bool:
        """Tell whether the day has the same files with the same content, whenever they were written."""
        return self.merged == other.merged and self.checksums == other.checksums

    def parts(self) -> Parts:
        """Return the checksums by part and path; the files of a part are made together.

        A part is a window, or the compacted day together with what its windows have in quarantine.
        """
        own = {name_of(path) for path in self.entries if is_requests(path)}
        found: Parts = {}
        for path, entry in self.entries.items():
            name = name_of(path)
            part = DAY_STEM if name in self.merged and name not in own else name
            found.setdefault(part, {})[path] = entry.sha256
        return found

    def without_quarantine(self) -> "DayFiles":
        """Return the day without the rows that broke a rule, which are kept for a time only."""
        kept = {path: entry for path, entry in self.entries.items() if not is_quarantine(path)}
        return DayFiles(kept, self.merged)


@dataclass(frozen=True, slots=True)
class Merged:
    """What a day becomes. Of the `overruled` parts, which we staged again, theirs was taken all the same."""

    files: DayFiles
    overruled: tuple[str, ...] = ()


def name_of(path: str) -> str:
    """Return the window that a file is of, or the name of compacted files."""
    return PurePosixPath(path).name.removesuffix(".parquet")


def is_requests(path: str) -> bool:
    """Tell whether a file marks its part as staged: the requests of the lake, which are written last."""
    return not is_quarantine(path) and partition_of(PurePosixPath(path))["dataset"] == "requests"


def is_quarantine(path: str) -> bool:
    """Tell whether a file holds rows that broke a rule."""
    return path.startswith("quarantine/")


def manifest_key(operator: str, day: date) -> str:
    """Name the manifest of an operator's UTC day."""
    return f"{manifests_of(operator)}{day.isoformat()}.json"


def manifests_of(operator: str) -> str:
    """Return what the names of an operator's manifests begin with."""
    return f"manifests/operator={operator}/"


def day_of_manifest(key: str) -> date | None:
    """Read the UTC day from the name of a manifest; None if it is not the name of one."""
    path = PurePosixPath(key)
    try:
        return date.fromisoformat(path.stem) if path.suffix == ".json" else None
    except ValueError:
        return None


def object_key(entry: Entry) -> str:
    """Name the object that holds a file of the lake or the quarantine."""
    return f"{entry.path}@{entry.sha256}"


@dataclass(frozen=True, slots=True)
class _Manifest:
    format: Literal[1]
    merged_windows: list[str]
    files: list[Entry]


_MANIFEST = TypeAdapter(_Manifest)


def write_manifest(files: DayFiles) -> bytes:
    """Write a day as text; the same files give the same bytes."""
    entries = [asdict(files.entries[path]) for path in sorted(files.entries)]
    value = {"format": FORMAT, "merged_windows": sorted(files.merged), "files": entries}
    return (json.dumps(value, indent=1) + "\n").encode()


def read_manifest(key: str, body: bytes) -> DayFiles:
    """Read a day back; ManifestError if it is none, or of a version that this one does not know."""
    try:
        found = _MANIFEST.validate_json(body)
    except ValueError as error:
        raise ManifestError(f"{key} in the object store is no manifest of format {FORMAT}") from error
    if any(not _is_of(key, entry.path) for entry in found.files):
        raise ManifestError(f"{key} in the object store names a file of another day, or of none")
    return DayFiles({entry.path: entry for entry in found.files}, frozenset(found.merged_windows))


def _is_of(key: str, path: str) -> bool:
    """Tell whether a path is that of a file of the lake or the quarantine of the day of a manifest."""
    parts = PurePosixPath(path).parts
    operator, day = partition_of(PurePosixPath(key))["operator"], PurePosixPath(key).stem
    return (
        len(parts) == len(("lake", "operator", "dataset", "date", "file"))
        and parts[0] in ("lake", "quarantine")
        and parts[1] == f"operator={operator}"
        and parts[2].startswith("dataset=")
        and parts[3] == f"date={day}"
        and parts[4].endswith(".parquet")
    )


def merge(base: DayFiles, ours: DayFiles, theirs: DayFiles) -> Merged:
    """Put together a day that two hosts changed since they both had `base`; no window is in it twice.

    A part that one of them changed is taken from that one. Of a part that both changed, theirs is taken: it
    was published first. A compacted day replaces the windows that it holds. A window of ours that the result
    lacks is staged again from its raw file.
    """
    before, mine, other = base.parts(), ours.parts(), theirs.parts()
    if _is_theirs_lost_in(ours, before, other):
        mine = {**before, **{name: part for name, part in mine.items() if name not in (*before, DAY_STEM)}}
        ours = DayFiles(
            {path: entry for path, entry in ours.entries.items() if path in _paths(mine)}, base.merged
        )
    chosen: Parts = {}
    sides: dict[str, DayFiles] = {}
    overruled = []
    for name in sorted({*before, *mine, *other}):
        part, side = mine.get(name), ours
        if part != other.get(name) and part != before.get(name):
            is_conflict = other.get(name) != before.get(name)
            if is_conflict and other.get(name) is not None:
                overruled += [name] if part is not None and name in before else []
                part, side = other[name], theirs
        else:
            part, side = other.get(name), theirs
        if part:
            chosen[name], sides[name] = part, side
    merged = sides[DAY_STEM].merged if DAY_STEM in chosen else frozenset[str]()
    for name in merged & chosen.keys():
        del chosen[name]
    digests = {path: digest for part in chosen.values() for path, digest in part.items()}
    entries = {path: _entry_of(path, digest, theirs, ours) for path, digest in digests.items()}
    return Merged(DayFiles(entries, merged), tuple(overruled))


def _entry_of(path: str, digest: str, *sides: DayFiles) -> Entry:
    """Return the entry of a file with a checksum from the first side that has it."""
    found = (side.entries[path] for side in sides if path in side.entries)
    return next(entry for entry in found if entry.sha256 == digest)


def _is_theirs_lost_in(ours: DayFiles, before: Parts, other: Parts) -> bool:
    """Tell whether our compaction holds a window that they staged again since, or that they compacted too."""
    if DAY_STEM in other and other[DAY_STEM] != before.get(DAY_STEM):
        return False  # theirs is taken anyway
    is_ours_new = ours.parts().get(DAY_STEM) != before.get(DAY_STEM)
    restaged = {name for name in before.keys() & other.keys() if other[name] != before[name]}
    return is_ours_new and bool(restaged & ours.merged)


def _paths(parts: Parts) -> set[str]:
    return {path for part in parts.values() for path in part}


def with_entries(files: DayFiles, entries: Iterable[Entry]) -> DayFiles:
    """Return a day with some of its entries replaced or added."""
    return DayFiles({**files.entries, **{entry.path: entry for entry in entries}}, files.merged)

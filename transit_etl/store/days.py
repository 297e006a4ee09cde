"""Brings a day of the lake together with the object store: takes in what is new there, publishes what is new.

What this host saw last of a day's manifest is kept; compared with that, a change is either ours or theirs.
"""

import hashlib
import logging
from collections.abc import Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from transit_base.listing import files_below
from transit_etl.checksums import Entry
from transit_etl.kept_facts import keep, recall
from transit_etl.paths import all_lake_files, lake_day, store_state_dir
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings
from transit_etl.store.errors import LostObjectError
from transit_etl.store.local_day import (
    N_TRANSFERS,
    DayInUseError,
    DayLockedError,
    LocalDay,
    OperatorDay,
    adopt,
    as_on_disk,
    day_locked,
    has_changed,
    read_day,
)
from transit_etl.store.manifest import (
    DayFiles,
    manifest_key,
    merge,
    object_key,
    read_manifest,
    write_manifest,
)

if TYPE_CHECKING:
    from transit_etl.store.objects import ObjectStore

N_TRIES = 8  # of publishing a day that other hosts change at the same time
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Seen:
    """The manifest of a day as this host saw it last; `etag` is None before there was one.

    The entries have the sizes and times that the files have on this host.
    """

    etag: str | None = None
    entries: list[Entry] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)

    @property
    def files(self) -> DayFiles:
        """The files of the manifest."""
        return DayFiles({entry.path: entry for entry in self.entries}, frozenset(self.merged))


_SEEN = TypeAdapter(Seen)


@dataclass(slots=True)
class SyncReport:
    """What went to the object store and came from it.

    `errors` name what cannot be sent or fetched before somebody acts; the rest was. What could not be sent
    for another reason waits: `n_raw_waiting` raw files and `n_days_waiting` days of the lake.
    """

    n_raw_sent: int = 0
    n_raw_fetched: int = 0
    n_files_sent: int = 0
    n_files_fetched: int = 0
    n_days_published: int = 0
    n_bytes_sent: int = 0
    n_bytes_fetched: int = 0
    n_raw_waiting: int = 0
    n_days_waiting: int = 0
    warnings: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def warn(self, message: str) -> None:
        """Add a warning, once if it is given again."""
        if message not in self.warnings:
            self.warnings.append(message)


@dataclass(frozen=True, slots=True)
class Place:
    """A data folder, and the place in an object store that it shares."""

    root: Path
    url: str

    @property
    def state(self) -> Path:
        """The folder of what this host knows of the place in the store."""
        return store_state_dir(self.root, self.url)

    def seen(self, day: OperatorDay) -> Seen:
        """Return what this host saw last of a day."""
        return recall(self._day_file(day), _SEEN) or Seen()

    def remember(self, day: OperatorDay, seen: Seen) -> None:
        """Keep what this host sees of a day now."""
        keep(self._day_file(day), _SEEN, seen)

    def known_days(self) -> set[tuple[str, date]]:
        """Return the operators and days that a manifest was seen of."""
        files = files_below(self.state / "days", "*", "*.json")
        return {(path.parent.name, date.fromisoformat(path.stem)) for path in files}

    def _day_file(self, day: OperatorDay) -> Path:
        return self.state / "days" / day.operator / f"{day.day.isoformat()}.json"


def place_of(settings: FolderSettings) -> Place:
    """Return the place that the settings share; only where they name one."""
    return Place(settings.data_dir, settings.lake_url or "")


def operator_day(settings: FolderSettings, operator: str, day: date) -> OperatorDay:
    """Return a day, and whether rows of it that broke a rule are still kept."""
    first = settings.clock.now().date() - DAY * settings.quarantine_keep_days
    return OperatorDay(operator, day, has_quarantine=day >= first)


def changed_days(settings: FolderSettings, operators: Collection[str]) -> list[OperatorDay]:
    """List the days of operators of which the folder has something that the store has not, or lost some."""
    place = place_of(settings)
    days = {lake_day(path) for path in all_lake_files(place.root)} | place.known_days()
    listed = [operator_day(settings, *day) for day in sorted(days) if day[0] in operators]
    return [day for day in listed if has_changed(place.root, day, _of(day, place.seen(day).files))]


def take_in(
    store: "ObjectStore",
    place: Place,
    day: OperatorDay,
    etag: str | None,
    report: SyncReport,
    *,
    waits: bool = True,
) -> None:
    """Let a day of the data folder follow the store's manifest, unless it is the one seen last.

    What was changed here stays; so does what is to be replaced while a build reads it, until the next time.
    `etag` is that of the manifest as it was listed. With `waits` false, a day that another process is
    changing stays as it is.
    """
    known = place.seen(day)
    if etag == known.etag and not has_changed(place.root, day, _of(day, known.files)):
        return
    try:
        with day_locked(place.root, day, waits=waits):
            _Exchange(store, place, day, report).follow(place.seen(day))
    except DayLockedError:
        return


def publish(store: "ObjectStore", place: Place, day: OperatorDay, report: SyncReport) -> None:
    """Send what the data folder has of a day and the store has not, then replace the manifest.

    If another host replaced it meanwhile, what it changed is taken in first. StoreError if the store fails.
    """
    with day_locked(place.root, day):
        exchange = _Exchange(store, place, day, report)
        for _ in range(N_TRIES):
            if exchange.is_published(place.seen(day)):
                return
    report.warn(f"{day} is changed by other hosts all the time: it is published by the next sync")


class _Exchange:
    """The steps between the data folder and the store for one day, whose lock is held."""

    def __init__(self, store: "ObjectStore", place: Place, day: OperatorDay, report: SyncReport) -> None:
        self._store = store
        self._place = place
        self._root = place.root
        self._day = day
        self._key = manifest_key(day.operator, day.day)
        self._report = report

    def follow(self, known: Seen) -> DayFiles | None:
        """Take in what others changed; return the day as it is now, None if it has to wait."""
        found = self._store.get(self._key)
        theirs = read_manifest(self._key, found.body) if found else DayFiles()
        # Where a manifest is gone, as of an emptied bucket, everything here counts as new.
        base = _of(self._day, known.files) if found else DayFiles()
        local = read_day(self._root, self._day, base)
        if local.is_halfway and found is None:
            self._warn("is being compacted, or that was cut short: `transit-etl compact` finishes it")
            return None
        merged = merge(base, local.files, _of(self._day, theirs))
        try:
            fetched = adopt(self._root, local, merged.files, base, self._fetch)
        except DayInUseError:
            self._warn("follows the store once the build that is running has ended")
            return None
        self._report.n_files_fetched += len(fetched)
        self._report.n_bytes_fetched += sum(entry.size_bytes for entry in fetched)
        self._remember(found.etag if found else None, theirs, local, fetched)
        if merged.overruled:
            self._warn("was staged again here and on another host, whose version is kept")
        return as_on_disk(self._root, merged.files, local, fetched)

    def is_published(self, known: Seen) -> bool:
        """Publish the day as it is here; tell whether nothing is left to do, also when it has to wait."""
        files = self.follow(known)
        if files is None:
            return True
        theirs = self._place.seen(self._day)
        if files.is_same(theirs.files):
            return True
        sent = [
            entry
            for entry in files.entries.values()
            if theirs.files.checksums.get(entry.path) != entry.sha256
        ]
        with ThreadPoolExecutor(N_TRANSFERS, thread_name_prefix="send") as transfers:
            list(transfers.map(self._send, sent))
        body = write_manifest(files)
        etag = (
            self._store.create(self._key, body)
            if theirs.etag is None
            else self._store.replace(self._key, body, theirs.etag)
        )
        if etag is None:
            return False
        self._report.n_days_published += 1
        self._report.n_files_sent += len(sent)
        self._report.n_bytes_sent += sum(entry.size_bytes for entry in sent)
        self._remember(etag, files, LocalDay(files, files.entries), ())
        return True

    def _send(self, entry: Entry) -> None:
        body = (self._root / entry.path).read_bytes()
        if hashlib.sha256(body).hexdigest() != entry.sha256:
            raise LostObjectError(f"{self._root / entry.path} changed by itself: `transit-etl verify`")
        self._store.put(object_key(entry), body)

    def _fetch(self, entry: Entry) -> bytes:
        found = self._store.get(object_key(entry))
        if found is None or hashlib.sha256(found.body).hexdigest() != entry.sha256:
            what = "is missing" if found is None else "has other content"
            raise LostObjectError(f"{object_key(entry)} {what} in the object store {self._store.url}")
        return found.body

    def _remember(self, etag: str | None, files: DayFiles, local: LocalDay, fetched: Iterable[Entry]) -> None:
        here = as_on_disk(self._root, files, local, fetched)
        entries = [here.entries[path] for path in sorted(here.entries)]
        self._place.remember(self._day, Seen(etag, entries, sorted(here.merged)))

    def _warn(self, what: str) -> None:
        self._report.warn(f"the lake's day {self._day} {what}")


def _of(day: OperatorDay, files: DayFiles) -> DayFiles:
    """Leave out the quarantine of a day that is older than it is kept."""
    return files if day.has_quarantine else files.without_quarantine()

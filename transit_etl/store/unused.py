"""Removes from the object store what no manifest names any more."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from transit_etl.paths import partition_of
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings
from transit_etl.store.days import Place, SyncReport, operator_day, place_of, publish
from transit_etl.store.errors import ManifestError
from transit_etl.store.local_day import OperatorDay
from transit_etl.store.manifest import DayFiles, day_of_manifest, is_quarantine, object_key, read_manifest
from transit_etl.store.sync import open_store

if TYPE_CHECKING:
    from transit_etl.store.objects import ObjectStore

UNUSED_AFTER = 7 * DAY  # who follows an older manifest has long ended, and what is being sent is younger
_TOPS = ("lake/", "quarantine/")


def remove_unused(settings: FolderSettings) -> tuple[int, int]:
    """Remove objects that no manifest of any host names, if they were written over a week ago.

    Old quarantine leaves the manifests first. Returns how many objects and bytes were removed: none where the
    settings name no store. ManifestError, before anything is removed, if a manifest cannot be read.
    """
    if settings.lake_url is None:
        return 0, 0
    store, place = open_store(settings), place_of(settings)
    _leave_out_quarantine(store, place, settings)
    until = datetime.now(UTC) - UNUSED_AFTER
    # Objects are listed before the manifests: what a manifest names that is published meanwhile is younger.
    old = {each.key: each for top in _TOPS for each in store.listed(top) if each.modified_at < until}
    unused = old.keys() - _used(store, place)
    n_removed = n_bytes = 0
    for key in sorted(unused):
        now = store.head(key)
        if now is not None and now.modified_at < until:  # else it was sent again since
            store.delete(key)
            n_removed, n_bytes = n_removed + 1, n_bytes + now.size_bytes
    return n_removed, n_bytes


def _leave_out_quarantine(store: "ObjectStore", place: Place, settings: FolderSettings) -> None:
    """Publish days without the rows that broke a rule and are older than they are kept."""
    for operator, day in sorted(place.known_days()):
        one = operator_day(settings, operator, day)
        if operator in settings.operators and not one.has_quarantine:
            entries = place.seen(one).entries
            if any(is_quarantine(entry.path) for entry in entries):
                publish(store, place, one, SyncReport())


def _used(store: "ObjectStore", place: Place) -> set[str]:
    """Return the objects that manifests name; one that this host has seen is not read again."""
    used = set()
    for each in store.listed("manifests/"):
        day, operator = day_of_manifest(each.key), partition_of(Path(each.key)).get("operator")
        if day is None or operator is None:
            raise ManifestError(f"{each.key} in the object store {store.url} is no manifest: nothing removed")
        seen = place.seen(OperatorDay(operator, day))
        files = seen.files if seen.etag == each.etag else _read(store, each.key)
        used |= {object_key(entry) for entry in files.entries.values()}
    return used


def _read(store: "ObjectStore", key: str) -> DayFiles:
    found = store.get(key)
    return read_manifest(key, found.body) if found else DayFiles()

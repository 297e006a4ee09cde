"""Compares the data folder with the object store, and runs steps between a pull and a push.

Where the settings name no store, nothing here does anything. Where the store does not answer, a step goes on
with what the data folder has; what it leaves waits there for the next sync.
"""

import functools
import logging
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

from pydantic import TypeAdapter

from transit_base.errors import TransitError
from transit_base.files import locked
from transit_etl.identity import claim
from transit_etl.kept_facts import keep, recall
from transit_etl.lake_reading import read_undamaged, windows_of
from transit_etl.paths import lake_files, last_sync_file, operators_of
from transit_etl.settings import FolderSettings, SomeSettings
from transit_etl.store.days import (
    SyncReport,
    changed_days,
    operator_day,
    place_of,
    publish,
    take_in,
)
from transit_etl.store.errors import (
    LostObjectError,
    ManifestError,
    NoStoreError,
    OtherServiceDaysError,
    StoreError,
)
from transit_etl.store.machine import machine_id
from transit_etl.store.manifest import day_of_manifest, manifests_of
from transit_etl.store.raw import fetch_raw, fetch_recent, forget_sent, send_raw, unsent_raw

if TYPE_CHECKING:
    from transit_etl.store.objects import ObjectStore

P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LastSync:
    """When the store was compared with last without an error; `error` is that of the last attempt, if any."""

    at: datetime | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Waiting:
    """What the data folder has and the store has not, and when they were compared last."""

    n_raw_files: int
    n_days: int
    last: LastSync

    def __bool__(self) -> bool:
        """Tell whether anything waits."""
        return bool(self.n_raw_files or self.n_days)

    def __str__(self) -> str:
        return f"{self.n_raw_files} raw files and {self.n_days} days of the lake"


_LAST = TypeAdapter(LastSync)
_SERVICE_DAYS = TypeAdapter(dict[str, str])


def open_store(settings: FolderSettings) -> "ObjectStore":
    """Open the store of the settings, once per process.

    UnsuitableStoreError unless it refuses writes that would overwrite those of other hosts.
    """
    if settings.lake_url is None:
        raise NoStoreError("there is no object store to compare with: TRANSIT_LAKE_URL is not set")
    endpoint = os.environ.get("AWS_ENDPOINT_URL")
    return _opened(settings.lake_url, machine_id(settings.data_dir), os.getpid(), endpoint)


@functools.lru_cache
def _opened(url: str, machine: str, _process: int, _endpoint: str | None) -> "ObjectStore":
    """Open a store for a process: what its parent opened before it was forked cannot be used in it."""
    from transit_etl.store.objects import ObjectStore  # noqa: PLC0415 - of an extra, and takes half a second

    store = ObjectStore(url)
    store.require_conditions(machine)
    return store


def require_same_service_days(store: "ObjectStore", settings: FolderSettings) -> None:
    """Raise OtherServiceDaysError if hosts that share the lake read an operator's service days otherwise.

    The first host that shares an operator says how they are read.
    """
    for operator in settings.operators:
        key, ours = f"operators/{operator}.json", _service_days(settings.of(operator))
        body = _SERVICE_DAYS.dump_json(ours)
        found = store.get(key)
        if found is None and store.create(key, body) is None:
            found = store.get(key)  # another host was faster
        if found is not None and found.body != body:
            theirs = found.body.decode(errors="replace")
            raise OtherServiceDaysError(
                f"the lake in {store.url} has the service days {theirs} of {operator}, this host "
                f"{body.decode()}: set the same (TRANSIT_TIMEZONE, TRANSIT_SERVICE_DAY_CUTOFF), or remove "
                f"the object {key} once all hosts have changed"
            )


def _service_days(settings: FolderSettings) -> dict[str, str]:
    return {"timezone": settings.timezone, "service_day_cutoff": f"{settings.service_day_cutoff:%H:%M:%S}"}


def sync(settings: FolderSettings) -> SyncReport:
    """Take in what other hosts published, then send and publish what is new here; return what was done.

    StoreError says that the store fails: what was done until then stays done, and the rest waits.
    """
    report = SyncReport()
    try:
        store = open_store(settings)
        _pull(store, settings, report)
        _push(store, settings, report)
    except TransitError as error:
        _remember(settings, str(error))
        raise
    _remember(settings, "; ".join(report.errors) or None)
    found = waiting(settings)
    report.n_raw_waiting, report.n_days_waiting = found.n_raw_files, found.n_days
    return report


def waiting(settings: FolderSettings, operators: Collection[str] | None = None) -> Waiting:
    """Count what waits for the store here, of some operators or of all, without asking the store."""
    last = recall(last_sync_file(settings.data_dir), _LAST) or LastSync()
    of = operators or settings.operators
    return Waiting(len(unsent_raw(settings, of)), len(changed_days(settings, of)), last)


def synced(step: Callable[Concatenate[SomeSettings, P], T]) -> Callable[Concatenate[SomeSettings, P], T]:
    """Return a step that takes in what other hosts published, runs, and publishes what it changed."""

    @functools.wraps(step)
    def run(settings: SomeSettings, /, *args: P.args, **kwargs: P.kwargs) -> T:
        is_there = pull_if_possible(settings)
        result = step(settings, *args, **kwargs)
        if is_there:
            push_if_possible(settings)
        return result

    return run


def raw_days_synced(
    step: Callable[Concatenate[SomeSettings, date, date, P], T],
) -> Callable[Concatenate[SomeSettings, date, date, P], T]:
    """Return a step on a range of UTC days as `synced` does, for which their raw files are fetched too."""

    @functools.wraps(step)
    def run(settings: SomeSettings, first: date, last: date, /, *args: P.args, **kwargs: P.kwargs) -> T:
        is_there = pull_if_possible(settings, (first, last))
        result = step(settings, first, last, *args, **kwargs)
        if is_there:
            push_if_possible(settings)
        return result

    return run


def pulled(step: Callable[Concatenate[SomeSettings, P], T]) -> Callable[Concatenate[SomeSettings, P], T]:
    """Return a step that takes in what other hosts published before it runs."""

    @functools.wraps(step)
    def run(settings: SomeSettings, /, *args: P.args, **kwargs: P.kwargs) -> T:
        pull_if_possible(settings)
        return step(settings, *args, **kwargs)

    return run


def pull_if_possible(settings: FolderSettings, raw_days: tuple[date, date] | None = None) -> bool:
    """Pull, and warn if the store fails; return whether it was there. Without one in the settings it is not.

    Of a range of UTC days the raw files are fetched too whose windows are staged already.
    """
    return _is_possible(settings, lambda store, report: _pull(store, settings, report, raw_days))


def pull_to_collect(settings: FolderSettings, first_day: date, passages_since: datetime | None) -> None:
    """Take in what a collector of the settings' operator reads, where other hosts published it.

    That is the lake from a UTC day on, and the raw files of passages whose windows began at a UTC instant or
    later, if one is given. It waits for other collectors of this host, which take in the same, but for no
    other step. No fault of the store is one of the collector's, which goes on with what is here.
    """

    def pull(store: "ObjectStore", report: SyncReport) -> None:
        with locked(place_of(settings).state / "collectors.lock"):
            _pull_days(store, settings, report, [settings.operator], first_day, waits=False)
            if passages_since is not None:
                fetch_recent(store, settings, "passages", passages_since, report)
        _claim_operators(settings)

    _is_possible(settings, pull, tolerated=TransitError)


def push_if_possible(settings: FolderSettings) -> bool:
    """Send and publish what is new here, and warn if the store fails, with how much waits."""
    return _is_possible(settings, lambda store, report: _push(store, settings, report))


def send_raw_if_possible(settings: FolderSettings) -> None:
    """Send finished raw files alone, as collectors do, for which no fault of the store is one of theirs."""
    _is_possible(settings, lambda store, report: send_raw(store, settings, report), tolerated=TransitError)


def _is_possible(
    settings: FolderSettings,
    exchange: Callable[["ObjectStore", SyncReport], None],
    tolerated: type[TransitError] = StoreError,
) -> bool:
    if settings.lake_url is None:
        return False
    report = SyncReport()
    try:
        exchange(open_store(settings), report)
    except tolerated as error:
        _remember(settings, str(error))
        _log.warning("%s; %s wait in the data folder for `transit-etl sync`", error, waiting(settings))
        return False
    for message in (*report.errors, *report.warnings):
        _log.warning(message)
    _remember(settings, "; ".join(report.errors) or None)
    return True


def _pull(
    store: "ObjectStore",
    settings: FolderSettings,
    report: SyncReport,
    raw_days: tuple[date, date] | None = None,
) -> None:
    _pull_days(store, settings, report, settings.operators)
    fetch_raw(store, settings, lambda operator, day: _staged(settings, operator, day), report, raw_days)
    _claim_operators(settings)


def _pull_days(
    store: "ObjectStore",
    settings: FolderSettings,
    report: SyncReport,
    operators: Iterable[str],
    first: date = date.min,
    *,
    waits: bool = True,
) -> None:
    """Let the UTC days of the lake from `first` on follow the store.

    With `waits` false, those that another process of this host is changing are left out.
    """
    claim(settings)
    require_same_service_days(store, settings)
    place = place_of(settings)
    manifests: dict[tuple[str, date], str | None] = {}
    for operator in operators:
        manifests |= {day: None for day in place.known_days() if day[0] == operator}
        manifests |= {
            (operator, day): each.etag
            for each in store.listed(manifests_of(operator))
            if (day := day_of_manifest(each.key)) is not None
        }
    for (operator, day), etag in sorted(manifests.items()):
        if day < first:
            continue
        one = operator_day(settings, operator, day)
        if etag is None and place.seen(one).etag is not None:  # it is gone, as of a bucket that was emptied
            forget_sent(place, operator, day)
        try:
            take_in(store, place, one, etag, report, waits=waits)
        except (LostObjectError, ManifestError) as error:
            report.errors.append(str(error))


def _claim_operators(settings: FolderSettings) -> None:
    """Let the data folder say that it holds what was taken in."""
    for operator in operators_of(settings.data_dir):
        if operator in settings.operators:
            claim(settings.of(operator))


def _push(store: "ObjectStore", settings: FolderSettings, report: SyncReport) -> None:
    claim(settings)
    send_raw(store, settings, report)
    place = place_of(settings)
    for day in changed_days(settings, settings.operators):
        try:
            publish(store, place, day, report)
        except (LostObjectError, ManifestError) as error:
            report.errors.append(str(error))


def _staged(settings: FolderSettings, operator: str, day: date) -> set[str]:
    return read_undamaged(windows_of, lake_files(settings.data_dir, "requests", operator, day))


def _remember(settings: FolderSettings, error: str | None) -> None:
    path = last_sync_file(settings.data_dir)
    before = recall(path, _LAST) or LastSync()
    keep(path, _LAST, LastSync(before.at if error else datetime.now(UTC), error))

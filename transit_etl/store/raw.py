"""Sends finished raw files to the object store, and fetches those that other hosts collected.

A raw file never changes, so that an object of its name is either the same file, or of another host that used
the same name: then nothing is overwritten.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from transit_base.files import in_words, locked, open_atomic, passed_over_texts
from transit_base.listing import files_below, passing_over
from transit_base.stamps import stamp
from transit_etl.checksums import CHANGED, Entry, read_checksums
from transit_etl.kept_facts import keep, recall
from transit_etl.paths import RAW_SUFFIX, checksum_list, partition_of, raw_dir, raw_files
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings
from transit_etl.store.days import Place, SyncReport, place_of
from transit_etl.store.local_day import N_TRANSFERS

if TYPE_CHECKING:
    from transit_etl.store.objects import ObjectStore

_FETCH_LOCK = "fetch.lock"  # held by who fetches: two would write one file
RECENT = 7 * DAY  # raw files of earlier days are looked for once a day
_SENT = TypeAdapter(dict[str, str])
_LISTED_ON = TypeAdapter(date)
_OperatorDay = tuple[str, date]


def unsent_raw(settings: FolderSettings, operators: Iterable[str]) -> list[Path]:
    """List the finished raw files of operators that the store is not known to have, by operator and day."""
    place, by_day = place_of(settings), _by_day(settings, operators)
    return [path for day in sorted(by_day) for path in _unsent(place, *day, by_day[day])]


def send_raw(store: "ObjectStore", settings: FolderSettings, report: SyncReport) -> None:
    """Send the finished raw files that the store has not; what was sent is remembered also if one fails."""
    place, checked = place_of(settings), None
    with passing_over() as unlisted:
        by_day = _by_day(settings, settings.operators)
    report.errors += passed_over_texts(unlisted)
    for day, paths in sorted(by_day.items()):
        if not (unsent := _unsent(place, *day, paths)):
            continue
        if checked is None:
            checked, _ = read_checksums(checksum_list(place.root))
        sending = _Sending(store, place, checked, report)
        try:
            with ThreadPoolExecutor(N_TRANSFERS, thread_name_prefix="send") as transfers:
                sizes = [size for size in transfers.map(sending.send, unsent) if size is not None]
        finally:
            _remember(place, *day, added=sending.sent)
        report.n_raw_sent += len(sizes)
        report.n_bytes_sent += sum(sizes)


def fetch_raw(
    store: "ObjectStore",
    settings: FolderSettings,
    staged: Callable[[str, date], Collection[str]],
    report: SyncReport,
    days: tuple[date, date] | None = None,
) -> None:
    """Fetch the raw files of other hosts that are not staged; of the range of `days`, if given, all.

    Without `days`, those of the last week are looked for, and of all time once a day.
    """
    place, today = place_of(settings), settings.clock.now().date()
    is_full = days is None and recall(place.state / "raw-listed.json", _LISTED_ON) != today
    first = days[0] if days else None if is_full else today - RECENT
    found = _grouped(_listed(store, settings, first))
    for (operator, day), objects in sorted(found.items()):
        if days and not days[0] <= day <= days[1]:
            continue
        known = set() if days else staged(operator, day)
        wanted = [path for path in objects if _window(path) not in known]
        with locked(place.state / _FETCH_LOCK):
            _Fetching(store, place, report).fetch_missing(operator, day, wanted)
    if is_full:
        _forget_others(place, settings, {path for objects in found.values() for path in objects})
        keep(place.state / "raw-listed.json", _LISTED_ON, today)


def fetch_recent(
    store: "ObjectStore", settings: FolderSettings, endpoint: str, since: datetime, report: SyncReport
) -> None:
    """Fetch the raw files of an endpoint of one operator whose windows began at a UTC instant or later.

    Staged or not. Nothing is fetched while another process of this host does.
    """
    place = place_of(settings)
    folder = f"{raw_dir(Path()).name}/operator={settings.operator}/endpoint={endpoint}/"
    after = f"{folder}date={since.date().isoformat()}/{stamp(since)}"
    found = _grouped(_listed_below(store, settings.operator, folder, after))
    with suppress(BlockingIOError), locked(place.state / _FETCH_LOCK, waits=False):
        for (operator, day), paths in sorted(found.items()):
            _Fetching(store, place, report).fetch_missing(operator, day, paths)


def raw_in_store(store: "ObjectStore", root: Path, path: Path) -> bool:
    """Read the object of a raw file to its end; return whether it is the same file."""
    found = store.get(str(path.relative_to(root)))
    return found is not None and found.body == path.read_bytes()


@dataclass(frozen=True, slots=True)
class _Sending:
    store: "ObjectStore"
    place: Place
    checked: dict[str, Entry]
    report: SyncReport
    sent: dict[str, str] = field(default_factory=dict)

    def send(self, path: Path) -> int | None:
        """Send a file; return its size, None if nothing was to be sent or could be."""
        name = str(path.relative_to(self.place.root))
        try:
            body = path.read_bytes()
        except OSError as error:
            self.report.errors.append(in_words(error))
            return None
        digest = hashlib.sha256(body).hexdigest()
        if name in self.checked and self.checked[name].sha256 != digest:
            self.report.errors.append(f"{path}: {CHANGED}: `transit-etl restore`")
            return None
        is_new = self.store.create(name, body) is not None
        if not is_new and ((existing := self.store.get(name)) is None or existing.body != body):
            self.report.errors.append(
                f"{name}: the object store has another file of this name; nothing is overwritten"
            )
            return None
        self.sent[name] = digest
        return len(body) if is_new else None


@dataclass(frozen=True, slots=True)
class _Fetching:
    store: "ObjectStore"
    place: Place
    report: SyncReport
    fetched: dict[str, str] = field(default_factory=dict)

    def fetch_missing(self, operator: str, day: date, paths: Iterable[str]) -> None:
        """Fetch the raw files of a day that are not here; the lock of fetching is held."""
        missing = [path for path in paths if not (self.place.root / path).exists()]
        try:
            with ThreadPoolExecutor(N_TRANSFERS, thread_name_prefix="fetch") as transfers:
                sizes = [size for size in transfers.map(self.fetch, missing) if size is not None]
        finally:
            _remember(self.place, operator, day, added=self.fetched)
        self.report.n_raw_fetched += len(sizes)
        self.report.n_bytes_fetched += sum(sizes)

    def fetch(self, path: str) -> int | None:
        """Fetch a file; return its size, None if it is gone or damaged."""
        found = self.store.get(path)
        if found is None:
            return None  # removed since it was listed
        if not found.is_whole:
            self.report.errors.append(f"{path} in the object store is not the file that was sent")
            return None
        with open_atomic(self.place.root / path) as file:
            file.write(found.body)
        self.fetched[path] = found.sha256 or ""
        return len(found.body)


def _by_day(settings: FolderSettings, operators: Iterable[str]) -> dict[_OperatorDay, list[Path]]:
    """Return the finished raw files of operators, sorted, by operator and UTC day."""
    found: dict[_OperatorDay, list[Path]] = defaultdict(list)
    for operator in operators:
        for path in sorted(raw_files(settings.data_dir, operator)):
            found[operator, date.fromisoformat(partition_of(path)["date"])].append(path)
    return found


def _unsent(place: Place, operator: str, day: date, paths: list[Path]) -> list[Path]:
    sent = recall(_sent_file(place, operator, day), _SENT) or {}
    return [path for path in paths if str(path.relative_to(place.root)) not in sent]


def _remember(
    place: Place, operator: str, day: date, added: Mapping[str, str], removed: Collection[str] = ()
) -> None:
    """Keep which raw files of a day the store has, with their checksums."""
    path = _sent_file(place, operator, day)
    if added or removed:
        with locked(place.state / "raw.lock"):
            known: dict[str, str] = recall(path, _SENT) or {}
            sent = {**known, **added}
            keep(path, _SENT, {name: sent[name] for name in sorted(sent.keys() - set(removed))})


def _forget_others(place: Place, settings: FolderSettings, listed: Collection[str]) -> None:
    """Let raw files that are gone from the store count as unsent: they are sent again if they are here.

    Those of today may have been sent since it was listed.
    """
    today = settings.clock.now().date()
    for operator in settings.operators:
        for path in files_below(place.state / "raw", operator, "*.json"):
            if (day := date.fromisoformat(path.stem)) < today:
                gone = (recall(path, _SENT) or {}).keys() - set(listed)
                _remember(place, operator, day, added={}, removed=gone)


def forget_sent(place: Place, operator: str, day: date) -> None:
    """Let the raw files of a day count as unsent: none is overwritten by sending it again."""
    with locked(place.state / "raw.lock"):
        _sent_file(place, operator, day).unlink(missing_ok=True)


def _sent_file(place: Place, operator: str, day: date) -> Path:
    return place.state / "raw" / operator / f"{day.isoformat()}.json"


def _listed(store: "ObjectStore", settings: FolderSettings, first: date | None) -> Iterator[str]:
    """Yield the paths of the raw files in the store, of a UTC day and later ones if given."""
    for operator in settings.operators:
        for endpoint in store.folders(f"{raw_dir(Path()).name}/operator={operator}/"):
            after = f"{endpoint}date={first.isoformat()}" if first else ""
            yield from _listed_below(store, operator, endpoint, after)


def _listed_below(store: "ObjectStore", operator: str, folder: str, after: str) -> Iterator[str]:
    """Yield the paths of an operator's raw files in a folder of the store, from a key on if one is given."""
    for each in store.listed(folder, after):
        if _is_raw(each.key, operator):
            yield each.key


def _grouped(paths: Iterable[str]) -> dict[_OperatorDay, list[str]]:
    """Group paths of raw files by operator and UTC day, each group in their order."""
    found: dict[_OperatorDay, list[str]] = defaultdict(list)
    for path in paths:
        parts = partition_of(Path(path))
        found[parts["operator"], date.fromisoformat(parts["date"])].append(path)
    return found


def _is_raw(key: str, operator: str) -> bool:
    """Tell whether a key is the path of a raw file of an operator, and of nothing outside the data folder."""
    path = Path(key)
    parts = partition_of(path)
    try:
        date.fromisoformat(parts.get("date", ""))
    except ValueError:
        return False
    names = ("raw", f"operator={operator}", f"endpoint={parts.get('endpoint')}", f"date={parts['date']}")
    return path.parts[:-1] == names and path.name.endswith(RAW_SUFFIX)


def _window(path: str) -> str:
    return Path(path).name.removesuffix(RAW_SUFFIX)

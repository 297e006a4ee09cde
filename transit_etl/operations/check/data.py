"""Checks what was collected, staged, built and published, by its age and by what was refused."""

from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import groupby
from pathlib import Path

from transit_base.listing import listed, passing_over
from transit_base.stamps import stamped_at
from transit_etl.endpoints import CADENCES, ENDPOINTS
from transit_etl.identity import difference, outdated_of
from transit_etl.operations.check.problem import Problem
from transit_etl.operations.status import Status, ago, last_answer
from transit_etl.operations.status.lake import LastDay
from transit_etl.paths import is_rehearsed, lake_day, lake_files, raw_dir
from transit_etl.settings import BuildSettings, FolderSettings, Settings

DAY = timedelta(days=1)
_ZONE = "; is TRANSIT_TIMEZONE right?"
_CHECKED = [each for each in ENDPOINTS.values() if not CADENCES[each.dag].is_paused]


def problems(settings: Settings, status: Status, day: LastDay) -> Iterator[Problem]:
    """Yield what is too old, was refused, or is new in the data."""
    folder = list(_folder(settings, status))
    yield from folder
    began_at = _began_at(settings) or (None if status.rehearsals else _lake_began_at(settings))
    if began_at is None:
        if not folder:
            yield Problem("empty", _empty(settings))
        return
    age = status.now - began_at
    yield from _last_answers(settings, status, age)
    yield from _backup(settings, status)
    yield from _store(settings, status)
    if age > _staged_after(settings):
        yield from _rows(status, day)
    yield from _refused(settings, status, day)
    yield from _misleading(settings, status)
    yield from _waiting(settings, status)
    yield from _published(settings, status, age)


def _empty(settings: FolderSettings) -> str:
    folder = settings.data_dir.absolute()
    return f"nothing was collected into {folder} yet: is TRANSIT_DATA_DIR right? `transit-etl run` begins"


def _folder(settings: FolderSettings, status: Status) -> Iterator[Problem]:
    """Say if the data folder is not what the settings say, or of another time."""
    if other := difference(settings):
        yield Problem("other_folder", other)
    elif outdated := outdated_of(settings):
        yield Problem("outdated_folder", outdated)
    if status.rehearsals:
        yield Problem(
            "rehearsed",
            f"{settings.data_dir.absolute()} holds answers of a rehearsal on a virtual clock "
            f"({', '.join(map(str, status.rehearsals))}), which are not judged: collect a real interface "
            "into a folder of its own (TRANSIT_DATA_DIR)",
        )


def _began_at(settings: FolderSettings) -> datetime | None:
    """Return when the first window of the operator began that is of no rehearsal; None if there is none."""
    with passing_over():
        folders = listed(raw_dir(settings.data_dir), f"operator={settings.operator}", "*", "date=*")
        for _, of_day in groupby(sorted(folders, key=_name), _name):
            names = (path.name for folder in of_day for path in listed(folder, "*"))
            began = [at for name in names if not is_rehearsed(name) and (at := stamped_at(name))]
            if began:
                return min(began).replace(tzinfo=UTC)
    return None


def _lake_began_at(settings: FolderSettings) -> datetime | None:
    """Return the first UTC day of the operator's lake, of which other hosts may have the raw files."""
    with passing_over():
        days = [lake_day(path)[1] for path in lake_files(settings.data_dir, "requests", settings.operator)]
    return datetime.combine(min(days), time(), UTC) if days else None


def _name(path: Path) -> str:
    return path.name


def _last_answers(settings: Settings, status: Status, age: timedelta) -> Iterator[Problem]:
    for endpoint in _CHECKED:
        if endpoint.name == "news_details":  # there may be no new item for weeks
            continue
        every = CADENCES[endpoint.dag].every
        longest = (
            timedelta(minutes=settings.check_polled_minutes)
            if every is None
            else every + timedelta(hours=settings.check_late_hours)
        )
        last = status.last_good_at.get(endpoint.name)
        if (age if last is None else status.now - last) > longest:
            yield Problem(
                f"answers_{endpoint.name}",
                f"{endpoint.name}: no good answer for over {_span(longest)}; "
                f"last good answer {last_answer(last, status.now)}",
            )


def _rows(status: Status, day: LastDay) -> Iterator[Problem]:
    for dataset in ("lines", "line_stops", "timetables", "passages"):
        endpoint = next(each.name for each in _CHECKED if each.dataset == dataset)
        last = status.last_good_at.get(endpoint)
        if last is not None and status.now - last < DAY and not day.n_rows.get(dataset):
            yield Problem(f"rows_{dataset}", f"{dataset}: no row was staged of the answers of the last day")


def _refused(settings: Settings, status: Status, day: LastDay) -> Iterator[Problem]:
    for rejection in status.rejected:
        if status.now - rejection.last_received_at < DAY:
            hint = _ZONE if rejection.rule == "waits_mostly_agree" else ""
            yield Problem(
                f"rejected_{rejection.dataset}_{rejection.rule}",
                f"{rejection.dataset} of {rejection.window} was rejected by {rejection.rule}: "
                f"{rejection.reason}{hint}",
            )
    for dataset, n_rows in day.n_set_aside.items():
        n_all = n_rows + day.n_rows.get(dataset, 0)
        if n_rows / n_all > settings.check_quarantine_share:
            is_of_zone = dataset == "passages" and day.n_broken.get("wait_agrees_with_clock", 0) > n_all / 2
            yield Problem(
                f"quarantine_{dataset}",
                f"{n_rows:,} of {n_all:,} rows of {dataset} of the last day broke a rule (data/quarantine)"
                f"{_ZONE if is_of_zone else ''}",
            )
    if status.new_names:
        yield Problem("drift", f"listed for the first time in the last day: {', '.join(status.new_names)}")


def _misleading(settings: Settings, status: Status) -> Iterator[Problem]:
    for each in status.misleading:
        if each.answer_share > settings.check_quarantine_share:
            began_at = each.began_at.replace(tzinfo=UTC)
            share, since = f"{each.answer_share:.0%}", f"{began_at:%Y-%m-%d %H:%M} UTC"
            yield Problem(
                f"misleading_{each.kind}",
                f"{share} of the answers about passages since {since}, at {each.n_stops} stops, mislead. "
                f"{each.finding} For example: {each.example}. No setting here is the cause: ask those who "
                "run the interface",
                began_at,
            )


def _waiting(settings: Settings, status: Status) -> Iterator[Problem]:
    oldest = status.waiting_since
    if oldest is not None and status.now - oldest > _staged_after(settings):
        yield Problem(
            "staging",
            f"{sum(status.waiting.values())} finished windows are not staged, the oldest began "
            f"{ago(oldest, status.now)}: `transit-etl stage`",
        )


def _staged_after(settings: Settings) -> timedelta:
    """Return how long after its beginning a window must be staged."""
    return timedelta(minutes=settings.check_polled_minutes, seconds=settings.window_seconds)


def _published(settings: BuildSettings, status: Status, age: timedelta) -> Iterator[Problem]:
    longest = timedelta(hours=settings.check_published_hours)
    if status.published_error is not None:
        yield Problem("published", status.published_error)
    if status.published_at is None:
        if status.published_error is None and age > longest:
            yield Problem("published", "nothing is published yet: `transit-etl build`, `transit-etl publish`")
        return
    if status.published_error is None and status.real_now - status.published_at > longest:
        yield Problem(
            "published",
            f"the published warehouse was made {ago(status.published_at, status.real_now)}, "
            f"over {_span(longest)} ago",
        )
    if status.built_at is not None and status.built_at - status.published_at > longest:
        yield Problem(
            "build", "the last build is not published: it failed, was killed, or was never published"
        )
    if status.published_outdated is not None:
        yield Problem("version", status.published_outdated)


def _backup(settings: Settings, status: Status) -> Iterator[Problem]:
    last, longest = status.last_backup, timedelta(hours=settings.check_backup_hours)
    if last is not None and status.real_now - last.made_at > longest:
        yield Problem(
            "backup",
            f"the last whole backup ({last.path}) was made {ago(last.made_at, status.real_now)}, "
            f"over {_span(longest)} ago: `transit-etl backup`",
        )


def _store(settings: Settings, status: Status) -> Iterator[Problem]:
    """Say if the store fails, or something waits for it, for longer than polled answers may be missing."""
    store = status.store
    if store is None or not (store or store.last.error):
        return
    last_at = store.last.at
    if last_at is None or status.real_now - last_at > timedelta(minutes=settings.check_polled_minutes):
        why = f": {store.last.error}" if store.last.error else ": `transit-etl sync`"
        compared = ago(last_at, status.real_now)
        yield Problem("store", f"{store} wait for the object store, last compared {compared}{why}")


def _span(length: timedelta) -> str:
    hours, minutes = length / timedelta(hours=1), length / timedelta(minutes=1)
    return f"{hours:g} hours" if hours > 1 else f"{minutes:g} minutes"

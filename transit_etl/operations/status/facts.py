"""Puts together the state of an installation: requests, coverage, windows, and the age of the warehouse."""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path

from transit_base.files import passed_over_texts
from transit_base.listing import passing_over
from transit_base.quoting import sql_text
from transit_etl.clock import naive_utc
from transit_etl.collect.allowance.budget_store import BudgetStoreError
from transit_etl.identity import Rehearsal, rehearsals_in
from transit_etl.operations.backup import LastBackup, last_backup
from transit_etl.operations.status import lake
from transit_etl.operations.status.allowance import KindRequests, Pace, read_pace, requests_by_kind
from transit_etl.operations.status.coverage import (
    LineCoverage,
    line_coverage,
    line_directions,
    longest_unseen,
)
from transit_etl.operations.status.lake import Rejection
from transit_etl.operations.status.last_hour import EndpointRequests, Evidence, LastHour, last_hour
from transit_etl.operations.status.outage import Outage, read_outage
from transit_etl.operations.status.unstaged import unstaged_answers
from transit_etl.paths import (
    build_database,
    is_rehearsed,
    misplaced_folders,
    open_raw_files,
    published_database,
)
from transit_etl.settings import CollectSettings, Settings
from transit_etl.stage.lake import waiting_windows
from transit_etl.store.sync import Waiting
from transit_etl.store.sync import waiting as waiting_for_store
from transit_etl.warehouse import (
    AuditFigures,
    Misleading,
    NotPublishedError,
    QueryError,
    UnreadableError,
    audit_figures,
    last_durations,
    lasting_findings,
    lost_publication,
    outdated,
    published_findings,
    query,
)

NEW_FOR = timedelta(days=1)
_BUILD = f"""
select (select max(build_number) from quality.builds), max(received_at) filter ({lake.NOT_REHEARSED})
from core.requests where operator = {{operator}}
"""
_TABLES = """
select concat(schema_name, '.', table_name) as name from duckdb_tables()
union all
select concat(schema_name, '.', view_name) from duckdb_views()
"""
_NEW_NAMES = """
select concat(kind, ' ', name, ' of ', dataset) as name, first_seen_at from quality.drift
where operator = {operator} and first_seen_at > '{since}'::timestamp order by all
"""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of an installation, which `status --json` prints field by field.

    Instants are UTC; `now` is the time of the pipeline's clock, `real_now` the machine's, by which files are
    dated. `pace` is None before anything was collected, and where the request budget cannot be read:
    `budget_error` says why. `outage` is None while the upstream gives usable answers. `outcomes` counts the
    requests of the last hour, and `last_good_at` is, by endpoint; in it, and of stops, what is older than
    `LEDGER_DAYS` counts as never. `clock_error_seconds` is how far the clock is ahead of the timestamps of
    answers. `lines` has the least covered first. `waiting` counts by endpoint the finished windows that are
    not staged, the oldest of which began at `waiting_since`, `n_open` the windows being written. `findings`
    says what is odd in the published data, `misleading` what misleads in the last two windows of its
    answers about passages, `published_outdated` who made it if not this version, `audit` how far its
    estimates were off, `new_names` which keys and codes were listed for the first time in the last day.
    `unseen` is the stop of a listed line whose last good answer is the oldest, `unseen_since` when that
    was, if ever. `build_seconds` and `publish_seconds` are how long the last build that passed, and the
    last publication, took. Answers after `now` are not counted: `future_until` is the last of them. Nor are
    those of `rehearsals`, in the ledger or in `published_until`: they are of a virtual clock, whatever time
    they speak of. `misplaced` are folders that stand where files belong, and are passed over, as is what
    cannot be read: `unreadable` says why. `store` is what waits for the object store, if there is one.
    `free_bytes` are those of the disk that the data folder is on, or will be.
    """

    now: datetime
    real_now: datetime
    clock_shift_seconds: float
    data_dir: Path
    operator: str
    base_url: str
    rate_per_minute: int
    pace: Pace | None
    budget_error: str | None
    usage: list[KindRequests]
    outcomes: dict[str, dict[str, int]]
    outage: Outage | None
    last_good_at: dict[str, datetime | None]
    clock_error_seconds: float | None
    evidence: Evidence
    lines: list[LineCoverage]
    n_open: int
    waiting: dict[str, int]
    waiting_since: datetime | None
    rejected: list[Rejection]
    n_stops: int
    n_stops_never_seen: int
    unseen: str | None
    unseen_since: datetime | None
    built_at: datetime | None
    build_seconds: float | None
    published_at: datetime | None
    publish_seconds: float | None
    published_build: int | None
    published_until: datetime | None
    published_outdated: str | None
    published_error: str | None
    new_names: list[str]
    findings: list[str]
    misleading: list[Misleading]
    audit: AuditFigures | None
    future_until: datetime | None
    rehearsals: tuple[Rehearsal, ...]
    misplaced: list[Path]
    unreadable: list[str]
    last_backup: LastBackup | None
    store: Waiting | None
    free_bytes: int


def read_status(settings: Settings) -> Status:
    """Read raw files, lake, budget and published warehouse; nothing is written or locked.

    What cannot be listed or read is passed over, and named.
    """
    with passing_over() as unreadable:
        status = _read_status(settings)
    return replace(status, unreadable=passed_over_texts(unreadable))


def _read_status(settings: Settings) -> Status:
    clock = settings.clock
    now = clock.now()
    waiting = waiting_windows(settings.data_dir, leaves_out_damaged=True)
    unstaged = unstaged_answers(waiting, settings.operator, now)
    staged = lake.last_answers(settings, now)
    with last_hour(settings, now) as hour:
        requests = _requests(hour.requests(), staged.of_endpoints, unstaged.of_endpoints)
        answered_at = _latest(staged.of_stops, unstaged.of_stops, hour.last_good_answers())
        evidence = hour.evidence()
        outage = _outage(hour, settings, now, requests.values())
        clock_error = hour.clock_error_seconds()
    directions = line_directions(settings)
    stops = sorted({stop for direction in directions for stop in direction.stop_codes})
    unseen = longest_unseen(stops, answered_at)
    pace, budget_error = _pace(settings)
    rehearsals = rehearsals_in(settings)
    published, durations = _published(settings, now, rehearsals), last_durations(settings.data_dir)
    return Status(
        now=now,
        real_now=clock.to_real(now),
        clock_shift_seconds=settings.clock_shift_seconds,
        data_dir=settings.data_dir.absolute(),
        operator=settings.operator,
        base_url=settings.base_url,
        rate_per_minute=settings.rate_per_minute,
        pace=pace,
        budget_error=budget_error,
        usage=requests_by_kind(requests.values(), settings.rate_per_minute),
        outcomes={name: each.outcomes for name, each in requests.items() if each.outcomes},
        outage=outage,
        last_good_at={name: each.last_good_at for name, each in requests.items()},
        clock_error_seconds=clock_error,
        evidence=evidence,
        lines=line_coverage(directions, answered_at, now),
        n_open=len(list(open_raw_files(settings.data_dir))),
        waiting=dict(Counter(window.endpoint for window in waiting)),
        waiting_since=min(
            (each.began_at.replace(tzinfo=UTC) for each in waiting if not is_rehearsed(each.name)),
            default=None,
        ),
        rejected=lake.rejections(settings, now),
        n_stops=len(stops),
        n_stops_never_seen=sum(code not in answered_at for code in stops),
        unseen=unseen,
        unseen_since=answered_at.get(unseen) if unseen else None,
        built_at=_written_at(build_database(settings.data_dir)),
        build_seconds=durations.get("build"),
        published_at=_written_at(published_database(settings.data_dir)),
        publish_seconds=durations.get("publish"),
        published_build=published.build,
        published_until=published.until,
        published_outdated=published.outdated,
        published_error=published.error,
        new_names=published.new_names,
        findings=published.findings,
        misleading=published.misleading,
        audit=published.audit,
        future_until=lake.last_future_answer(settings, now),
        rehearsals=rehearsals,
        misplaced=misplaced_folders(settings.data_dir.absolute()),
        unreadable=[],
        last_backup=last_backup(settings.data_dir),
        store=waiting_for_store(settings, [settings.operator]) if settings.lake_url else None,
        free_bytes=_free_bytes(settings.data_dir.absolute()),
    )


def _requests(
    of_hour: Iterable[EndpointRequests],
    staged: Mapping[str, datetime | None],
    unstaged: Mapping[str, datetime | None],
) -> dict[str, EndpointRequests]:
    """Return the requests of the last hour, with the last good answers of all time that is read."""
    by_endpoint = {each.endpoint: each for each in of_hour}
    of_hour_at = {name: each.last_good_at for name, each in by_endpoint.items()}
    last_good_at = _latest(of_hour_at, staged, unstaged)
    return {
        name: replace(by_endpoint.get(name, EndpointRequests(name)), last_good_at=last_good_at.get(name))
        for name in sorted(by_endpoint.keys() | staged.keys() | unstaged.keys())
    }


def _outage(
    hour: LastHour, settings: CollectSettings, now: datetime, requests: Iterable[EndpointRequests]
) -> Outage | None:
    outage = read_outage(hour, settings, now)
    if outage is None or outage.last_good_at is not None:
        return outage
    unstaged = [each.last_good_at for each in requests if each.last_good_at is not None]
    return replace(outage, last_good_at=max(unstaged, default=None))


def _latest(*answers: Mapping[str, datetime | None]) -> dict[str, datetime]:
    """Return the latest instant of each name in any of the answers."""
    latest: dict[str, datetime] = {}
    for name, at in chain.from_iterable(each.items() for each in answers):
        if at is not None:
            latest[name] = max(at, latest.get(name, at))
    return latest


def _pace(settings: CollectSettings) -> tuple[Pace | None, str | None]:
    try:
        return read_pace(settings), None
    except BudgetStoreError as error:
        return None, str(error)


@dataclass(frozen=True, slots=True)
class _Published:
    """What the published warehouse says of itself."""

    build: int | None = None
    until: datetime | None = None
    outdated: str | None = None
    error: str | None = None
    new_names: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    misleading: list[Misleading] = field(default_factory=list)
    audit: AuditFigures | None = None


def _published(settings: Settings, now: datetime, rehearsals: Sequence[Rehearsal]) -> _Published:
    """Read the published warehouse; one of an older version does not say everything."""
    lost = lost_publication(settings.data_dir)
    try:
        operator = sql_text(settings.operator)
        build, until = query(settings, _BUILD.format(operator=operator)).to_pylist()[0].values()
        tables = set(query(settings, _TABLES)["name"].to_pylist())
        findings = published_findings(settings)
        last_windows = timedelta(seconds=2 * settings.window_seconds)
        misleading = lasting_findings(settings, until - last_windows) if until else []
        audit = audit_figures(lambda sql: query(settings, sql).to_pylist(), settings.operator)
        since = naive_utc(now - NEW_FOR)
        drift = _NEW_NAMES.format(operator=operator, since=since)
        names = query(settings, drift).to_pylist() if "quality.drift" in tables else []
    except NotPublishedError:
        return _Published(error=lost)
    except UnreadableError as error:  # damaged, or not for us to read: all the rest can still be said
        return _Published(error=lost or str(error))
    except QueryError as error:
        return _Published(
            error=lost or f"the published warehouse cannot be read: {error}: `transit-etl publish`"
        )
    return _Published(
        build=build,
        until=until and until.replace(tzinfo=UTC),
        outdated=outdated(settings),
        error=lost,
        new_names=[
            str(each["name"])
            for each in names
            if not any(one.has(each["first_seen_at"].replace(tzinfo=UTC)) for one in rehearsals)
        ],
        findings=findings,
        misleading=misleading,
        audit=audit,
    )


def _free_bytes(folder: Path) -> int:
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    return shutil.disk_usage(nearest).free


def _written_at(path: Path) -> datetime | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None

"""Describes an installation as it is now: what was collected lately, what waits, how old the warehouse is."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb

from transit_etl.clock import Clock
from transit_etl.collect.allowance.budget import credential
from transit_etl.collect.allowance.budget_state import Limits
from transit_etl.collect.allowance.budget_store import SqlStore
from transit_etl.collect.catalogue import Catalogue, LineDirection, NothingKnownError
from transit_etl.collect.raw.windows import HOUR
from transit_etl.endpoints import ENDPOINTS, Kind
from transit_etl.paths import build_database, lake_files, lake_glob, open_raw_files, published_database
from transit_etl.settings import Settings
from transit_etl.stage.lake import staged_windows
from transit_etl.stage.raw import finished_windows
from transit_etl.status.last_hour import Evidence, Spent, last_hour
from transit_etl.warehouse import NotPublishedError, query

N_REJECTED = 10


@dataclass(frozen=True, slots=True)
class Usage:
    """What a kind of request came to in the last hour; `share` is of the allowance of that hour.

    `n_last_minute` and `n_sent` count what was sent, retries included; `endpoints` splits the hour's up.
    """

    kind: str
    n_last_minute: int
    n_sent: int
    n_good: int
    n_rate_limited: int
    share: float
    endpoints: dict[str, int]
    last_received_at: datetime | None


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast requests may go at this moment, and whose turn is waited for.

    `rate_per_minute` is less than the allowance after a 429, until it has recovered.
    """

    rate_per_minute: float
    blocked_until: datetime | None
    waiting: dict[str, int]


@dataclass(frozen=True, slots=True)
class LineCoverage:
    """How many of a line's stops gave a good answer in the last hour, and which has not for the longest."""

    line_code: str
    line_number: str | None
    n_stops: int
    n_seen: int
    share: float
    unseen: str
    unseen_since: datetime | None


@dataclass(frozen=True, slots=True)
class Rejection:
    """A batch that broke a rule which stops it: it is in quarantine and raw, and in no figure."""

    window: str
    dataset: str
    rule: str
    reason: str
    last_received_at: datetime


@dataclass(frozen=True, slots=True)
class Installation:
    """How an installation is doing. Instants are UTC; `now` is the pipeline's own clock.

    `real_now` is the machine's, which files are dated by.
    `pace` is None before anything was collected, `lines` has the least covered first. `waiting` counts
    finished windows that are not staged, `n_open` those being written. `unseen` is the known stop whose last
    good answer is the oldest, `unseen_since` that answer's instant, if there was one.
    """

    now: datetime
    real_now: datetime
    clock_shift_seconds: float
    data_dir: Path
    operator: str
    base_url: str
    rate_per_minute: int
    pace: Pace | None
    usage: list[Usage]
    evidence: Evidence
    lines: list[LineCoverage]
    n_open: int
    waiting: dict[str, int]
    rejected: list[Rejection]
    n_stops: int
    n_stops_never_seen: int
    unseen: str | None
    unseen_since: datetime | None
    built_at: datetime | None
    published_at: datetime | None
    published_build: int | None
    published_until: datetime | None


def describe(settings: Settings) -> Installation:
    """Read the raw folder, the lake, the budget and the published warehouse; nothing is written or locked."""
    clock = settings.clock
    now = clock.now()
    with last_hour(settings.data_dir, settings.operator, now) as lately:
        usage = _usage(lately.spent(), settings, _last_received(settings))
        evidence, seen = lately.evidence(), {**_last_seen(settings), **lately.seen()}
    directions = _line_directions(settings)
    stops = sorted({stop for known in directions for stop in known.stop_codes})
    unseen = _longest_unseen(stops, seen)
    build, until = _published(settings)
    return Installation(
        now=now,
        real_now=clock.to_real(now),
        clock_shift_seconds=settings.clock_shift_seconds,
        data_dir=settings.data_dir.absolute(),
        operator=settings.operator,
        base_url=settings.base_url,
        rate_per_minute=settings.rate_per_minute,
        pace=_pace(settings, clock, now),
        usage=usage,
        evidence=evidence,
        lines=_coverage(directions, seen, now),
        n_open=len(list(open_raw_files(settings.data_dir))),
        waiting=_waiting(settings.data_dir),
        rejected=_rejected(settings),
        n_stops=len(stops),
        n_stops_never_seen=sum(code not in seen for code in stops),
        unseen=unseen,
        unseen_since=seen.get(unseen) if unseen else None,
        built_at=_written_at(build_database(settings.data_dir)),
        published_at=_written_at(published_database(settings.data_dir)),
        published_build=build,
        published_until=until,
    )


def _usage(spent: Sequence[Spent], settings: Settings, staged: Mapping[str, datetime]) -> list[Usage]:
    """Sum up by kind what was sent; a kind not asked lately is there with its last answer in the lake."""
    endpoints = {each.endpoint: each for each in spent}
    known = {**{name: Spent(name, 0, 0, 0, 0, at) for name, at in staged.items()}, **endpoints}
    by_kind = {
        kind: [each for each in known.values() if ENDPOINTS[each.endpoint].kind is kind] for kind in Kind
    }
    return [_usage_of(kind, some, settings.rate_per_minute * 60) for kind, some in by_kind.items() if some]


def _usage_of(kind: Kind, spent: Sequence[Spent], allowed: float) -> Usage:
    n_sent = sum(each.n_last_hour for each in spent)
    answered = [each.last_received_at for each in spent if each.last_received_at]
    return Usage(
        kind=kind.value,
        n_last_minute=sum(each.n_last_minute for each in spent),
        n_sent=n_sent,
        n_good=sum(each.n_good for each in spent),
        n_rate_limited=sum(each.n_rate_limited for each in spent),
        share=round(n_sent / allowed, 4),
        endpoints={each.endpoint: each.n_last_hour for each in spent if each.n_last_hour},
        last_received_at=max(answered, default=None),
    )


def _pace(settings: Settings, clock: Clock, now: datetime) -> Pace | None:
    """Look at the budget as it was last left; None if nobody has used it yet."""
    state = SqlStore(settings.budget_url, credential(settings)).peek()
    if state is None:
        return None
    at = clock.to_real(now).timestamp()  # the budget is kept in real time
    blocked_until = clock.from_real(datetime.fromtimestamp(state.blocked_until, UTC))
    return Pace(
        rate_per_minute=round(state.rate(at, Limits(settings.rate_per_minute)), 1),
        blocked_until=blocked_until if blocked_until > now else None,
        waiting=dict(Counter(demand.kind.value for demand in state.demands.values())),
    )


def _coverage(
    directions: Sequence[LineDirection], seen: Mapping[str, datetime], now: datetime
) -> list[LineCoverage]:
    stops: dict[tuple[str, str | None], set[str]] = {}
    for known in directions:
        stops.setdefault((known.line_code, known.line_number), set()).update(known.stop_codes)
    lines = [_line_coverage(*line, sorted(codes), seen, now - HOUR) for line, codes in stops.items()]
    return sorted(lines, key=lambda line: (line.share, line.line_code))


def _line_coverage(
    code: str, number: str | None, stops: Sequence[str], seen: Mapping[str, datetime], since: datetime
) -> LineCoverage:
    n_seen = sum(stop in seen and seen[stop] > since for stop in stops)
    unseen = _longest_unseen(stops, seen) or ""
    return LineCoverage(
        line_code=code,
        line_number=number,
        n_stops=len(stops),
        n_seen=n_seen,
        share=round(n_seen / len(stops), 4),
        unseen=unseen,
        unseen_since=seen.get(unseen),
    )


def _longest_unseen(stops: Sequence[str], seen: Mapping[str, datetime]) -> str | None:
    return min(stops, key=lambda code: (code in seen, seen.get(code), code), default=None)


def _line_directions(settings: Settings) -> list[LineDirection]:
    try:
        return Catalogue(settings.data_dir, settings.operator).line_directions()
    except NothingKnownError:
        return []


def _waiting(data_dir: Path) -> dict[str, int]:
    staged: dict[tuple[str, date], set[str]] = {}
    waiting: Counter[str] = Counter()
    for window in finished_windows(data_dir):
        day = (window.operator, window.day)
        if day not in staged:
            staged[day] = staged_windows(data_dir, *day)
        waiting[window.endpoint] += window.name not in staged[day]
    return dict(+waiting)


def _rejected(settings: Settings) -> list[Rejection]:
    rows = _lake(
        settings,
        "validation_results",
        """
        select "window", suite, rule, reason, last_received_at from lake
        where scope = 'batch' and not is_success
        order by last_received_at desc, "window", suite, rule limit $n
        """,
        n=N_REJECTED,
    )
    return [Rejection(*row) for row in rows]


def _last_received(settings: Settings) -> dict[str, datetime]:
    """Return when the last answer of each endpoint came, as far as staged."""
    sql = "select endpoint, max(received_at) from lake where received_at is not null group by endpoint"
    return dict(_lake(settings, "requests", sql))


def _last_seen(settings: Settings) -> dict[str, datetime]:
    """Return when each stop last gave a good answer, as far as staged."""
    sql = "select key, max(received_at) from lake where endpoint = 'passages' and is_good group by key"
    return dict(_lake(settings, "requests", sql))


def _published(settings: Settings) -> tuple[int | None, datetime | None]:
    """Return the number of the published build and the instant of the last answer in it."""
    try:
        rows = query(
            settings,
            "select (select max(build_number) from quality.builds), max(received_at) from core.requests",
        ).to_pylist()
    except NotPublishedError:
        return None, None
    build, until = rows[0].values()
    return build, until and until.replace(tzinfo=UTC)


def _lake(settings: Settings, dataset: str, sql: str, **parameters: object) -> list[tuple[Any, ...]]:
    """Ask a dataset of this operator's lake, called `lake` in the question; no row if there are no files."""
    if not lake_files(settings.data_dir, dataset, settings.operator):
        return []
    pattern = str(lake_glob(settings.data_dir, dataset, settings.operator))
    with duckdb.connect() as connection:
        connection.read_parquet(pattern, union_by_name=True).create_view("lake")
        rows = connection.execute(sql, parameters or None).fetchall()
    return [tuple(_aware(value) for value in row) for row in rows]


def _aware(value: object) -> object:
    """Give an instant of the lake, which is UTC without saying so, its zone."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _written_at(path: Path) -> datetime | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None

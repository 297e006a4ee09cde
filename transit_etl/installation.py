"""Describes an installation as it is now: what was collected lately, what waits, how old the warehouse is."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb

from transit_etl.clock import SystemClock
from transit_etl.collect.catalogue import Catalogue, NothingKnownError
from transit_etl.collect.priorities import Kind
from transit_etl.paths import RAW_SUFFIX, build_database, lake_glob, published_database
from transit_etl.settings import Settings
from transit_etl.stage.lake import staged_windows
from transit_etl.stage.raw import finished_windows
from transit_etl.warehouse import NotPublishedError, query

LATELY = timedelta(hours=1)
N_REJECTED = 10


@dataclass(frozen=True, slots=True)
class Usage:
    """What a kind of request came to in the last hour, as far as staged; `share` is of the allowance."""

    kind: str
    n_sent: int
    n_good: int
    n_rate_limited: int
    share: float
    last_received_at: datetime | None


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

    `waiting` counts finished windows that are not staged, `n_open` those being written. `unseen` is the
    known stop whose last good answer is the oldest, `unseen_since` that answer's instant, if there was one.
    """

    now: datetime
    data_dir: Path
    operator: str
    base_url: str
    rate_per_minute: int
    usage: list[Usage]
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
    """Read the raw folder, the lake and the published warehouse; nothing is written, nothing is locked."""
    now = SystemClock(settings.clock_shift_seconds).now()
    stops, seen = _stops(settings)
    unseen = min(stops, key=lambda code: (code in seen, seen.get(code)), default=None)
    build, until = _published(settings)
    return Installation(
        now=now,
        data_dir=settings.data_dir.absolute(),
        operator=settings.operator,
        base_url=settings.base_url,
        rate_per_minute=settings.rate_per_minute,
        usage=_usage(settings, now),
        n_open=len(list(settings.data_dir.glob(f"raw/*/*/*/*{RAW_SUFFIX}.part"))),
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


def _usage(settings: Settings, now: datetime) -> list[Usage]:
    rows = _lake(
        settings,
        "requests",
        """
        select
            endpoint,
            count(sent_at) filter (sent_at > $since),
            count(*) filter (is_good and sent_at > $since),
            count(*) filter (outcome = 'rate_limited' and sent_at > $since),
            max(received_at)
        from lake group by endpoint
        """,
        since=(now - LATELY).replace(tzinfo=None),
    )
    allowed = settings.rate_per_minute * LATELY.total_seconds() / 60
    by_kind = {kind: [row for row in rows if Kind.of(row[0]) is kind] for kind in Kind}
    return [_usage_of(kind, some, allowed) for kind, some in by_kind.items() if some]


def _usage_of(kind: Kind, rows: Sequence[tuple[Any, ...]], allowed: float) -> Usage:
    _, sent, good, limited, last = zip(*rows, strict=True)
    return Usage(
        kind=kind.value,
        n_sent=sum(sent),
        n_good=sum(good),
        n_rate_limited=sum(limited),
        share=round(sum(sent) / allowed, 4),
        last_received_at=max(filter(None, last), default=None),
    )


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


def _stops(settings: Settings) -> tuple[list[str], dict[str, datetime]]:
    """Return the stops that are known, and when each last gave a good answer, if it ever did."""
    seen = _lake(
        settings,
        "requests",
        "select key, max(received_at) from lake where endpoint = 'passages' and is_good group by key",
    )
    try:
        return Catalogue(settings.data_dir, settings.operator).stop_codes(), dict(seen)
    except NothingKnownError:
        return [], {}


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
    pattern = str(lake_glob(settings.data_dir, dataset)).replace(
        "operator=*", f"operator={settings.operator}"
    )
    if not list(settings.data_dir.glob(str(Path(pattern).relative_to(settings.data_dir)))):
        return []
    with duckdb.connect() as connection:
        connection.read_parquet(pattern, union_by_name=True).create_view("lake")
        rows = connection.execute(sql, parameters or None).fetchall()
    return [tuple(_aware(value) for value in row) for row in rows]


def _aware(value: object) -> object:
    """Give an instant of the lake, which is UTC without saying so, its zone."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value


def _written_at(path: Path) -> datetime | None:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC) if path.exists() else None

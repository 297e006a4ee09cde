"""Reads from the lake what the status needs beyond the last hour: last answers and rejected batches."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import duckdb

from transit_etl.clock import naive_utc
from transit_etl.lake_reading import read_undamaged
from transit_etl.lake_schemas import DATASETS
from transit_etl.operations.status.last_hour import UNUSABLE, LastAnswers
from transit_etl.paths import REHEARSAL_WORKER, lake_day, lake_files
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings

NOT_REHEARSED = f"""coalesce(not ends_with("window", '-{REHEARSAL_WORKER}'), true)"""
N_REJECTED = 10
LEDGER_DAYS = 14  # the status is read every minute, and the ledger of a year takes seconds


@dataclass(frozen=True, slots=True)
class Rejection:
    """A batch that broke a batch rule, or what could not be staged: in raw and quarantine, in no figure."""

    window: str
    dataset: str
    rule: str
    reason: str
    last_received_at: datetime


@dataclass(frozen=True, slots=True)
class LastDay:
    """The rows of the lake that were received in the last day, and those that broke a rule, by dataset.

    `n_broken` counts the rows by the rule that they broke.
    """

    n_rows: dict[str, int]
    n_set_aside: dict[str, int]
    n_broken: dict[str, int]


_N_ROWS = "select count(*) from lake where received_at > $began_at and received_at <= $now"
_N_BROKEN = """
select suite, rule, sum(n_unexpected)::bigint from lake
where scope = 'row' and not is_success and last_received_at > $began_at and last_received_at <= $now
group by suite, rule
"""


def last_answers(settings: FolderSettings, now: datetime) -> LastAnswers:
    """Return when each endpoint and stop last gave a good answer in the last days, as far as staged.

    An endpoint of which all answers were bad has none.
    """
    sql = """
        select endpoint, case when endpoint = 'passages' then key end, max(received_at) filter (is_good)
        from lake where received_at <= $now group by all order by 3 nulls first
    """
    rows = _query(settings, "requests", sql, since=_first_day(now), now=naive_utc(now))
    of_stops = {stop: at for _, stop, at in rows if stop is not None and at is not None}
    return LastAnswers({endpoint: at for endpoint, _, at in rows}, of_stops)


def last_future_answer(settings: FolderSettings, now: datetime) -> datetime | None:
    """Return the instant of the last staged answer that lies after `now`; None if there is none."""
    sql = "select max(received_at) from lake where received_at > $now"
    rows = _query(settings, "requests", sql, since=now.astimezone(UTC).date(), now=naive_utc(now))
    return rows[0][0] if rows else None


def last_outage(settings: FolderSettings, now: datetime) -> tuple[datetime | None, datetime | None]:
    """Return the last good answer of the last days, and the first request after it without a usable one."""
    sql = """
        with good as (select max(received_at) as last_at from lake where is_good and received_at <= $now)
        select any_value(good.last_at), min(sent_at) from lake cross join good
        where outcome in $unusable and sent_at > coalesce(good.last_at, '-infinity') and sent_at <= $now
    """
    rows = _query(settings, "requests", sql, since=_first_day(now), now=naive_utc(now), unusable=UNUSABLE)
    return (rows[0][0], rows[0][1]) if rows else (None, None)


def rejections(settings: FolderSettings, now: datetime) -> list[Rejection]:
    """Return the batches, answers, lines and windows that were rejected last, newest first."""
    rows = _query(
        settings,
        "validation_results",
        """
        select
            "window", suite, rule,
            concat_ws(' ', reason, case when expectation = 'staged' then observed end), last_received_at
        from lake
        where scope in ('batch', 'answer', 'line', 'window') and not is_success
        order by last_received_at desc, "window", suite, rule limit $n
        """,
        since=_first_day(now),
        n=N_REJECTED,
    )
    return [Rejection(*row) for row in rows]


def last_day(settings: FolderSettings, now: datetime) -> LastDay:
    """Count the rows that were received, and those that broke a rule, in the last day."""
    begin = now - DAY
    of_day = {"began_at": naive_utc(begin), "now": naive_utc(now)}

    def rows(dataset: str, sql: str) -> list[tuple[Any, ...]]:
        return _query(settings, dataset, sql, since=begin.astimezone(UTC).date(), **of_day)

    n_rows = {
        dataset: sum(n for (n,) in rows(dataset, _N_ROWS))
        for dataset in DATASETS
        if dataset not in ("requests", "validation_results")
    }
    n_set_aside: Counter[str] = Counter()
    n_broken: Counter[str] = Counter()
    for suite, rule, n in rows("validation_results", _N_BROKEN):
        n_set_aside[suite] += n
        n_broken[rule] += n
    return LastDay(n_rows, n_set_aside, n_broken)


def _first_day(now: datetime) -> date:
    return now.astimezone(UTC).date() - LEDGER_DAYS * DAY


def _query(
    settings: FolderSettings, dataset: str, sql: str, *, since: date, **parameters: object
) -> list[tuple[Any, ...]]:
    """Query this operator's rows of a dataset, from a UTC day on, as the view `lake`; none without files.

    Rows of a rehearsal are not in it: they are of another time than the ledger's.
    """

    def run(files: list[Path]) -> list[tuple[Any, ...]]:
        if not files:
            return []
        with duckdb.connect() as connection:
            rows = connection.read_parquet([str(path) for path in files], union_by_name=True)
            rows.filter(NOT_REHEARSED).create_view("lake")
            return connection.execute(sql, parameters or None).fetchall()

    files = lake_files(settings.data_dir, dataset, settings.operator)
    rows = read_undamaged(run, [path for path in files if lake_day(path)[1] >= since])
    return [tuple(_aware(value) for value in row) for row in rows]


def _aware(value: object) -> object:
    """Give an instant of the lake, which is in UTC without a zone, its zone."""
    return value.replace(tzinfo=UTC) if isinstance(value, datetime) else value

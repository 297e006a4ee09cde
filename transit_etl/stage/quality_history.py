"""Sums up what the last days' batches were: by day, by what was set aside, by what was only noted."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import duckdb

from transit_etl.lake_reading import read_undamaged
from transit_etl.paths import is_rehearsed, lake_day, lake_files, quarantine_files
from transit_etl.settings import FolderSettings

N_DAYS = 7  # the last ones with answers, so that a day without any hides none
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BrokenRule:
    """A rule that a batch did not keep: `scope` says what it judges, `row` or more than that."""

    rule: str
    scope: str
    reason: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class LastBatch:
    """The batch of a dataset that was received last; `received_at` is UTC, of its last answer.

    `n_rows` counts the rows that were checked, `n_rules` the rules they were checked against.
    """

    window: str
    received_at: datetime
    n_rows: int
    n_rules: int
    broken: tuple[BrokenRule, ...]

    @property
    def is_rejected(self) -> bool:
        """Whether more than single rows of it was kept out of the lake."""
        return any(each.scope != "row" for each in self.broken)

    @property
    def is_rehearsed(self) -> bool:
        """Whether it is of a rehearsal, on a virtual clock."""
        return is_rehearsed(self.window)


@dataclass(frozen=True, slots=True)
class DayOfDataset:
    """The batches of a dataset that were received on a UTC day.

    `n_rows` counts the rows that were checked, `n_set_aside` the entries of the quarantine, one for each row
    and rule that it broke; of `n_rejected` batches more than single rows was kept out of the lake.
    """

    day: date
    n_batches: int
    n_rows: int
    n_set_aside: int
    n_rejected: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """What is in quarantine under a rule: entries by day, and the reason, or the commonest of `n_reasons`."""

    dataset: str
    rule: str
    reason: str
    n_reasons: int
    by_day: dict[date, int]

    @property
    def n_entries(self) -> int:
        """The entries of all days."""
        return sum(self.by_day.values())


@dataclass(frozen=True, slots=True)
class Noted:
    """What is counted and stays, or is left out by design: `n_noted` of `n_rows` rows, with examples."""

    dataset: str
    rule: str
    reason: str
    n_noted: int
    n_rows: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QualityHistory:
    """The last days with answers, the latest first, and what was received on them, by dataset."""

    days: tuple[date, ...]
    last: dict[str, LastBatch]
    by_day: dict[str, tuple[DayOfDataset, ...]]
    set_aside: tuple[SetAside, ...]
    noted: tuple[Noted, ...]


_WITH_DATE = "*, cast(regexp_extract(filename, 'date=([0-9-]+)', 1) as date) as received_date"
_CHECKED = "expectation not in ('staged', 'left_out_by_normalising')"
_BATCHES = f"""
create temp table batches as
select
    suite, "window", received_date,
    coalesce(max(last_received_at), cast(received_date as timestamp)) as received_at,
    coalesce(max(n_rows) filter ({_CHECKED}), 0) as n_rows,
    count(*) filter ({_CHECKED}) as n_rules,
    bool_or(scope <> 'row' and not is_success) as is_rejected
from lake
group by suite, "window", received_date
"""
_LAST = """
with last as (
    select * from batches
    qualify row_number() over (partition by suite order by received_at desc, "window" desc) = 1
)
select
    last.suite, last."window", last.received_at, last.n_rows, last.n_rules,
    coalesce(list({
        'rule': lake.rule, 'scope': lake.scope, 'reason': lake.reason,
        'n_rows': coalesce(lake.n_unexpected, 0)
    } order by lake.scope = 'row', lake.rule) filter (not lake.is_success), [])
from last inner join lake using (suite, "window", received_date)
group by all
"""
_DAYS = """
select suite, received_date, count(*), sum(n_rows)::bigint, count(*) filter (is_rejected)
from batches group by all order by all desc
"""
_NOTED = """
select
    suite, rule, any_value(reason), sum(n_unexpected)::bigint, sum(n_rows)::bigint,
    arg_max(observed, last_received_at) filter (n_unexpected > 0)
from lake
where is_success and (expectation = 'left_out_by_normalising' or concat(suite, '.', rule) in $counted)
group by suite, rule having sum(n_unexpected) > 0 order by suite, rule
"""
_SET_ASIDE = """
with counted as materialized (
    select dataset, rule, reason, received_date, count(*) as n from stored group by all
),

by_day as (
    select dataset, rule, received_date, sum(n)::bigint as n from counted group by all
),

reasons as (
    select dataset, rule, arg_max(reason, n) as reason, count(distinct reason) as n_reasons
    from counted group by all
)

select dataset, rule, reasons.reason, reasons.n_reasons, list(received_date), list(n)
from by_day inner join reasons using (dataset, rule)
group by all order by sum(n) desc, dataset, rule
"""


def read_history(settings: FolderSettings, counted: Iterable[tuple[str, str]]) -> QualityHistory:
    """Read the results of validation and the quarantine of the last `N_DAYS` days with answers.

    counted: dataset and rule of the expectations that no row can break, and that only count.

    Files that are damaged are left out.
    """
    results = lake_files(settings.data_dir, "validation_results", settings.operator)
    days = sorted({lake_day(path)[1] for path in results}, reverse=True)[:N_DAYS]
    wanted = {(settings.operator, day) for day in days}
    names = [f"{dataset}.{rule}" for dataset, rule in counted]

    def read_results(files: list[Path]) -> _Results:
        with _opened(files) as connection:
            connection.execute("create temp table lake as from stored")  # or each query reads the files
            connection.execute(_BATCHES)
            return _Results(
                {row[0]: _last_batch(*row[1:]) for row in connection.execute(_LAST).fetchall()},
                connection.execute(_DAYS).fetchall(),
                tuple(
                    Noted(dataset, rule, reason, n_noted, n_rows, _examples(observed))
                    for dataset, rule, reason, n_noted, n_rows, observed in connection.execute(
                        _NOTED, {"counted": names}
                    ).fetchall()
                ),
            )

    found = _read([path for path in results if lake_day(path) in wanted], read_results, _Results({}, [], ()))
    nothing: tuple[SetAside, ...] = ()
    aside = _read(
        [path for path in quarantine_files(settings.data_dir) if lake_day(path) in wanted],
        _set_aside,
        nothing,
    )
    return QualityHistory(tuple(days), found.last, _by_day(found.days, aside), aside, found.noted)


class _Results(NamedTuple):
    """What the results say: the last batch of each dataset, rows of `_DAYS`, and what was noted."""

    last: dict[str, LastBatch]
    days: list[tuple[Any, ...]]
    noted: tuple[Noted, ...]


def _read(files: Sequence[Path], read: Callable[[list[Path]], T], nothing: T) -> T:
    """Return what is read of the files that are not damaged; `nothing` where there are none."""
    return read_undamaged(lambda sound: read(sound) if sound else nothing, files)


@contextmanager
def _opened(files: Sequence[Path]) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a database that has the rows of files as the view `stored`."""
    with duckdb.connect() as connection:
        rows = connection.read_parquet(
            [str(path) for path in files], union_by_name=True, hive_partitioning=False, filename=True
        )
        rows.project(_WITH_DATE).create_view("stored")
        yield connection


def _last_batch(
    window: str, received_at: datetime, n_rows: int, n_rules: int, broken: list[dict[str, Any]]
) -> LastBatch:
    rules = tuple(BrokenRule(**each) for each in broken)
    return LastBatch(window, received_at.replace(tzinfo=UTC), n_rows, n_rules, rules)


def _examples(observed: str | None) -> tuple[str, ...]:
    """Return the values that were observed, each once: a JSON list of values, or nothing."""
    values = json.loads(observed) if observed else []
    return tuple(dict.fromkeys(map(str, values))) if isinstance(values, list) else ()


def _set_aside(files: list[Path]) -> tuple[SetAside, ...]:
    with _opened(files) as connection:
        rows = connection.execute(_SET_ASIDE).fetchall()
    return tuple(
        SetAside(dataset, rule, reason, n_reasons, dict(zip(days, counts, strict=True)))
        for dataset, rule, reason, n_reasons, days, counts in rows
    )


def _by_day(
    rows: Iterable[tuple[Any, ...]], aside: Iterable[SetAside]
) -> dict[str, tuple[DayOfDataset, ...]]:
    """Put the batches and the quarantine of each dataset and day together, the latest day first."""
    entries: Counter[tuple[str, date]] = Counter()
    for each in aside:
        for day, n in each.by_day.items():
            entries[each.dataset, day] += n
    batches = {(dataset, day): counts for dataset, day, *counts in rows}
    by_day: dict[str, list[DayOfDataset]] = {}
    for dataset, day in sorted({*batches, *entries}, reverse=True):
        n_batches, n_rows, n_rejected = batches.get((dataset, day), (0, 0, 0))
        counts = DayOfDataset(day, n_batches, n_rows, entries[dataset, day], n_rejected)
        by_day.setdefault(dataset, []).append(counts)
    return {dataset: tuple(days) for dataset, days in by_day.items()}

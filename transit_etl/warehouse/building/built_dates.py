"""Records what each service date was built from, so that two publications tell why a figure changed."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from hashlib import sha256
from pathlib import Path

import duckdb

from transit_etl import paths
from transit_etl.endpoints import ENDPOINTS, Dates
from transit_etl.identity import service_days
from transit_etl.service_day import DAY
from transit_etl.settings import FolderSettings
from transit_etl.warehouse.building.lake_changes import dates_in_row, dates_of_receipt
from transit_etl.warehouse.ranges import date_ranges

_DIGITS = 16  # hexadecimal, of a digest
_DAYS_AT_ONCE = 31
_DAYS_BEFORE = 16  # answers about a date are received up to 14 days before it begins
_DAYS_AFTER = 2  # a service day ends on the next UTC day, or on the one after it
# The digest of a set of rows does not depend on their order, nor on how files divide them: files are merged.
# Texts of columns are hashed and not the row, because writing a row as text takes twice as long.
_DIGESTS = """
with dated as (
    select unnest(list_distinct({dates})) as about_date, lake_rows.*
    from read_parquet(?, union_by_name = true, hive_partitioning = false) as lake_rows
),
texts as (
    select about_date, coalesce(columns(* exclude (about_date))::varchar, '')
    from dated where about_date between ? and ?
)
select about_date, bit_xor(md5_number_lower(concat_ws(chr(31), *columns(* exclude (about_date)))))
from texts group by about_date
"""
_FIRST_LISTS = """
select bit_xor(md5_number_lower(lake_rows::varchar))
from read_parquet(?, union_by_name = true, hive_partitioning = false) as lake_rows
where received_at < (select min(received_at) + interval 1 day from read_parquet(?, union_by_name = true))
"""
_RULESETS = """
select any_value(coalesce(operators.ruleset_version, rulesets.ruleset_version))
from quality.operators as operators
left join core.rulesets as rulesets on $day >= valid_from_date and $day < valid_to_date
where operator = $operator
"""

_Digests = dict[tuple[str, date], int]


@dataclass(frozen=True, slots=True)
class BuiltFrom:
    """What a build reads, by operator: digests of the answers about each date, and of what all dates read."""

    answers: Mapping[tuple[str, date], int]
    of_all_dates: Mapping[str, int]


def read_inputs(
    connection: duckdb.DuckDBPyConnection,
    settings: FolderSettings,
    dates: Sequence[date],
    reference_rows: Mapping[str, Iterable[object]],
) -> BuiltFrom:
    """Compute digests of the lake rows about sorted service dates, of each operator.

    Every date reads the rows of the operator's reference files, and the first lists of lines and stops.
    """
    answers: _Digests = {}
    of_all_dates: dict[str, int] = {}
    for operator, days in service_days(settings).items() if dates else ():
        of_all_dates[operator] = _digest_of_texts(map(repr, reference_rows.get(operator, ())))
        for dataset in _datasets():
            expression = dates_in_row(days, dataset) or dates_of_receipt(days)
            files = paths.lake_files(settings.data_dir, dataset, operator)
            for first, last in date_ranges(dates, _DAYS_AT_ONCE):
                some = [file for file in files if _can_be_about(file, dataset, first, last)]
                for day, digest in _digests(connection, some, expression, first, last):
                    answers[operator, day] = answers.get((operator, day), 0) ^ digest
            if dataset in _first_lists() and files:
                names = [*map(str, files)]
                [(digest,)] = connection.execute(_FIRST_LISTS, [names, names]).fetchall()
                of_all_dates[operator] ^= digest or 0
    return BuiltFrom(answers, of_all_dates)


def unchanged_dates(
    connection: duckdb.DuckDBPyConnection, now: BuiltFrom, dates: Iterable[date]
) -> set[date]:
    """Return which of some dates were built from the answers, of every operator, that the lake has now."""
    then = _recorded_answers(connection)
    operators = {operator for operator, _ in (*then, *now.answers)}
    return {
        day
        for day in dates
        if all(then.get((operator, day)) == now.answers.get((operator, day)) for operator in operators)
    }


def record_built_dates(
    connection: duckdb.DuckDBPyConnection,
    built_from: BuiltFrom,
    dates: Iterable[date],
    *,
    build_number: int,
    models_fingerprint: str,
    is_full: bool,
) -> None:
    """Write into `quality.built_dates` what dates were built from; after a full build there are no others."""
    connection.execute(
        "delete from quality.built_dates where $is_full or list_contains($dates, service_date)",
        {"is_full": is_full, "dates": [*dates]},
    )
    known = {**_recorded_answers(connection), **built_from.answers}
    polled = connection.execute("select operator, service_date from core.service_days").fetchall()
    unknown = sorted({*polled} - known.keys(), reverse=True)
    first_unknown: dict[str, date] = dict(unknown)  # the last entry of an operator counts
    contexts = _contexts(known, built_from.of_all_dates)
    for (operator, day), digest in sorted(built_from.answers.items()):
        [ruleset] = connection.execute(_RULESETS, {"operator": operator, "day": day}).fetchall()
        is_known = day <= first_unknown.get(operator, day)
        connection.execute(
            "insert into quality.built_dates values (?, ?, ?, ?, ?, ?, ?)",
            [
                operator, day, build_number, models_fingerprint, ruleset[0],
                _text(digest), _text(contexts[operator, day]) if is_known else None,
            ],
        )  # fmt: skip


def _recorded_answers(connection: duckdb.DuckDBPyConnection) -> _Digests:
    """Return the digests of the answers that each date was built from."""
    rows = connection.execute("select operator, service_date, answers_digest from quality.built_dates")
    return {(operator, day): int(digest, _DIGITS) for operator, day, digest in rows.fetchall()}


def _datasets() -> list[str]:
    """Return the datasets that models read: the ledger, and what is staged of answers."""
    return ["requests", *dict.fromkeys(row.dataset for row in ENDPOINTS.values() if row.dataset)]


def _first_lists() -> set[str | None]:
    """Return the datasets whose first answer is used for earlier dates too."""
    return {row.dataset for row in ENDPOINTS.values() if row.dates is Dates.OF_RECEIPT}


def _can_be_about(file: Path, dataset: str, first: date, last: date) -> bool:
    """Tell by its UTC day of receipt whether a lake file can hold rows about some service dates."""
    days_before = _DAYS_BEFORE if dataset in {"requests", "timetables"} else 1
    _, day = paths.lake_day(file)
    return first - timedelta(days=days_before) <= day <= last + DAY * _DAYS_AFTER


def _digests(
    connection: duckdb.DuckDBPyConnection, files: Sequence[Path], dates: str, first: date, last: date
) -> list[tuple[date, int]]:
    """Return the digest of the rows about each service date; `dates` is the SQL of the dates of a row."""
    if not files:
        return []
    query = _DIGESTS.format(dates=dates)
    return connection.execute(query, [[*map(str, files)], first, last]).fetchall()


def _contexts(answers: Mapping[tuple[str, date], int], of_all_dates: Mapping[str, int]) -> _Digests:
    """Return for each date the digest of what all dates read and of the answers about earlier dates."""
    found: _Digests = {}
    digests = dict(of_all_dates)
    for operator, day in sorted(answers):
        found[operator, day] = digests.setdefault(operator, 0)
        digests[operator] ^= answers[operator, day]
    return found


def _digest_of_texts(texts: Iterable[str]) -> int:
    joined = "\0".join(sorted(texts))
    return int(sha256(joined.encode()).hexdigest()[:_DIGITS], 16)


def _text(digest: int) -> str:
    return f"{digest:0{_DIGITS}x}"

"""Tells what made the figures of two published files differ: other answers, another ruleset, or other models.

A figure is a ratio of sums over service dates, or a difference of two. Its change is therefore a sum over
dates, and a date has the cause that `quality.built_dates` tells. Where several inputs of a date changed at
once, their parts cannot be separated.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import NamedTuple

import duckdb
import pyarrow as pa

from transit_base.quoting import quoted_name, sql_text
from transit_etl.warehouse.describing.contents import Columns, Place

_SIDES = ("before", "after")
_BUILT_DATES = ("quality", "built_dates")
_RULESETS = ("core", "rulesets")
_KEYS = ("operator", "service_date", "line_code", "direction")
# Of an older version: what its dates were built from is known only where it is the same for the whole file.
_OLDER_DATES = """
select operator, service_date, null as build_number, null as models_fingerprint, null as ruleset_version,
    null as answers_digest, null as context_digest
from {side}.core.service_days
"""


_LINES = "struct_pack(line_code := line_code, direction := direction)"


class _Ratio(NamedTuple):
    """Two sums, of which one is divided by the other, as expressions of the columns of a row."""

    numerator: str
    denominator: str


@dataclass(frozen=True, slots=True)
class _Source:
    """A table by date, the ratios that each figure adds up, and which rows take part.

    `functions` are those of the published file that have the figures of the network, and of each line; with
    `reason`, the column that says why one is null. Without them a figure is never null.
    """

    table: Place
    columns: tuple[str, ...]
    figures: Mapping[str, tuple[_Ratio, ...]]
    functions: tuple[str, ...] = ()
    reason: str = "null"
    takes_part: str = "true"


_SOURCES = (
    _Source(
        table=("marts", "punctuality"),
        columns=(
            "n_due", "expected_early", "expected_on_time", "expected_late", "expected_delay_seconds_sum",
        ),
        figures={
            "estimated_on_time_share": (_Ratio("expected_on_time", "n_due"),),
            "estimated_early_share": (_Ratio("expected_early", "n_due"),),
            "estimated_late_share": (_Ratio("expected_late", "n_due"),),
            "estimated_mean_delay_seconds": (_Ratio("expected_delay_seconds_sum", "n_due"),),
        },
        functions=(
            "(select *, null as line_code, null as direction from punctuality_between('all', {dates}))",
            "(select *, key.line_code, key.direction from punctuality_between({lines}, {dates}))",
        ),
        reason="estimate_null_reason",
    ),
    _Source(
        table=("marts", "headways"),
        columns=(
            "is_frequent", "estimate_null_reason", "due_seconds_sum", "due_seconds_squared_sum",
            "expected_seconds_sum", "expected_seconds_squared_sum", "expected_headways", "expected_bunched",
            "expected_gaps",
        ),
        figures={
            "estimated_ewt_seconds": (
                _Ratio("expected_seconds_squared_sum", "2 * expected_seconds_sum"),
                _Ratio("-due_seconds_squared_sum", "2 * due_seconds_sum"),
            ),
            "estimated_bunched_share": (_Ratio("expected_bunched", "expected_headways"),),
            "estimated_gaps_share": (_Ratio("expected_gaps", "expected_headways"),),
        },
        functions=(
            "(select *, null as line_code, null as direction from network_waits_between({dates}))",
            "line_waits_between({dates})",
        ),
        reason="estimate_null_reason",
        takes_part=(
            "is_frequent and coalesce(estimate_null_reason, 'interval too wide') = 'interval too wide'"
        ),
    ),
    _Source(
        table=("marts", "service_delivered"),
        columns=("n_scheduled_trips", "n_run", "n_not_run"),
        figures={
            "delivered_share_low": (_Ratio("n_run", "n_scheduled_trips"),),
            "delivered_share_high": (_Ratio("n_scheduled_trips - n_not_run", "n_scheduled_trips"),),
        },
    ),
)  # fmt: skip
_Tables = Mapping[Place, Columns]


def changed_dates(
    connection: duckdb.DuckDBPyConnection, earlier: _Tables, later: _Tables, notes: list[str]
) -> pa.Table:
    """List the service dates with other rows, and what they were built from that differs; null is not known.

    Reads the table differing_rows, and leaves the causes in the table `dates`.
    """
    for side, tables in zip(_SIDES, (earlier, later), strict=True):
        if _BUILT_DATES in tables:
            query = f"from {side}.quality.built_dates"
        else:
            query = _OLDER_DATES.format(side=side)
            notes.append(
                f"the file {side} has no quality.built_dates: a change of its dates has a cause only where "
                "nothing else differs"
            )
        connection.execute(f"create table dates_{side} as {query}")
    both = dict(earlier.get(_RULESETS, ())).keys() & dict(later.get(_RULESETS, ())).keys()
    thresholds = sorted(both - {"ruleset_version", "valid_from_date", "valid_to_date"})
    sql = _sql("date_causes").format(thresholds=", ".join(map(quoted_name, thresholds)) or "null")
    connection.execute(sql)
    return _rows(connection, "from dates order by operator, service_date")


def changed_figures(
    connection: duckdb.DuckDBPyConnection, earlier: _Tables, later: _Tables, notes: list[str]
) -> dict[str, pa.Table]:
    """List the figures that differ, by month, of the network and of lines, with the part of each cause."""
    connection.execute(_sql("figure_tables"))
    for source in _SOURCES:
        lacking = [
            f"{'.'.join(source.table)}.{column} {side}"
            for side, tables in zip(_SIDES, (earlier, later), strict=True)
            for column in (*_KEYS, *source.columns)
            if column not in dict(tables.get(source.table, ()))
        ]
        if lacking:
            notes.append(f"not compared: {', '.join(source.figures)}; there is no {', '.join(lacking)}")
            continue
        for side in _SIDES:
            _sum_dates(connection, source, side)
            _read_published(connection, source, side, notes)
    connection.execute(f"create table figure_changes as {_sql('figure_changes')}")
    names = [figure for source in _SOURCES for figure in source.figures]
    query = (
        f"select * exclude (level) from figure_changes where level = '{{}}' order by operator, month, "
        f"list_position({names}, figure), abs(change) desc nulls last, line_code, direction"
    )
    return {
        "figures": _rows(connection, query.format("network")),
        "lines": _rows(connection, query.format("line")),
    }


def _sum_dates(connection: duckdb.DuckDBPyConnection, source: _Source, side: str) -> None:
    """Add up the sums of each figure by date, line and direction, on the dates that count."""
    for figure, ratios in source.figures.items():
        for number, ratio in enumerate(ratios):
            connection.execute(
                f"""
                insert into date_sums
                select
                    '{side}', '{figure}', {number}, operator, service_date, line_code, direction,
                    sum({ratio.numerator})::double, sum({ratio.denominator})::double
                from {side}.{".".join(source.table)}
                inner join counted_{side} using (operator, service_date)
                where {source.takes_part}
                group by operator, service_date, line_code, direction
                """
            )


def _read_published(
    connection: duckdb.DuckDBPyConnection, source: _Source, side: str, notes: list[str]
) -> None:
    """Ask the functions of a file for its figures of each month that is compared."""
    months = connection.execute(
        f"select operator, month, min(service_date), max(service_date) from counted_{side} group by all"
    ).fetchall()
    values = ", ".join(f"{{figure: '{name}', value: {name}::double}}" for name in source.figures)
    connection.execute(f"use {side}")  # the functions name their tables without the file
    try:
        for level, function in zip(("network", "line"), source.functions, strict=False):
            for operator, month, first, last in months:
                called = function.format(lines=_LINES, dates=f"'{first}'::date, '{last}'::date")
                connection.execute(
                    f"""
                    insert into memory.published_figures
                    select
                        '{side}', '{level}', operator, date '{month}', line_code, direction, {source.reason},
                        unnest([{values}], recursive := true)
                    from {called} where operator = {sql_text(operator)}
                    """
                )
    except (duckdb.BinderException, duckdb.CatalogException):
        notes.append(
            f"the file {side} has other functions: {', '.join(source.figures)} are computed from its sums"
        )
        connection.execute(
            f"delete from memory.published_figures where side = '{side}' and figure in {(*source.figures,)}"
        )
    finally:
        connection.execute("use memory")


def _rows(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    rows: pa.Table = connection.sql(query).to_arrow_table()
    return rows


def _sql(name: str) -> str:
    return files("transit_etl.warehouse").joinpath("sql", f"{name}.sql").read_text("utf-8")

"""Compares two published files: which columns, rows and dates differ, and what made each figure change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pyarrow as pa

from transit_base.errors import first_line
from transit_base.files import misplaced_text
from transit_base.promised import SCHEMAS, WORKING
from transit_base.quoting import quoted_name, sql_text
from transit_etl.paths import DETAIL
from transit_etl.warehouse.database import WarehouseError
from transit_etl.warehouse.describing.contents import MADE_LATER, Columns, Place, quoted_place, tables_of
from transit_etl.warehouse.publishing.detail_files import recorded_files
from transit_etl.warehouse.publishing.figure_changes import changed_dates, changed_figures

SIDES = ("before", "after")
PARTS = ("publications", "columns", "dates", "rows", "figures", "lines")
_SETTINGS = """
set timezone = 'UTC';
set enable_progress_bar = false;
set autoinstall_known_extensions = false;
set autoload_known_extensions = false;
"""
_LOCKED = """
set allowed_directories = [{folders}];
set enable_external_access = false;
set lock_configuration = true
"""
_PUBLISHED = (
    "published_at", "version", "contract_version", "build_number", "fingerprint", "first_date", "last_date",
    "last_received_at", "n_lake_files", "rulesets",
)  # fmt: skip
_PROMISED = """
select schema_name, table_name, list((column_name, data_type) order by column_index) from duckdb_columns()
where database_name = $side and list_contains($schemas, schema_name)
group by all
"""
_FILES = """
select
    count(*) filter (earlier.path is null) as n_added,
    count(*) filter (later.path is null) as n_removed,
    count(*) filter (
        (earlier.size_bytes, earlier.modified_ns) <> (later.size_bytes, later.modified_ns)
    ) as n_changed
from before.intermediate.built_files as earlier
full outer join after.intermediate.built_files as later using (path)
"""
# What a publication or a build says of itself differs always.
_NOT_COUNTED = {*MADE_LATER, ("quality", "builds"), ("quality", "built_dates"), (WORKING, "built_files")}
_DATE_COLUMNS = ("service_date", "found_date", "received_date")
_DIFFERING_DATES = """
with earlier as (
    select {operator} as operator, {day} as day, count(*) as n, bit_xor(hash({columns})) as digest
    from before.{table} group by all
),
later as (
    select {operator} as operator, {day} as day, count(*) as n, bit_xor(hash({columns})) as digest
    from after.{table} group by all
)
select coalesce(earlier.day, later.day) as day
from earlier
full outer join later
    on earlier.operator is not distinct from later.operator and earlier.day is not distinct from later.day
where (earlier.n, earlier.digest) is distinct from (later.n, later.digest)
"""
_DIFFERING_ROWS = """
insert into differing_rows
with earlier as (
    select {operator} as operator, {day} as day, hash({key}) as key, bit_xor(hash({columns})) as digest
    from before.{table} where coalesce({day} in (select day from differing_dates), true) group by all
),
later as (
    select {operator} as operator, {day} as day, hash({key}) as key, bit_xor(hash({columns})) as digest
    from after.{table} where coalesce({day} in (select day from differing_dates), true) group by all
)
select
    {name} as table_name,
    coalesce(earlier.operator, later.operator) as operator,
    coalesce(earlier.day, later.day) as day,
    count(*) filter (earlier.key is null) as n_added,
    count(*) filter (later.key is null) as n_removed,
    count(*) filter (earlier.digest <> later.digest) as n_changed
from earlier
full outer join later
    on earlier.key = later.key
    and earlier.operator is not distinct from later.operator
    and earlier.day is not distinct from later.day
group by coalesce(earlier.operator, later.operator), coalesce(earlier.day, later.day)
having n_added + n_removed + n_changed > 0
"""
_Tables = Mapping[Place, Columns]


class ComparisonError(WarehouseError):
    """Two files cannot be compared; the message says which one is at fault, and why."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What differs between two published files: the rows of each part, and notes on what is not compared."""

    parts: dict[str, pa.Table]
    notes: list[str] = field(default_factory=list)


def compare(before: Path, after: Path) -> Differences:
    """Compare two published files; neither is changed.

    ComparisonError names a file that cannot be read, or is no published warehouse. What a file of an older
    version lacks is named in the notes, and the rest is compared.
    """
    with duckdb.connect() as connection:
        connection.execute(_SETTINGS)
        for side, path in zip(SIDES, (before, after), strict=True):
            _attach(connection, side, path)
        folders = [str(path.absolute().with_name(DETAIL)) for path in (before, after)]
        connection.execute(_LOCKED.format(folders=", ".join(map(sql_text, folders))))
        try:
            return _compare(connection)
        except duckdb.Error as error:
            raise ComparisonError(f"{before} and {after} cannot be compared: {first_line(error)}") from error


def _attach(connection: duckdb.DuckDBPyConnection, side: str, path: Path) -> None:
    if not path.is_file():
        what = misplaced_text(path) if path.is_dir() else "there is no such file"
        raise ComparisonError(f"{path} cannot be compared: {what}")
    try:
        connection.execute(f"attach {sql_text(str(path))} as {side} (read_only)")
        tables = tables_of(connection, side)
    except duckdb.Error as error:
        raise ComparisonError(f"{path} cannot be compared: {first_line(error)}") from error
    if ("quality", "publication") not in tables:
        raise ComparisonError(f"{path} is no published warehouse: it has no quality.publication")


def _compare(connection: duckdb.DuckDBPyConnection) -> Differences:
    earlier, later = (_promised_tables(connection, side) for side in SIDES)
    notes = list(_lake_files(connection))
    parts = {
        "publications": _publications(connection, earlier, later),
        "columns": _differing_columns(*(_promised_columns(connection, side) for side in SIDES)),
        "rows": _differing_rows(connection, earlier, later),
    }
    try:
        parts["dates"] = changed_dates(connection, earlier, later, notes)
        parts |= changed_figures(connection, earlier, later, notes)
    except (duckdb.BinderException, duckdb.CatalogException) as error:
        notes.append(f"figures are not compared, because a file lacks what they need: {first_line(error)}")
    return Differences(parts, notes)


def _publications(connection: duckdb.DuckDBPyConnection, earlier: _Tables, later: _Tables) -> pa.Table:
    place = ("quality", "publication")
    sides = zip(SIDES, (earlier, later), strict=True)
    selected = [
        f"select '{side}' as file, {_common(dict(tables[place]), _PUBLISHED)} from {side}.quality.publication"
        for side, tables in sides
    ]
    rows: pa.Table = connection.sql(" union all by name ".join(selected)).to_arrow_table()
    return rows


def _common(columns: Mapping[str, str], names: Iterable[str]) -> str:
    return ", ".join(name for name in names if name in columns)


def _lake_files(connection: duckdb.DuckDBPyConnection) -> Iterable[str]:
    """Yield how many lake files were added, removed and written again, where both files tell."""
    if all((WORKING, "built_files") in tables_of(connection, side) for side in SIDES):
        n_added, n_removed, n_changed = connection.execute(_FILES).fetchall()[0]
        yield f"lake files: {n_added} added, {n_removed} removed, {n_changed} written again"


def _promised_tables(connection: duckdb.DuckDBPyConnection, side: str) -> _Tables:
    """List the promised tables of a file, with their columns in order; one with files of detail is a view."""
    tables = tables_of(connection, side)
    in_files = {each.place for each in recorded_files(connection, side)}
    columns = _promised_columns(connection, side)
    return {place: columns[place] for place in columns if place in tables or place in in_files}


def _promised_columns(connection: duckdb.DuckDBPyConnection, side: str) -> _Tables:
    """List the promised tables and views of a file, with their columns in order."""
    rows = connection.execute(_PROMISED, {"side": side, "schemas": [*SCHEMAS]}).fetchall()
    return {(schema, name): tuple(columns) for schema, name, columns in rows}


def _differing_columns(earlier: _Tables, later: _Tables) -> pa.Table:
    """List the tables, views and columns that one file alone has, and the columns of another type."""
    rows = []
    for place in sorted({*earlier, *later}):
        types = [dict(tables.get(place, ())) for tables in (earlier, later)]
        if all(types):
            names = dict.fromkeys([*types[0], *types[1]])
            rows += [_column_change(place, name, types[0].get(name), types[1].get(name)) for name in names]
        else:
            rows.append(_column_change(place, "", *("table" if each else None for each in types)))
    schema = pa.schema(
        [(name, pa.string()) for name in ("table", "column", "change", "type_before", "type_after")]
    )
    return pa.Table.from_pylist([row for row in rows if row["change"]], schema)


def _column_change(place: Place, name: str, before: str | None, after: str | None) -> dict[str, str | None]:
    change = "added" if before is None else "removed" if after is None else "other type"
    return {
        "table": ".".join(place), "column": name or None, "change": None if before == after else change,
        "type_before": before, "type_after": after,
    }  # fmt: skip


def _differing_rows(connection: duckdb.DuckDBPyConnection, earlier: _Tables, later: _Tables) -> pa.Table:
    """Count the rows of each table that were added, removed and changed, by date; of columns that both have.

    Leaves them in the table differing_rows.
    """
    connection.execute(
        "create table differing_rows ("
        "table_name varchar, operator varchar, day date, n_added bigint, n_removed bigint, n_changed bigint)"
    )
    keys = _keys(connection, later)
    for place in sorted(earlier.keys() & later.keys() - _NOT_COUNTED):
        types = dict(earlier[place])
        common = [name for name, kind in later[place] if types.get(name) == kind]
        if common:
            _count_rows(
                connection, place, common, [name for name in keys.get(place, common) if name in common]
            )
    rows: pa.Table = connection.sql(
        'select table_name as "table", * exclude (table_name) from differing_rows order by all'
    ).to_arrow_table()
    return rows


def _count_rows(
    connection: duckdb.DuckDBPyConnection, place: Place, columns: Sequence[str], key: Sequence[str]
) -> None:
    parts = {
        "table": quoted_place(place),
        "name": sql_text(".".join(place)),
        "operator": "operator" if "operator" in columns else "null::varchar",
        "day": next((name for name in _DATE_COLUMNS if name in columns), "null::date"),
        "columns": ", ".join(map(quoted_name, columns)),
        "key": ", ".join(map(quoted_name, key or columns)),
    }
    connection.execute(f"create or replace table differing_dates as {_DIFFERING_DATES.format(**parts)}")
    if connection.execute("from differing_dates limit 1").fetchall():
        connection.execute(_DIFFERING_ROWS.format(**parts))


def _keys(connection: duckdb.DuckDBPyConnection, later: _Tables) -> dict[Place, list[str]]:
    """Return the columns that identify a row of each table, by the dictionary of the later file."""
    if ("quality", "dictionary_tables") not in later:
        return {}
    rows = connection.execute(
        "select schema_name, table_name, string_split(key_columns, ', ') "
        "from after.quality.dictionary_tables where key_columns <> ''"
    ).fetchall()
    return {(schema, name): columns for schema, name, columns in rows}

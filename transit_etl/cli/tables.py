"""Asks the published warehouse and writes the answers; knows the queries for its tables and columns."""

from pathlib import Path

import pyarrow as pa

from transit_base.promised import LISTED, hint_at
from transit_etl.cli.formats import OutputError, write
from transit_etl.cli.options import Format
from transit_etl.queries import query, query_all
from transit_etl.settings import FolderSettings

TABLES = f"""
select schema_name || '.' || name as "table", comment as meaning
from (
    select schema_name, table_name as name, comment from duckdb_tables()
    union all
    select schema_name, view_name, comment from duckdb_views()
)
where
    list_contains({list(LISTED)}, schema_name)
    and contains(schema_name || '.' || name, coalesce(lower(getvariable('pattern')), ''))
order by list_position({list(LISTED)}, schema_name), name
"""
# A table of the file, by its name with or without its schema; `named` has the names of the others once more.
_COLUMNS = """
select columns.column_name as "column", lower(columns.data_type) as type, described.unit, described.source,
    columns.comment as meaning
from duckdb_columns() as columns
left join quality.dictionary_columns as described using (schema_name, table_name, column_name)
where not columns.internal and '{table}' in (
    columns.schema_name || '.' || columns.table_name,
    case when columns.schema_name <> 'named' then columns.table_name end
)
order by columns.schema_name, columns.table_name, columns.column_index
"""


def ask(settings: FolderSettings, text: str, form: Format | None, output: Path | None) -> None:
    """Write the results of every query of a text."""
    write(query_all(settings, text), form, output)


def tables_like(settings: FolderSettings, pattern: str | None) -> pa.Table:
    """Return the tables whose name, with the schema, contains `pattern`; OutputError if there are none."""
    rows = query(settings, TABLES, {"pattern": pattern})
    if pattern and not rows.num_rows:
        raise OutputError(f"no table has {pattern!r} in its name; transit-etl tables lists them")
    return rows


def columns_of(table: str) -> str:
    """Return the query for the columns of a table."""
    return _COLUMNS.format(table=table.strip().lower().replace("'", "''"))


def require_table(settings: FolderSettings, table: str) -> None:
    """Raise OutputError, with names like it, unless there is such a table."""
    if query(settings, columns_of(table)).num_rows:
        return
    names = [str(name) for name in tables_like(settings, None).column("table").to_pylist()]
    raise OutputError(f"there is no table {table!r}{hint_at(table, names)}")

"""Opens the published file so that every name in it is of a single operator's rows."""

from pathlib import Path

import duckdb

from transit_base.quoting import quoted_name, sql_text
from transit_exports.request import ExportError

FILE = "published"  # the file's name in a connection in which it is not the first database
# The variable by which views of the published file find the files beside it, and the name of their folder.
_DETAIL = ("transit_detail_folder", "detail")
_OPERATORS = "select operator from quality.operators order by operator"
_RELATIONS = f"""
select
    schema_name, table_name, bool_or(column_name = 'operator' and table_name != 'publication')
from duckdb_columns() where database_name = '{FILE}' and not internal
group by schema_name, table_name
"""
_MACROS = f"""
select
    function_name,
    list((function_type = 'table_macro', parameters, macro_definition) order by len(parameters))
from duckdb_functions() where database_name = '{FILE}' and not internal
group by function_name
"""
# What the publication says of its only operator, if it has several.
_PUBLICATION = """
select publication.* replace (
    operators.operator as operator,
    operators.timezone as timezone,
    operators.service_day_cutoff as service_day_cutoff,
    days.first_date as first_date,
    days.last_date as last_date,
    requests.last_received_at as last_received_at
)
from {file}.quality.publication as publication
cross join quality.operators as operators
cross join (
    select min(service_date) as first_date, max(service_date) as last_date from core.service_days
) as days
cross join (select max(received_at) as last_received_at from core.requests) as requests
"""


def connect(path: Path, operator: str) -> duckdb.DuckDBPyConnection:
    """Open a published file to read of it what is an operator's.

    Where the file has several operators, each table, view and macro stands for the one of the file, without
    the rows of others. ExportError if the file has no such operator.
    """
    connection = duckdb.connect(path, read_only=True)
    _find_detail(connection, path)
    operators = [str(name) for (name,) in connection.execute(_OPERATORS).fetchall()]
    if operator not in operators:
        connection.close()
        raise ExportError(f"{path} holds nothing of {operator}, but of {', '.join(operators)}")
    if len(operators) == 1:
        return connection
    connection.close()
    scoped = duckdb.connect()
    _find_detail(scoped, path)
    scoped.execute(f"attach {sql_text(str(path))} as {FILE} (read_only)")
    relations = scoped.execute(_RELATIONS).fetchall()
    for schema in {schema for schema, *_ in relations}:
        scoped.execute(f"create schema if not exists {quoted_name(schema)}")
    condition = f"where operator = {sql_text(operator)}"
    for schema, name, is_of_operator in relations:
        place = f"{quoted_name(schema)}.{quoted_name(name)}"
        rows = f"from {FILE}.{place} {condition if is_of_operator else ''}"
        scoped.execute(f"create or replace view {place} as {rows}")
    scoped.execute(f"create or replace view quality.publication as {_PUBLICATION.format(file=FILE)}")
    _create_macros(scoped, operator)
    return scoped


def _find_detail(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Let views read the files of detail beside a published file that was moved with them."""
    variable, name = _DETAIL
    if (folder := path.absolute().with_name(name)).is_dir():
        connection.execute(f"set variable {variable} = {sql_text(str(folder))}")


def _create_macros(connection: duckdb.DuckDBPyConnection, operator: str) -> None:
    """Create the macros of the file; those that need an operator's name where it has several need none."""
    for name, definitions in connection.execute(_MACROS).fetchall():
        texts = {}
        for is_table, parameters, definition in definitions:
            texts[len(parameters)] = (
                f"({', '.join(map(quoted_name, parameters))}) as {'table' if is_table else ''} {definition}"
            )
        if ("instant", "of_operator") in {tuple(parameters) for _, parameters, _ in definitions}:
            connection.execute(f"create or replace macro named_{name}{texts[2]}")
            texts[1] = f"(instant) as named_{name}(instant, {sql_text(operator)})"
        connection.execute(f"create or replace macro {quoted_name(name)}{', '.join(texts.values())}")

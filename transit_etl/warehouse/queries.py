"""Answers queries from the published warehouse, on a connection that can read only it and the lake."""

import re

import duckdb
import pyarrow as pa

from transit_etl import paths
from transit_etl.settings import Settings
from transit_etl.warehouse.database import WarehouseError

_LOCKED = """
set timezone = 'UTC';
set allow_persistent_secrets = false;
set autoinstall_known_extensions = false;
set autoload_known_extensions = false;
set python_enable_replacements = false;
set enable_external_access = false;
set lock_configuration = true;
"""
_EXPLAIN = re.compile(
    r"explain(?:\s+analyze)?(?:\s*\(\s*(?:analyze|format)\b[^()]*\))?\s+(.*)", re.IGNORECASE | re.DOTALL
)
# They run a text as SQL or call a function by its name: what they run cannot be seen in the query.
_RUNS_TEXT = r"query|json_execute_serialized_sql|\w*_external_resource\w*"
# DuckDB writes only SELECT as JSON: its syntax tree. COPY and INSERT can still be a part of its WITH.
_INSPECT = """
with tree as materialized (select json_serialize_sql($statement::varchar) as json),
nodes as (select node.key, node.path, node.type, node.atom from tree, json_tree(tree.json) as node)
select
    not bool_or(key = 'error' and atom = 'true'),
    count_if(path like '%.cte_map.map')
        = count_if(key = 'type' and path like '%.cte_map.map[%].value.query_node' and (atom ->> '$') in (
            'SELECT_NODE', 'SET_OPERATION_NODE', 'CTE_NODE', 'RECURSIVE_CTE_NODE'
        )),
    count_if(key = 'function_name' and regexp_full_match(atom ->> '$', $runs_text, 'i')) = 0
from nodes
"""


class NotPublishedError(WarehouseError):
    """There is no published warehouse yet."""


class QueryError(WarehouseError):
    """The query was refused; the message says why, in DuckDB's words where DuckDB refused it."""


def query(settings: Settings, sql: str) -> pa.Table:
    """Return the rows of one query, or of `explain` of one, on the published warehouse; instants are UTC.

    The query cannot write, change settings, load extensions, use the network, or read any file but the
    published warehouse and the lake. NotPublishedError before the first publication, else QueryError.
    """
    path = paths.published_database(settings.data_dir)
    if not path.exists():
        raise NotPublishedError(f"nothing is published at {path} yet: run build and publish first")
    try:
        with duckdb.connect(path, read_only=True) as connection:
            lake = str(paths.lake_dir(settings.data_dir).absolute())
            connection.execute("set allowed_directories = [$lake]", {"lake": lake})
            connection.execute(_LOCKED)
            rows: pa.Table = connection.sql(_only_query(connection, sql)).to_arrow_table()
    except duckdb.Error as error:
        raise QueryError(str(error)) from error
    return rows


def _only_query(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the only statement of a text, or raise QueryError unless it selects or explains a selection.

    A read-only connection without external access could still write into the lake: it may be read, and
    DuckDB does not tell reading from writing there.
    """
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(f"one query at a time: this text holds {len(statements)} statements")
    statement = statements[0]
    explained = _EXPLAIN.fullmatch(statement.query)
    arguments = {"statement": explained[1] if explained else statement.query, "runs_text": _RUNS_TEXT}
    inspected = connection.execute(_INSPECT, arguments).fetchall()
    if inspected != [(True, True, True)]:
        raise QueryError(
            "only a query is run here (SELECT, FROM, DESCRIBE, SHOW, EXPLAIN of one), which writes nothing "
            "and runs no text as SQL; a PIVOT names its values: on x in (…)"
        )
    return statement

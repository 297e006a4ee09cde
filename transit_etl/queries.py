"""Answers queries from the published warehouse, on a connection that can read only it and the lake."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import duckdb
import pyarrow as pa

from transit_base import promised
from transit_base.errors import NotPublishedError, TransitError, first_line
from transit_base.files import misplaced_text
from transit_etl import paths
from transit_etl.settings import FolderSettings

_LOCKED = """
set timezone = 'UTC';
set allow_persistent_secrets = false;
set autoinstall_known_extensions = false;
set autoload_known_extensions = false;
set python_enable_replacements = false;
set enable_external_access = false;
set lock_configuration = true;
"""
_SHOWN = 40  # characters of a query from where it is wrong
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


_REFUSAL = (
    "only a query is run here (SELECT, FROM, DESCRIBE, SHOW, EXPLAIN of one), which writes nothing "
    "and runs no text as SQL; a PIVOT names its values: on x in (…)"
)


class QueryError(TransitError):
    """The query was refused; the message says why, in DuckDB's words where DuckDB refused it."""


class UnreadableError(QueryError):
    """The published file is damaged, or not ours to read; the message says what to do."""

    def __init__(self, path: Path, error: duckdb.Error) -> None:
        what = misplaced_text(path) if path.is_dir() else _in_one_line(str(error))
        super().__init__(
            f"the published warehouse {path} cannot be read ({what}): `transit-etl publish` makes it again"
        )


def query(settings: FolderSettings, sql: str, variables: Mapping[str, object] | None = None) -> pa.Table:
    """Return the rows of one query, or of `explain` of one, on the published warehouse; instants are UTC.

    The query cannot write, change settings, load extensions, use the network, or read any file but the
    published warehouse and the lake; it reads `variables` by `getvariable`. NotPublishedError before the
    first publication, else QueryError.
    """
    results = list(query_all(settings, sql, variables))
    if len(results) != 1:
        raise QueryError(f"one query at a time: this text holds {len(results)}")
    return results[0]


def query_all(
    settings: FolderSettings, sql: str, variables: Mapping[str, object] | None = None
) -> Iterator[pa.Table]:
    """Yield the rows of each query of a text, as `query` does of one; none is run if any is refused."""
    path = paths.published_database(settings.data_dir)
    if not path.exists():
        raise NotPublishedError(path)
    try:
        with duckdb.connect(path, read_only=True) as connection:
            for name, value in (variables or {}).items():
                connection.execute(f"set variable {name} = $value", {"value": value})
            _lock(connection, settings.data_dir.absolute())
            lines_before = 0
            for text in _only_queries(connection, sql):
                yield _rows(connection, text, lines_before, path)
                lines_before += text.count("\n")
    except duckdb.Error as error:
        if _is_damage(path, error):
            raise UnreadableError(path, error) from error
        raise QueryError(_in_one_line(str(error))) from error


def _is_damage(path: Path, error: duckdb.Error) -> bool:
    """Tell whether an error is of the published file itself, not of the query."""
    is_of_file = isinstance(error, duckdb.IOException) and str(path) in str(error)
    return is_of_file or "Corrupt database file" in str(error)


def _rows(connection: duckdb.DuckDBPyConnection, text: str, lines_before: int, path: Path) -> pa.Table:
    try:
        rows: pa.Table = connection.sql(text).to_arrow_table()
    except duckdb.Error as error:
        if _is_damage(path, error):
            raise
        raise QueryError(_in_one_line(_with_place(connection, text, error), lines_before)) from error
    return rows


def _with_place(connection: duckdb.DuckDBPyConnection, text: str, error: duckdb.Error) -> str:
    """Return the message of a query's error; planned once more, DuckDB adds the place to some of them."""
    try:
        connection.execute(f"explain {text}")
    except duckdb.Error as planned:
        if first_line(planned) == first_line(error):
            return str(planned)
    return str(error)


def _lock(connection: duckdb.DuckDBPyConnection, data_dir: Path) -> None:
    """Let a connection read the lake, what belongs to the published file, and no other file.

    Tables are found without their schema.
    """
    rows = connection.execute("select schema_name from duckdb_schemas() where not internal").fetchall()
    schemas = ["main", *(schema for schema in promised.SCHEMAS if (schema,) in rows)]
    connection.execute(f"set search_path = '{','.join(schemas)}'")
    lake, detail = str(paths.lake_dir(data_dir)), str(paths.detail_dir(data_dir))
    connection.execute(f"set variable {promised.DETAIL_FOLDER} = $detail", {"detail": detail})
    connection.execute("set allowed_directories = [$lake, $detail]", {"lake": lake, "detail": detail})
    connection.execute(_LOCKED)


def _only_queries(connection: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    """Return the statements of a text, or raise QueryError unless each selects or explains a selection.

    A read-only connection without external access could still write into the lake: it may be read, and
    DuckDB does not tell reading from writing there.
    """
    statements = [statement.query for statement in connection.extract_statements(sql)]
    if not statements:
        raise QueryError("this text holds no query")
    for statement in statements:
        explained = _EXPLAIN.fullmatch(statement)
        arguments = {"statement": explained[1] if explained else statement, "runs_text": _RUNS_TEXT}
        inspected = connection.execute(_INSPECT, arguments).fetchall()
        if inspected != [(True, True, True)]:
            raise QueryError(_REFUSAL)
    return statements


def _in_one_line(message: str, lines_before: int = 0) -> str:
    """Return a message of DuckDB in one line, with the place in the text that it points at."""
    said, _, pointed = message.partition("\n\nLINE ")
    text = " ".join(said.split())
    if place := re.match(r"(\d+): (.*)\n( *)\^", pointed):
        column = len(place[3]) - len(f"LINE {place[1]}: ")
        shown = place[2][column : column + _SHOWN].strip()
        return f"{text} (line {int(place[1]) + lines_before}, at: {shown})"
    return text

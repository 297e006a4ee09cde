"""Older versions of DuckDB open the published file and answer everything as ours does, also by SQLAlchemy."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.documents.documents import README, all_blocks
from tests.documents.sessions import ROOT
from tests.warehouse.rehearsed import Rehearsed
from tests.warehouse.test_recipes import ON_HAND_MADE_TABLES, RECIPES
from transit_etl import warehouse
from transit_etl.paths import published_database

OLDER = ROOT / ".venv" / "older-duckdb"  # scripts/setup.sh installs them
CLIENT = """
import json, sys, duckdb
database, queries = json.load(sys.stdin)
with duckdb.connect(database, read_only=True) as connection:
    connection.execute("set timezone = 'UTC'; set search_path = 'core,marts,quality'")
    counts = {text: connection.execute(f"select count(*) from ({text})").fetchone()[0] for text in queries}
    comments = connection.execute(
        "select count(*), count(comment) from duckdb_columns() where not internal"
    ).fetchone()
print(json.dumps([duckdb.__version__, counts, comments]))
"""
_PERIOD = "'2026-11-01', '2026-11-30'"
MACROS = {  # a query for each
    "add_seconds": "select add_seconds(received_at, elapsed_ms / 1000) from core.requests",
    "direction_names": "select * from direction_names()",
    "line_waits_between": f"select * from line_waits_between({_PERIOD})",
    "local_time": "select local_time(received_at) from core.requests",
    "network_waits_between": f"select * from network_waits_between({_PERIOD})",
    "on_time_share": "select * from on_time_share(-60, 359)",
    "predictions_between": f"select * from predictions_between(line_code, {_PERIOD})",
    "punctuality_between": f"select * from punctuality_between(line_code, {_PERIOD})",
    "rulesets_between": f"select * from rulesets_between(line_code, {_PERIOD})",
    "seconds_between": "select seconds_between(passed_after, passed_before) from core.stop_visits",
    "service_date": "select service_date(received_at) from core.requests",
    "stop_punctuality_between": f"select * from stop_punctuality_between({_PERIOD})",
    "stop_waits_between": f"select * from stop_waits_between({_PERIOD})",
    "travel_times_between": f"select * from travel_times_between({_PERIOD})",
}
RELATIONS = """
import json, sys, duckdb
with duckdb.connect(json.load(sys.stdin)[0], read_only=True) as connection:
    rows = connection.execute(
        "select table_schema || '.' || table_name from information_schema.tables order by all"
    ).fetchall()
    macros = connection.execute(
        "select distinct function_name from duckdb_functions() where not internal order by all"
    ).fetchall()
print(json.dumps([[name for (name,) in rows], [name for (name,) in macros]]))
"""
BY_SQLALCHEMY = """
import json, sys
from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DBAPIError
database, query = json.load(sys.stdin)
engine = create_engine(f"duckdb:///{database}", connect_args={"read_only": True})
with engine.connect() as connection:
    rows = connection.execute(text(query)).mappings().all()
    try:
        connection.execute(text("create table core.more (n integer)"))
    except DBAPIError as error:
        refusal = str(error)
columns = inspect(engine).get_columns("on_time_lines", schema="headline")
meanings = {each["name"]: each["comment"] for each in columns}
print(json.dumps([[dict(row) for row in rows], refusal, meanings], default=str))
"""


def _queries() -> list[str]:
    """Return the queries of the documents and the recipes."""
    in_readme = re.findall(r'transit-etl sql "(.*?)"\n', README.read_text(encoding="utf-8"), re.DOTALL)
    assert in_readme
    shown = [block.text for block in all_blocks() if block.language == "sql"]
    recipes = [text for name, text in RECIPES.items() if name not in ON_HAND_MADE_TABLES]
    return [text.strip().rstrip(";") + "\n" for text in (*in_readme, *shown, *recipes)]


def _ask(program: str, version: str, *question: object) -> list[object]:
    """Return what a program prints that has DuckDB of that version; `ours` is the one in use."""
    folder = OLDER / version
    environment = {**os.environ, **({} if version == "ours" else {"PYTHONPATH": str(folder)})}
    asked = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(question),
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == asked.returncode, asked.stderr
    answer: list[object] = json.loads(asked.stdout)
    return answer


@pytest.mark.long
@pytest.mark.parametrize("version", ["1.4", "1.5"])
def test_an_older_client_answers_every_view_macro_and_query_of_the_documents(
    rehearsed: Rehearsed, version: str
) -> None:
    database = str(published_database(rehearsed.settings.data_dir))
    relations, macros = _ask(RELATIONS, "ours", database)
    assert isinstance(relations, list)
    queries = [*(f"select * from {name}" for name in relations), *MACROS.values(), *_queries()]
    used, *answers = _ask(CLIENT, version, database, queries)

    assert len(relations) > 80
    assert [*MACROS] == macros
    assert str(used).startswith(f"{version}.")
    assert _ask(CLIENT, "ours", database, queries)[1:] == answers


def _query_of_connect() -> str:
    """Return the query that the page about connecting shows."""
    [shown] = [
        block.text for block in all_blocks() if (block.document.name, block.language) == ("connect.md", "sql")
    ]
    return shown


@pytest.mark.parametrize("version", ["1.4", "1.5"])
def test_programs_that_use_sqlalchemy_get_rows_columns_and_meanings_and_write_nothing(
    rehearsed: Rehearsed, version: str
) -> None:
    query = _query_of_connect()
    database = str(published_database(rehearsed.settings.data_dir))
    rows, refusal, meanings = _ask(BY_SQLALCHEMY, version, database, query)
    with duckdb.connect(database, read_only=True) as connection:
        described = connection.execute(
            "select column_name, comment from duckdb_columns()"
            " where schema_name = 'headline' and table_name = 'on_time_lines'"
        ).fetchall()

    assert rows
    answered = warehouse.query(rehearsed.settings, query).to_pylist()
    assert json.loads(json.dumps(answered, default=str)) == rows
    assert "read-only" in str(refusal)
    assert dict(described) == meanings


def test_the_set_up_installs_the_older_clients() -> None:
    locks = {path.stem for path in (ROOT / "scripts" / "older-duckdb").glob("*.lock")}

    assert {"1.4", "1.5"} == locks
    assert all(Path(OLDER, version, "duckdb").is_dir() for version in locks)

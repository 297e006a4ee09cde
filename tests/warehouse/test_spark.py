"""The models on Apache Spark: each resolves there, and a build gives the tables that one by DuckDB gives."""

import json
import shutil
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import duckdb
import pytest

from benchmarks.engines import compare_builds
from tests.warehouse.dbt_runs import run_dbt
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl import paths, warehouse
from transit_etl.settings import Engine, Settings
from transit_etl.warehouse.spark import start_session

pytestmark = [
    pytest.mark.xdist_group("spark"),  # a session takes two cores and gigabytes
    pytest.mark.skipif(
        shutil.which("java") is None, reason="no Java here: `make setup` installs it from Debian"
    ),
]

# How Spark calls DuckDB's types; it knows no type for keys.
TYPES = {"VARCHAR": "string", "UUID": "string", "INTEGER": "int", "HUGEINT": "bigint"}
# What is one kind of value, whatever its width.
KINDS = {"int": "whole", "bigint": "whole", "decimal": "decimal"}


def test_spark_resolves_every_model_to_the_columns_that_it_has_in_duckdb(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BUILD_SCRATCH", str(tmp_path / "scratch"))
    session = start_session("local[1]", tmp_path / "spark")
    with duckdb.connect(paths.build_database(built.data_dir), read_only=True) as connection:
        tables = _tables(connection)
    for (schema, name), columns in tables.items():
        session.sql(f"create database if not exists {schema}")
        nothing = ", ".join(f"cast(null as {kind}) as `{column}`" for column, kind in columns.items())
        session.sql(f"create or replace view {schema}.{name} as select {nothing} where false")

    wrong = {}
    for node in _compiled(built, tmp_path):
        place = node["schema"], node["alias"]
        columns = dict(session.sql(node["compiled_code"]).dtypes)
        if place not in tables:  # DuckDB has it inlined
            session.sql(f"create view {place[0]}.{place[1]} as {node['compiled_code']}")
        elif _kinds(columns) != _kinds(tables[place]):
            wrong[place] = _kinds(columns).items() ^ _kinds(tables[place]).items()

    assert {} == wrong


def _tables(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], dict[str, str]]:
    """Return the tables and views of a build, with their columns and types as Spark calls them."""
    rows = connection.execute(
        """
        select schema_name, table_name, list((column_name, data_type) order by column_index)
        from duckdb_columns() where not internal and schema_name != 'main' group by all
        """
    ).fetchall()
    return {
        (schema, name): {column: _spark_type(kind) for column, kind in columns}
        for schema, name, columns in rows
    }


def _spark_type(kind: str) -> str:
    if kind.endswith("[]"):
        return f"array<{_spark_type(kind.removesuffix('[]'))}>"
    return TYPES.get(kind, kind.lower())


def _kinds(columns: dict[str, str]) -> dict[str, str]:
    return {name: KINDS.get(kind.split("(")[0], kind) for name, kind in columns.items()}


def _compiled(built: Settings, folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the models as dbt compiles them for Spark, each after those that it reads."""
    target = run_dbt(built, folder, "compile", "--full-refresh", output="spark")
    nodes = json.loads((target / "manifest.json").read_bytes())["nodes"]
    reads = {name: node["depends_on"]["nodes"] for name, node in nodes.items() if name.startswith("model.")}
    for name in TopologicalSorter(reads).static_order():
        if name in reads:
            yield nodes[name]


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
def test_a_build_by_spark_gives_the_tables_of_one_by_duckdb(rehearsed: Rehearsed, tmp_path: Path) -> None:
    """Also after a date was built once more, and the published file is like any other."""
    settings = rehearsed.settings.model_copy(
        update={"data_dir": tmp_path / "data", "build_target": Engine.SPARK}
    )
    shutil.copytree(
        rehearsed.settings.data_dir, settings.data_dir, ignore=shutil.ignore_patterns("warehouse", "dbt")
    )
    for day in (None, DAY):
        report = warehouse.build(settings, first_date=day, last_date=day)

        compared = list(compare_builds(rehearsed.settings.data_dir, settings.data_dir))
        assert {} == {each.table: each.differences for each in compared if each.differences}
        assert len(compared) > 80
        assert sum(each.n_rows for each in compared) > 10_000
        assert report.n_checks > 200
    warehouse.publish(settings)
    sentences = "select sentence from headline.on_time_network"
    expected = warehouse.query(rehearsed.settings, sentences)
    assert expected == warehouse.query(settings, sentences)

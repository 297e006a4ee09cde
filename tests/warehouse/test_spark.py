"""The models on Apache Spark: each resolves there, and a build gives the tables that one by DuckDB gives."""

import json
import shutil
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pytest
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest

from benchmarks.engines import compare_builds
from tests.warehouse.dbt_runs import run_dbt
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl import paths, warehouse
from transit_etl.settings import Engine, Settings
from transit_etl.warehouse.dbt import SPARK_MEMORY
from transit_etl.warehouse.dbt_manifest import PROJECT
from transit_etl.warehouse.spark import start_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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


class Project(NamedTuple):
    """A session of Spark in which every model is an empty view, and what it has those of."""

    session: "SparkSession"
    models: list[dict[str, Any]]
    tables: dict[tuple[str, str], dict[str, str]]


@pytest.fixture(scope="module")
def project(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BUILD_SCRATCH", str(folder / "scratch"))
        patch.setenv("SPARK_DRIVER_MEMORY", SPARK_MEMORY)
        session = start_session("local[2]", folder / "spark")
    with duckdb.connect(paths.build_database(built.data_dir), read_only=True) as connection:
        tables = _tables(connection)
    for (schema, name), columns in tables.items():
        session.sql(f"create database if not exists {schema}")
        nothing = ", ".join(f"cast(null as {kind}) as `{column}`" for column, kind in columns.items())
        session.sql(f"create view {schema}.{name} as select {nothing} where false")
    models = list(_compiled(built, folder))
    for node in models:
        place = node["schema"], node["alias"]
        if place not in tables:  # DuckDB has it inlined
            session.sql(f"create view {'.'.join(place)} as {node['compiled_code']}")
    yield Project(session, models, tables)
    session.stop()


def test_spark_resolves_every_model_to_the_columns_that_it_has_in_duckdb(project: Project) -> None:
    wrong = {}
    for node in project.models:
        columns = _kinds(dict(project.session.sql(node["compiled_code"]).dtypes))
        expected = project.tables.get((node["schema"], node["alias"]))
        if expected is not None and columns != _kinds(expected):
            wrong[node["name"]] = columns.items() ^ _kinds(expected).items()

    assert {} == wrong


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_every_unit_test_of_the_models_passes_in_spark(project: Project, tmp_path: Path) -> None:
    """Their rows are in DuckDB's SQL, so DuckDB makes them."""
    options = [
        "--target", "spark", "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT),
        "--target-path", str(tmp_path / "target"), "--log-path", str(tmp_path / "logs"),
    ]  # fmt: skip
    parsed = dbtRunner().invoke(["--quiet", "parse", *options]).result
    assert isinstance(parsed, Manifest)
    unit_tests = list(parsed.unit_tests.values())
    fixtures: list[Any] = [each for unit_test in unit_tests for each in (*unit_test.given, unit_test.expect)]
    with duckdb.connect() as connection:
        for number, fixture in enumerate(fixtures):
            if isinstance(fixture.rows, str):
                rows = connection.sql(fixture.rows)
                columns = ", ".join(map(_key_as_text, rows.columns))
                frame = project.session.createDataFrame(rows.select(columns).to_arrow_table())
                frame.createTempView(f"fixture_{number}")
                fixture.rows = f"select * from fixture_{number}"
            else:
                fixture.rows = [
                    {name: Array(value) if isinstance(value, list) else value for name, value in row.items()}
                    for row in fixture.rows
                ]

    done = dbtRunner(manifest=parsed).invoke(["--quiet", "test", "--select", "test_type:unit", *options])

    assert isinstance(done.result, RunExecutionResult), done.exception
    assert {} == {each.node.name: each.message for each in done.result.results if each.status != "pass"}
    assert len(unit_tests) == len(done.result.results) > 100


class Array(list[str]):
    """A list that dbt writes as Spark reads it."""

    def __str__(self) -> str:
        return f"array({', '.join(map(repr, self))})"


def _key_as_text(column: str) -> str:
    """Select a column; a key that DuckDB would read as a UUID is written as one."""
    if not column.endswith("_key"):
        return column
    return f"coalesce(cast(try_cast({column} as uuid) as varchar), cast({column} as varchar)) as {column}"


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

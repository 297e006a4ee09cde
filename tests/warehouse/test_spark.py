"""The models on Apache Spark: each resolves there, and a build gives the tables that one by DuckDB gives."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
import pyspark
import pytest
from dbt.artifacts.schemas.run import RunExecutionResult
from dbt.cli.main import dbtRunner
from dbt.contracts.graph.manifest import Manifest

from benchmarks.engines import SCHEMAS, compare_builds
from tests.published import promised_tables
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_emulator.process import free_port
from transit_etl import paths, warehouse
from transit_etl.settings import Engine, Settings
from transit_etl.warehouse.building.dbt import SPARK_MEMORY
from transit_etl.warehouse.building.spark import start_session
from transit_etl.warehouse.describing.dbt_manifest import PROJECT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [
    pytest.mark.xdist_group("spark"),  # a session takes two cores and gigabytes
    pytest.mark.skipif(
        shutil.which("java") is None, reason="no Java here: `make setup` installs it from Debian"
    ),
]

OPTIONS = "--target", "spark", "--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT)
# How Spark calls DuckDB's types; it knows no type for keys.
TYPES = {"VARCHAR": "string", "UUID": "string", "TIME": "string", "INTEGER": "int", "HUGEINT": "bigint"}
# What is one kind of value, whatever its width.
KINDS = {"int": "whole", "bigint": "whole", "decimal": "decimal"}


class Project(NamedTuple):
    """The models as dbt parses them, each of them an empty view of a session, and the columns in DuckDB."""

    parsed: Manifest
    models: Sequence[Any]
    session: "SparkSession"
    tables: dict[tuple[str, str], dict[str, str]]


@pytest.fixture(scope="module")
def project(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    folder = tmp_path_factory.mktemp("spark")
    with duckdb.connect(paths.build_database(built.data_dir), read_only=True) as connection:
        tables = _tables(connection)
    environment = {
        "BUILD_DATA": str(built.data_dir), "BUILD_FROM": "2026-11-10", "BUILD_TO": "2026-11-10",
        "BUILD_SCRATCH": str(folder / "scratch"), "SPARK_DRIVER_MEMORY": SPARK_MEMORY,
        "DBT_TARGET_PATH": str(folder / "target"), "DBT_LOG_PATH": str(folder / "logs"),
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        session = start_session("local[2]", folder / "spark", catalog="in-memory")
        for (schema, name), columns in tables.items():
            session.sql(f"create database if not exists {schema}")
            session.sql(f"create view {schema}.{name} as {_no_rows(columns)}")
        parsed = dbtRunner().invoke(["--quiet", "parse", *OPTIONS]).result
        assert isinstance(parsed, Manifest)
        models = _compiled(parsed)
        for node in models:
            if (node.schema, node.alias) not in tables:  # DuckDB has it inlined
                columns = dict(session.sql(node.compiled_code).dtypes)
                session.sql(f"create view {node.schema}.{node.alias} as {_no_rows(columns)}")
        yield Project(parsed, models, session, tables)
        session.stop()


def _no_rows(columns: dict[str, str]) -> str:
    """Return a query of these columns, with their types in Spark's SQL, that has no rows."""
    selected = ", ".join(f"cast(null as {kind}) as `{column}`" for column, kind in columns.items())
    return f"select {selected} where false"


def _compiled(parsed: Manifest) -> list[Any]:
    """Return the models as they are compiled for Spark, each after those that it reads."""
    compiled = {each.node.unique_id: each.node for each in _run(parsed, "compile", "--full-refresh")}
    models = {name: node for name, node in compiled.items() if node.resource_type == "model"}
    reads = {name: node.depends_on.nodes for name, node in models.items()}
    return [models[name] for name in TopologicalSorter(reads).static_order() if name in models]


def _run(parsed: Manifest, *arguments: str) -> Sequence[Any]:
    """Run a command of dbt in the session; return what it says of each model or test."""
    done = dbtRunner(manifest=parsed).invoke(["--quiet", *arguments, *OPTIONS])
    assert isinstance(done.result, RunExecutionResult), done.exception
    return done.result.results


@pytest.mark.long
def test_spark_resolves_every_model_to_the_columns_that_it_has_in_duckdb(project: Project) -> None:
    wrong = {}
    for node in project.models:
        columns = _kinds(dict(project.session.sql(node.compiled_code).dtypes))
        expected = project.tables.get((node.schema, node.alias))
        if expected is not None and columns != _kinds(expected):
            wrong[node.schema, node.alias] = columns.items() ^ _kinds(expected).items()

    assert {} == wrong
    assert len(project.models) > 100


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
def test_every_unit_test_of_the_models_passes_in_spark(project: Project) -> None:
    """Their rows are in DuckDB's SQL, so DuckDB makes them."""
    unit_tests = list(project.parsed.unit_tests.values())
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

    results = _run(project.parsed, "test", "--select", "test_type:unit")

    of_tests = [each for each in results if each.node.resource_type == "unit_test"]
    assert {} == {each.node.name: each.message for each in of_tests if each.status != "pass"}
    assert len(unit_tests) == len(of_tests) > 100


class Array(list[str]):
    """A list that dbt writes as Spark reads it."""

    def __str__(self) -> str:
        return f"array({', '.join(map(repr, self))})"


def _key_as_text(column: str) -> str:
    """Select a column; Spark has no type for keys."""
    return f"cast({column} as varchar) as {column}" if column.endswith("_key") else column


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


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("master", ["local", "cluster"], indirect=True)
def test_a_build_by_spark_gives_the_tables_of_one_by_duckdb(
    rehearsed: Rehearsed, master: str, tmp_path: Path
) -> None:
    """Also after a date was built once more, and the published file is like any other."""
    settings = rehearsed.settings.model_copy(
        update={"data_dir": tmp_path / "data", "build_target": Engine.SPARK, "spark_master": master}
    )
    shutil.copytree(
        rehearsed.settings.data_dir, settings.data_dir, ignore=shutil.ignore_patterns("warehouse", "dbt")
    )
    for day in (None, DAY):
        report = warehouse.build(settings, first_date=day, last_date=day)

        compared = list(compare_builds(rehearsed.settings.data_dir, settings.data_dir))
        assert {} == {each.table: each.differences for each in compared if each.differences}
        assert promised_tables(*SCHEMAS) <= {each.table for each in compared}
        assert sum(each.n_rows for each in compared) > 10_000
        assert report.n_checks > 200
    warehouse.publish(settings)
    sentences = "select sentence from headline.on_time_network"
    expected = warehouse.query(rehearsed.settings, sentences)
    assert expected == warehouse.query(settings, sentences)


@pytest.fixture
def master(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give the address of a local master, or of one in a process of its own, with a worker in another."""
    if request.param == "local":
        yield "local[*]"
        return
    address = f"spark://127.0.0.1:{(port := free_port())}"
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text(
        f"""
        spark.driver.host 127.0.0.1
        spark.executor.memory 2g
        spark.hadoop.javax.jdo.option.ConnectionURL jdbc:derby:;databaseName={tmp_path}/metastore;create=true
        spark.driver.extraJavaOptions -Dderby.stream.error.file={tmp_path}/derby.log
        spark.pyspark.python {sys.executable}
        spark.sql.shuffle.partitions 2
        spark.sql.warehouse.dir {tmp_path}/tables
        """
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path / "conf"))
    monkeypatch.setenv("SPARK_HOME", str(Path(pyspark.__file__).parent))
    programs = [
        ["master.Master", "--host", "127.0.0.1", "--port", str(port)],
        ["worker.Worker", "--memory", "3g", "--work-dir", str(tmp_path / "work"), address],
    ]
    command = [f"{os.environ['SPARK_HOME']}/bin/spark-class"]
    with ExitStack() as started:
        for name, *options in programs:
            program = [*command, f"org.apache.spark.deploy.{name}", "--webui-port", "0", *options]
            process = started.enter_context(subprocess.Popen(program, stderr=subprocess.DEVNULL))
            started.callback(process.terminate)
        yield address

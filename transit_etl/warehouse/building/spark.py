"""Runs dbt in a session of Apache Spark, and copies the tables that are promised into the build database.

A program of its own, with dbt's arguments: a session is a Java process, and its tables are read while it
lives. BUILD_SPARK_MASTER is its master. All else that Spark can be told comes from Spark's own configuration
(`SPARK_CONF_DIR`), such as where a cluster keeps its tables; a local session keeps them in BUILD_SPARK.
"""

import os
import sys
from collections.abc import Collection, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from transit_base.quoting import quoted_name
from transit_estimates import matching
from transit_etl import sql_functions
from transit_etl.engine_functions import function_statements
from transit_etl.service_day import DAY
from transit_etl.warehouse.database import MODEL_SCHEMAS
from transit_etl.warehouse.describing.contents import is_published
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.models import DatedBy, tables_by_date

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

_PASSED, _FAILED = 0, 1
# What the models rely on: instants in UTC, and lake columns as they were written.
_REQUIRED = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.sources.default": "parquet",
    "spark.sql.legacy.createHiveTableByDefault": "false",
    # a session keeps the plans of what it ran, and those of long models fill the memory
    "spark.sql.maxPlanStringLength": "1000",
    "spark.sql.ui.retainedExecutions": "10",
}
_NO_TABLES = (
    "Spark has no tables of the builds before: delete build.duckdb, so that every date is built again"
)
_OPTIONS_OF_DBT = {"--project-dir", "--profiles-dir", "--target", "--target-path", "--log-path", "--vars"}


def main() -> int:
    """Run dbt with the arguments of this program, which has to succeed; return the exit code."""
    from dbt.artifacts.schemas.run import RunExecutionResult  # noqa: PLC0415 - seconds, here alone
    from dbt.cli.main import dbtRunner  # noqa: PLC0415
    from dbt.contracts.graph.manifest import Manifest as ParsedProject  # noqa: PLC0415

    arguments = sys.argv[1:]
    session = start_session(os.environ["BUILD_SPARK_MASTER"], Path(os.environ["BUILD_SPARK"]).absolute())
    project = dbtRunner().invoke(_parse_arguments(arguments)).result
    if not isinstance(project, ParsedProject):
        return _FAILED
    manifest = project.to_dict()
    database = Path(os.environ["BUILD_DATABASE"])
    if "--full-refresh" not in arguments and not session.catalog.tableExists("core.service_days"):
        sys.exit(_NO_TABLES)
    if "--full-refresh" in arguments and "--select" not in arguments:
        _drop_models(session)
    _load_sources(session, manifest, database)
    done = dbtRunner(manifest=project).invoke(arguments)
    if not done.success or not isinstance(done.result, RunExecutionResult):
        return _FAILED
    _copy_promised(session, manifest, database, {each.node.unique_id for each in done.result.results})
    session.stop()
    return _PASSED


def start_session(master: str, folder: Path, catalog: str = "hive") -> "SparkSession":
    """Start the session that dbt-spark then finds; a local one keeps its tables in the folder.

    Spark's catalog is `hive`, or `in-memory` where no table need outlive the session.
    """
    from dbt.adapters.spark import session as session_method  # noqa: PLC0415 - an optional dependency
    from pyspark import cloudpickle  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    class Cursor(session_method.Cursor):
        """A cursor that leaves the session as it is: dbt-spark's lets numbers overflow without an error."""

        def __init__(self, **_parameters: object) -> None:
            super().__init__()

    session_method.Cursor = Cursor  # type: ignore[misc]

    folder.mkdir(parents=True, exist_ok=True)
    options: dict[str, bool | float | int | str | None] = {**_REQUIRED}
    if master.startswith("local"):
        options |= {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.pyspark.python": sys.executable,
            "spark.driver.extraJavaOptions": f"-Dderby.stream.error.file={folder}/derby.log",
            "spark.hadoop.javax.jdo.option.ConnectionURL": (
                f"jdbc:derby:;databaseName={folder}/metastore;create=true"
            ),
            "spark.local.dir": os.environ["BUILD_SCRATCH"],
            "spark.sql.shuffle.partitions": str(os.cpu_count() or 2),
            "spark.sql.warehouse.dir": str(folder / "tables"),
        }
    builder = SparkSession.builder.appName("transit-etl").master(master)
    builder = builder.config("spark.sql.catalogImplementation", catalog)
    session = builder.config(map=options).getOrCreate()
    session.sparkContext.setLogLevel("OFF")  # its errors come as exceptions
    for module in (sql_functions, matching):  # the workers of a cluster do not have these packages
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    for each in sql_functions.FUNCTIONS:
        session.udf.register(each.name, each.function, each.return_type)
    for statement in function_statements("spark").values():
        session.sql(statement)
    return session


def _parse_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with which dbt reads the project only."""
    position = arguments.index("build")
    options = zip(arguments[position:], arguments[position + 1 :], strict=False)
    return [
        *arguments[:position], "parse",
        *(part for name, value in options if name in _OPTIONS_OF_DBT for part in (name, value)),
    ]  # fmt: skip


def _drop_models(session: "SparkSession") -> None:
    """Drop every table and view of earlier builds, also those of models that no longer exist."""
    for schema in MODEL_SCHEMAS:
        session.sql(f"drop database if exists {schema} cascade")


def _load_sources(session: "SparkSession", manifest: Manifest, database: Path) -> None:
    """Give Spark the tables that no model makes, such as those of reference files."""
    with duckdb.connect(database, read_only=True) as connection:
        existing = connection.sql("select schema_name, table_name from duckdb_tables()").fetchall()
        for source in manifest["sources"].values():
            schema, name = place = source["schema"], source["identifier"]
            if place not in existing:
                continue  # a publication makes it
            relation = connection.sql(f"from {quoted_name(schema)}.{quoted_name(name)}")
            columns = zip(map(quoted_name, relation.columns), relation.types, strict=True)
            # Spark has no type for times of day
            selected = [
                f"cast({column} as varchar) as {column}" if str(kind) == "TIME" else column
                for column, kind in columns
            ]
            rows = relation.select(", ".join(selected)).to_arrow_table()
            session.sql(f"create database if not exists {schema}")
            session.createDataFrame(rows).write.mode("overwrite").saveAsTable(f"{schema}.{name}")


def _copy_promised(
    session: "SparkSession", manifest: Manifest, database: Path, built: Collection[str]
) -> None:
    """Bring the tables to publish in the build database up to those just built, in one transaction."""
    by_date = tables_by_date(manifest)
    with duckdb.connect(database) as connection:
        connection.execute("set timezone = 'UTC'")
        connection.begin()
        for identifier in sorted(_copied(manifest) & set(built)):
            node = manifest["nodes"][identifier]
            rows = session.table(f"{node['schema']}.{node['alias']}")
            name = f"{quoted_name(node['schema'])}.{quoted_name(node['alias'])}"
            connection.execute(f"create schema if not exists {quoted_name(node['schema'])}")
            _copy_rows(rows, connection, name, by_date.get((node["config"]["schema"], node["alias"])))
        connection.commit()


def _copied(manifest: Manifest) -> set[str]:
    """Name the tables that are published, or read by a view: DuckDB makes the views, and seeds, again."""
    models = {name: node for name, node in manifest["nodes"].items() if node["resource_type"] == "model"}
    tables = {name for name, node in models.items() if node["config"]["materialized"] != "view"}
    read = {each for name in models.keys() - tables for each in models[name]["depends_on"]["nodes"]}
    return {
        name for name in tables if name in read or is_published(models[name]["schema"], models[name]["alias"])
    }


def _copy_rows(
    rows: "DataFrame", connection: duckdb.DuckDBPyConnection, name: str, dated_by: DatedBy | None
) -> None:
    """Replace the rows of the service dates built; of a table that is not dated, all rows."""
    if dated_by is None:
        connection.execute(f"drop table if exists {name}")
        _insert(connection, name, rows.toArrow())
        return
    _insert(connection, name, rows.limit(0).toArrow())
    for day in _dates_built(dated_by.days_around):  # one at a time, to bound the memory
        connection.execute(f"delete from {name} where {quoted_name(dated_by.column)} = ?", [day])
        _insert(connection, name, rows.where(rows[dated_by.column] == day).toArrow())


def _dates_built(days_around: int) -> Iterator[date]:
    day = date.fromisoformat(os.environ["BUILD_FROM"]) - days_around * DAY
    while day <= date.fromisoformat(os.environ["BUILD_TO"]) + days_around * DAY:
        yield day
        day += DAY


def _insert(connection: duckdb.DuckDBPyConnection, name: str, rows: "pa.Table") -> None:
    """Insert rows; create the table if there is none. Its types are those of a build by DuckDB."""
    connection.register("copied", rows)
    columns = connection.execute("select column_name, column_type from (describe copied)").fetchall()
    selected = ", ".join(_in_its_type(column, kind) for column, kind in columns)
    connection.execute(f"create table if not exists {name} as select {selected} from copied limit 0")
    connection.execute(f"insert into {name} by name select {selected} from copied")
    connection.unregister("copied")


def _in_its_type(column: str, kind: str) -> str:
    """Select a column: Spark has no type for keys, knows instants with a zone only, and counts in 32 bits."""
    name = quoted_name(column)
    if column.endswith("_key"):
        return f"cast({name} as uuid) as {name}"
    wanted = {"TIMESTAMP WITH TIME ZONE": "timestamp", "INTEGER": "bigint"}.get(kind)
    return f"cast({name} as {wanted}) as {name}" if wanted else name


if __name__ == "__main__":
    sys.exit(main())

"""Builds the same data by DuckDB and by Spark: whether both give the same tables, and how long each takes.

    python benchmarks/engines.py [--data FOLDER] [--size small] [--hours 24] [--days 1] [--executors 1 2]
                                 [--cores 1] [--memory 2]

Without a data folder, hours of an emulated network are rehearsed; with a number of days, the first 24 hours
are repeated so often, the dates moved. Every table and view of core and marts is compared row by row, by its
key: floating-point numbers to 1e-9 of the greater one, all else exactly. Spark runs as a cluster on this
machine, once with each number of executors: processes of so many cores and GiB each, beside the driver. Each
build is from nothing, and its time is printed when it ends. Fails if a row differs.
"""

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import duckdb
import httpx2
from rich.console import Console

from benchmarks.repeated_days import repeat_first_day
from transit_base.quoting import quoted_name, sql_text
from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl import paths, warehouse
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Engine, Settings
from transit_etl.warehouse.describing.models import described_tables

START = datetime(2026, 11, 18, 3, tzinfo=UTC)
SCHEMAS = ("core", "marts")
_TOLERANCE = 1e-9
_NEEDED = ("lake", "raw", "folder.json")  # of a data folder: what a build reads
_COLUMNS = """
select schema_name, table_name, list((column_name, data_type) order by column_name)
from duckdb_columns() where database_name = $database and schema_name in $schemas
group by all order by all
"""
Columns = Sequence[tuple[str, str]]


class Compared(NamedTuple):
    """A table of two builds: its rows in the first, and in words what differs."""

    table: str
    n_rows: int
    differences: list[str]


def compare_builds(
    first: Path, second: Path, operator: str | None = None, schemas: Sequence[str] = SCHEMAS
) -> Iterator[Compared]:
    """Compare the tables and views of some schemas, by default core and marts, of two data folders built.

    With an operator only its rows are compared, of the tables that name one.
    """
    manifest = json.loads(paths.dbt_manifest(first).read_bytes())
    keys = {(each.schema, each.name): each.key for each in described_tables(manifest)}
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        found = []
        for name, folder in (("a", first), ("b", second)):
            path = sql_text(str(paths.build_database(folder)))
            connection.execute(f"attach {path} as {name} (read_only)")
            rows = connection.execute(_COLUMNS, {"database": name, "schemas": list(schemas)}).fetchall()
            found.append({(schema, table): columns for schema, table, columns in rows})
        for place in sorted(found[0].keys() | found[1].keys()):
            columns = found[0].get(place, []), found[1].get(place, [])
            if columns[0] == columns[1]:
                relation = _rows(place, columns[0], operator)
                yield _compared(connection, ".".join(place), relation, columns[0], keys.get(place, ""))
            else:
                others = sorted(set(columns[0]) ^ set(columns[1]))
                yield Compared(".".join(place), 0, [f"columns: {others}"])


def _rows(place: tuple[str, str], columns: Columns, operator: str | None) -> str:
    """Return the rows of a table to compare, as a relation of a database named later."""
    name = "{}." + ".".join(map(quoted_name, place))
    if operator is None or "operator" not in dict(columns):
        return name
    return f"(select * from {name} where operator = {sql_text(operator)})"


def _compared(
    connection: duckdb.DuckDBPyConnection, table: str, rows: str, columns: Columns, key: str
) -> Compared:
    """Compare a table whose columns are the same in both builds; without a key, by all that is exact."""
    kinds = dict(columns)
    by = key.split(", ") if key else [name for name in kinds if not _is_floating(kinds[name])]
    checks = {name: _differ(quoted_name(name), kinds[name]) for name in kinds if name not in by}
    keys = ", ".join(map(quoted_name, by))
    numbered = f"select *, row_number() over (partition by {keys}) as nth_of_key from {rows}"
    matched = [*map(quoted_name, by), "nth_of_key"]
    condition = " and ".join(f"a.{each} is not distinct from b.{each}" for each in matched)
    counts = {
        "rows of the first alone": "b.nth_of_key is null",
        "rows of the second alone": "a.nth_of_key is null",
        **{
            f"values of {each}": f"a.nth_of_key is not null and b.nth_of_key is not null and ({check})"
            for each, check in checks.items()
        },
    }
    selected = ", ".join(f"count(*) filter ({each})" for each in counts.values())
    counted = connection.execute(
        f"""
        select count(a.nth_of_key), {selected}
        from ({numbered.format("a")}) as a full join ({numbered.format("b")}) as b on {condition}
        """
    ).fetchall()
    n_rows, *n_different = counted[0]
    differences = [f"{n} {what}" for what, n in zip(counts, n_different, strict=True) if n]
    return Compared(table, n_rows, differences)


def _is_floating(kind: str) -> bool:
    return kind in ("DOUBLE", "FLOAT")


def _differ(column: str, kind: str) -> str:
    """Return the condition that a column of two rows is not the same."""
    first, second = f"a.{column}", f"b.{column}"
    if not _is_floating(kind):
        return f"{first} is distinct from {second}"
    near = f"abs({first} - {second}) <= {_TOLERANCE} * greatest(1, abs({first}), abs({second}))"
    return f"{first} is distinct from {second} and not coalesce({near}, false)"


def build(data: Path, folder: Path, engine: Engine, master: str = "local[*]") -> tuple[Path, float]:
    """Build a copy of a data folder from nothing; return the copy and the seconds that took."""
    copy = folder / re.sub(r"\W+", "-", f"{engine}-{master}")
    for name in _NEEDED:
        source = data / name
        if source.is_dir():
            shutil.copytree(source, copy / name)
        elif source.exists():
            shutil.copy(source, copy / name)
    settings = Settings(data_dir=data).model_copy(
        update={"data_dir": copy, "build_target": engine, "spark_master": master}
    )
    started_at = time.monotonic()
    warehouse.build(settings)
    return copy, time.monotonic() - started_at


def add_data_options(parser: argparse.ArgumentParser) -> None:
    """Add what says whose lake is built: that of a data folder, or of some hours that are rehearsed."""
    parser.add_argument("--data", type=Path, help="a data folder with a lake; it is only read")
    parser.add_argument("--size", default="small", help="of the network rehearsed without one")
    parser.add_argument("--hours", type=float, default=24)


def data_of(options: argparse.Namespace, folder: Path) -> Path:
    """Return the data folder that the options say; what has to be rehearsed for it is below a folder."""
    if options.data is not None:
        return Path(options.data)
    data = folder / "rehearsed"
    transport = httpx2.ASGITransport(create_app(build_world(options.size, None, 1)))
    rehearse(Settings(data_dir=data), START, options.hours, transport=transport)
    return data


def main() -> int:
    """Build by both engines, print what they took, and compare; 1 if a row differs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_options(parser)
    parser.add_argument("--days", type=int, default=1, help="how often the first 24 hours are repeated")
    parser.add_argument("--executors", type=int, nargs="+", default=[2], help="of Spark")
    parser.add_argument("--cores", type=int, default=1, help="of each executor")
    parser.add_argument("--memory", type=int, default=2, help="of each executor, in GiB")
    options = parser.parse_args()
    console = Console()
    os.environ["SPARK_EXECUTOR_MEMORY"] = f"{options.memory}g"
    with TemporaryDirectory() as name:
        folder = Path(name)
        data = data_of(options, folder)
        if options.days > 1:
            data = repeat_first_day(data, folder / "repeated", options.days)
        duckdb_folder, duckdb_seconds = build(data, folder, Engine.DUCKDB)
        console.print(f"DuckDB: {duckdb_seconds:,.0f} s")
        n_wrong = 0
        for n_executors in options.executors:
            master = f"local-cluster[{n_executors},{options.cores},{1024 * options.memory}]"
            spark_folder, seconds = build(data, folder, Engine.SPARK, master)
            title = f"Spark, {n_executors} executor" + ("s" if n_executors > 1 else "")
            console.print(f"{title}: {seconds:,.0f} s, {seconds / duckdb_seconds:.1f} times DuckDB")
            compared = list(compare_builds(duckdb_folder, spark_folder))
            different = [each for each in compared if each.differences]
            for each in different:
                console.print(f"{each.table}: {'; '.join(each.differences)}", markup=False)
            n_equal, n_rows = len(compared) - len(different), sum(each.n_rows for each in compared)
            console.print(f"{n_equal} of {len(compared)} tables and views are equal, {n_rows:,} rows")
            n_wrong += len(different)
    return 1 if n_wrong else 0


if __name__ == "__main__":
    sys.exit(main())

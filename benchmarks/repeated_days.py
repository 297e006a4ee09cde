"""Makes the lake of many days from one of a day, without polling: rows moved by whole days, nothing else."""

from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path

import duckdb

from transit_base.quoting import quoted_name, sql_text
from transit_etl import paths
from transit_etl.lake_schemas import DATASETS
from transit_etl.settings import Settings

_INSTANT_OF_ROW = {"requests": "planned_at", "validation_results": "last_received_at"}


def repeat_day(
    source: Path, target: Path, operator: str, numbers: Iterable[int], end: datetime | None = None
) -> None:
    """Write the rows of a data folder's lake, moved by each number of days, into another's.

    Instants, service dates and the identifiers of requests are moved, and draws of the audit left out; of
    each dataset and UTC day there is one file, as after compaction. Rows received at or after the end (UTC)
    are left out.
    """
    for dataset in DATASETS:
        days = sorted({path.parent for path in paths.lake_files(source, dataset, operator)})
        for folder in days:
            day = date.fromisoformat(folder.name.removeprefix("date="))
            for number in numbers:
                path = paths.lake_file(
                    target, operator, dataset, day + timedelta(days=number), f"{number}-compacted"
                )
                instant = _INSTANT_OF_ROW.get(dataset, "received_at")
                received = f"{instant} < timestamp '{end:%Y-%m-%d %H:%M:%S}'" if end else "true"
                copy_rows(f"{folder}/*.parquet", path, partial(_moved, n_days=number), received)
    _copy_schemas(source, target)


def repeat_first_day(source: Path, target: Path, n_days: int) -> Path:
    """Make the lake of so many days from the first 24 hours of a data folder's; return its folder."""
    operator = Settings(data_dir=source).operator
    requests = sql_text(str(paths.lake_glob(source, "requests", operator)))
    rows = duckdb.execute(f"select min(planned_at) from read_parquet({requests})").fetchall()
    repeat_day(source, target, operator, range(n_days), rows[0][0] + timedelta(days=1))
    return target


def copy_rows(
    pattern: str, target: Path, changed: Callable[[str, str], str | None], condition: str = "true"
) -> None:
    """Write the rows of lake files on a condition (SQL) into one file, with other values in some columns.

    `changed` is given the name of a column and its type, and returns the expression of its value, or None.
    """
    rows = f"read_parquet({sql_text(pattern)}, hive_partitioning = false, union_by_name = true)"
    selected = []
    for column, kind, *_ in duckdb.execute(f"describe from {rows}").fetchall():
        value = changed(column, kind)
        selected.append(quoted_name(column) if value is None else f"{value} as {quoted_name(column)}")
    copied = f"select {', '.join(selected)} from {rows} where {condition}"
    target.parent.mkdir(parents=True, exist_ok=True)
    duckdb.execute(f"copy ({copied}) to {sql_text(str(target))} (format parquet, compression zstd)")


def _moved(column: str, kind: str, n_days: int) -> str | None:
    name = quoted_name(column)
    if column == "draws":  # whether a visit is drawn for the audit depends on its date
        return "null::varchar"
    if kind.startswith("TIMESTAMP"):
        return f"{name} + interval {n_days} day"
    if kind == "DATE":
        return f"{name} + {n_days}"
    if column in {"request_id", "window"}:
        return f"'{n_days}-' || {name}"
    if column == "key":  # of a timetable: line/date
        return f"""case when endpoint = 'timetables' then split_part(key, '/', 1) || '/' ||
            (cast(split_part(key, '/', 2) as date) + {n_days}) else key end"""
    return None


def _copy_schemas(source: Path, target: Path) -> None:
    """Copy the empty files that give every dataset its columns."""
    for path in (paths.lake_dir(source) / f"operator={paths.NO_OPERATOR}").rglob("*.parquet"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())

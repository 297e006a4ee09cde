"""Judges what a soak measured, and compares the warehouses that its lives have built."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from statistics import linear_regression, median
from typing import Any

import duckdb

from transit_emulator.truth import write_truth
from transit_emulator.world import build_world

WARM_UP_DAYS = 7
FEWEST_POINTS = 6
LARGEST_GROWTH = 0.1  # of a line fitted to what must stay, from the second week to the end, over the median
STEPS = ("build", "publish", "compact", "verify")
FLAT = [
    "memory", "handles", "threads", "state_files", "reports_files", "reports_bytes", "temporary_files",
    "limiter_bytes", *(f"{step}_memory" for step in STEPS), "build_seconds",
]  # fmt: skip
# Each day adds to these; the days of the second half must not add a tenth more than those of the first.
LINEAR = [
    "raw_files", "raw_bytes", "lake_files", "lake_bytes", "quarantine_files", "warehouse_bytes",
    "published_bytes", "checksums_bytes",
]  # fmt: skip
# when, and in how many steps, it was built
NOT_COMPARED = {"quality.builds", "quality.built_dates", "intermediate.built_files"}
NOT_OF_ONE_DATE = {
    "core.requests", "core.service_days",  # a status category that was listed once is asked for ever after
    "marts.disruption_minutes",  # an event may last for days, and not be seen on one of them
}  # fmt: skip
OF_THE_PROCESS = ("request_id", "window")  # columns that name the process that collected

Points = Sequence[tuple[int, float]]


def judge(samples: Sequence[Mapping[str, float]]) -> list[str]:
    """Print how each quantity develops after the first week; return those that grow more than they may."""
    problems = []
    for name in FLAT + LINEAR:
        later = [(day, sample[name]) for day, sample in enumerate(samples) if name in sample]
        later = [point for point in later if point[0] >= WARM_UP_DAYS]
        if len(later) < FEWEST_POINTS or not any(value for _, value in later):
            continue
        growth = _growth(later) if name in FLAT else _acceleration(later)
        what = "grows" if name in FLAT else "grows faster"
        (_, first), (_, last) = later[0], later[-1]
        print(f"  {name:<18} {first:>14,.1f} -> {last:>14,.1f}  {what} by {growth:+.1%}")
        if growth > LARGEST_GROWTH:
            problems.append(f"{name} {what} by {growth:+.1%}")
    return problems


def _slope(points: Points) -> float:
    days, values = zip(*points, strict=True)
    return linear_regression(days, values).slope


def _growth(points: Points) -> float:
    """Return by which share of the median a fitted line grows."""
    return _slope(points) * (points[-1][0] - points[0][0]) / max(1, median(value for _, value in points))


def _acceleration(points: Points) -> float:
    """Return by which share the second half grows faster than the first."""
    half = len(points) // 2
    before, after = _slope(points[:half]), _slope(points[half:])
    return after / before - 1 if before > 0 else 0.0


def compare(lives: Mapping[str, Path], clean: Path, dates: Sequence[date], size: str) -> list[str]:
    """Print what was compared; return what differs from a clean build, or between two lives on some dates."""
    disturbed, calm = lives.values()
    problems = [*_different_tables(disturbed, clean), *_different_dates(disturbed, calm, dates)]
    with tempfile.TemporaryDirectory() as scratch:
        write_truth(build_world(size), dates[0], dates[-1], Path(scratch))
        for name, database in lives.items():
            print(f"{name}: {_compared_with_truth(database, Path(scratch))}")
    return problems


def _different_tables(one: Path, other: Path) -> Iterator[str]:
    with _attached(one, other) as db:
        tables = _tables(db)
        print(f"{len(tables)} tables compared with those of one clean build from the same raw files")
        for table, columns in tables.items():
            found = [
                db.execute(f"select {_hash(columns)} from {side}.{table}").fetchone()
                for side in ("one", "other")
            ]
            if found[0] != found[1]:
                yield f"{table} differs from a clean build: {found}"


def _different_dates(one: Path, other: Path, dates: Sequence[date]) -> Iterator[str]:
    with _attached(one, other) as db:
        tables = {
            table: columns
            for table, columns in _tables(db).items()
            if "service_date" in columns and table not in NOT_OF_ONE_DATE
        }
        print(f"{len(tables)} tables compared on {len(dates)} dates without a disturbance")
        for table, columns in tables.items():
            kept = {name: kind for name, kind in columns.items() if name not in OF_THE_PROCESS}
            query = f"select service_date, {_hash(kept)} from {{}}.{table} group by 1"
            found = [
                {day: rest for day, *rest in db.execute(query.format(side)).fetchall()}
                for side in ("one", "other")
            ]
            differing = [day for day in dates if found[0].get(day) != found[1].get(day)]
            if differing:
                yield f"{table} differs from the undisturbed life on {len(differing)} dates: {differing[0]}"


def _attached(one: Path, other: Path) -> duckdb.DuckDBPyConnection:
    db = duckdb.connect()
    db.execute("set timezone = 'UTC'")
    db.execute(f"attach '{one}' as one (read_only)")
    db.execute(f"attach '{other}' as other (read_only)")
    return db


def _tables(db: duckdb.DuckDBPyConnection) -> dict[str, dict[str, str]]:
    """Return the columns of each table, and their types."""
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in db.execute(
        """
        select columns.schema_name || '.' || columns.table_name, column_name, data_type
        from duckdb_columns() as columns inner join duckdb_tables() as tables using (table_oid, database_oid)
        where columns.database_name = 'one' and not columns.schema_name like 'scratch%'
        """
    ).fetchall():
        if table not in NOT_COMPARED:
            found.setdefault(table, {})[column] = kind
    return found


def _hash(columns: Mapping[str, str]) -> str:
    """Return SQL for the number of rows and a hash of them in any order; sums of floats are rounded."""
    values = [f'round("{name}", 9)' if kind == "DOUBLE" else f'"{name}"' for name, kind in columns.items()]
    return f"count(*), sum(hash(row({', '.join(values)}))::hugeint)"


def _compared_with_truth(database: Path, truth: Path) -> str:
    """Say how far off the evidenced visits are."""
    with duckdb.connect(str(database), read_only=True) as db:
        db.execute("set timezone = 'UTC'")
        row: Any = db.execute(
            f"""
            with visits as (
                select
                    seen.*, calls.passed_at as true_at,
                    abs(epoch(seen.passed_at) - epoch(calls.passed_at)) as off_by
                from core.stop_visits as seen
                inner join '{truth / "actual_passages.parquet"}' as calls
                    on calls.trip_id = seen.listed_trip_id and calls.stop_code = seen.stop_code
                    and calls.service_date = seen.service_date
                where seen.arrival_quality = 'evidenced'
                qualify row_number() over (partition by seen.visit_key order by off_by) = 1
            )
            select
                count(*), median(off_by), quantile_cont(off_by, 0.95),
                100 * avg((
                    true_at between passed_after - interval 1 second and passed_before + interval 1 second
                )::int)
            from visits
            """
        ).fetchone()
    n_visits, typical, high, inside = row
    return (
        f"{n_visits:,} evidenced visits off by {typical:.0f} s (median), {high:.0f} s (p95); "
        f"the truth inside the bounds in {inside:.2f} %"
    )

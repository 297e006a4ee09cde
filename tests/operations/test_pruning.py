"""What is kept for a time only goes; what cannot be made again stays."""

import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.collect.upstream import settings_at
from transit_etl.operations.pruning import prune
from transit_etl.paths import logs_dirs, quarantine_file, raw_file, restaging_root

OLD, NEW = timedelta(days=400), timedelta(hours=1)


def write(path: Path, age: timedelta) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    written_at = path.stat().st_mtime - age.total_seconds()
    os.utime(path, (written_at, written_at))
    os.utime(path.parent, (written_at, written_at))
    return path


@pytest.mark.parametrize("age", [OLD, NEW], ids=["old", "new"])
def test_quarantine_logs_and_leftovers_go_once_they_are_old(tmp_path: Path, age: timedelta) -> None:
    settings = settings_at(tmp_path)
    day = (settings.clock.now() - age).date()
    paths = [
        write(quarantine_file(tmp_path, "example", "passages", day, "w"), age),
        *(write(folder / "x" / "a.log", age) for folder in logs_dirs(tmp_path)),
        write(tmp_path / "lake" / "a.parquet.1.new", age),
        write(tmp_path / "lake" / ".replacement-x" / "day.parquet", age),
        write(restaging_root(tmp_path) / "example-2026-03-02" / "day.parquet", age),
    ]
    report = prune(settings)

    assert ([age is NEW] * len(paths)) == [path.exists() for path in paths]
    counts = (report.n_quarantine_files, report.n_log_files, report.n_leftovers, report.n_bytes)
    assert ((1, 2, 3, 6) if age is OLD else (0, 0, 0, 0)) == counts


def test_raw_answers_and_damaged_files_stay_however_old(tmp_path: Path) -> None:
    settings = settings_at(tmp_path)
    day = (settings.clock.now() - OLD).date()
    raw = write(raw_file(tmp_path, settings.operator, "passages", day, "w"), OLD)
    kept = [raw, *(write(raw.with_name(name), OLD) for name in ("a.part", "b.new", "c.damaged"))]
    kept.append(write(tmp_path / "lake" / "a.parquet.damaged", OLD))
    kept.append(write(tmp_path / "warehouse" / "warehouse.duckdb", OLD))
    prune(settings)

    assert all(path.exists() for path in kept)

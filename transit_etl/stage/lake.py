"""Writes and finds the lake's files: one per dataset and window, deterministic, complete or absent.

A window's `requests` file is written last and marks the window as staged; a window without it is staged
again from raw. Compaction merges a day's windows into one `day.parquet` whose metadata lists them.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_base.files import locked, open_atomic, sync_folder
from transit_etl.lake_reading import WINDOWS_KEY, read_undamaged, windows_of
from transit_etl.lake_schemas import DATASETS, IN_ORDER_OF_WRITING
from transit_etl.paths import (
    NO_OPERATOR,
    lake_file,
    lake_files,
    lake_lock,
    quality_pages_lock,
    quarantine_file,
)
from transit_etl.stage.pieces import Pieces
from transit_etl.stage.raw import RawWindow, finished_windows

ROW_GROUP = 122_880
SCHEMA_DAY = date(1970, 1, 1)  # of the files without rows


def write_table(path: Path, table: pa.Table, windows: list[str] | None = None) -> None:
    """Write a table atomically; the same rows give the same bytes.

    `windows` are the names of the windows in a compacted file, which its metadata lists.
    """
    if windows is not None:
        table = table.replace_schema_metadata({WINDOWS_KEY: json.dumps(windows)})
    write_pieces(path, Pieces(table))


def write_pieces(path: Path, pieces: Pieces) -> None:
    """Write tables of one schema, of which there is at least one, atomically into one file.

    The same pieces give the same bytes.
    """
    # Two processes may stage one window at the same time.
    with open_atomic(path, temporary=path.with_name(f"{path.name}.{os.getpid()}.new")) as file:
        tables = iter(pieces)
        first = next(tables)
        with pq.ParquetWriter(file, first.schema, compression="zstd", write_page_checksum=True) as writer:
            for table in chain([first], tables):
                writer.write_table(table, row_group_size=ROW_GROUP)


def write_window(
    data_dir: Path, window: RawWindow, tables: Mapping[str, Pieces], quarantine: Mapping[str, Pieces]
) -> None:
    """Write the tables of a window, `requests` last; a dataset without rows has no file.

    Files of an earlier or interrupted staging of the window are replaced or removed.
    """
    for dataset in DATASETS:
        path = quarantine_file(data_dir, window.operator, dataset, window.day, window.name)
        _write_or_remove(path, quarantine.get(dataset))
    for dataset in IN_ORDER_OF_WRITING:
        path = lake_file(data_dir, window.operator, dataset, window.day, window.name)
        table = tables.get(dataset)
        if dataset == "requests":
            write_pieces(path, table if table is not None else Pieces(DATASETS[dataset].empty_table()))
        else:
            _write_or_remove(path, table)


def staged_windows(data_dir: Path, operator: str, day: date) -> set[str]:
    """Return the names of the windows of an operator's UTC day that are in the lake, compacted or not."""
    return windows_of(lake_files(data_dir, "requests", operator, day))


def waiting_windows(
    data_dir: Path, endpoints: Sequence[str] | None = None, *, leaves_out_damaged: bool = False
) -> list[RawWindow]:
    """List the finished raw windows that are not in the lake yet, by operator, day, endpoint and name.

    A damaged lake file is an error, or counts as missing if it is to be left out.
    """
    staged: dict[tuple[str, date], set[str]] = {}
    waiting = []
    for window in finished_windows(data_dir, endpoints):
        day = (window.operator, window.day)
        if day not in staged:
            files = lake_files(data_dir, "requests", *day)
            staged[day] = read_undamaged(windows_of, files) if leaves_out_damaged else windows_of(files)
        if window.name not in staged[day]:
            waiting.append(window)
    return waiting


def ensure_schemas(data_dir: Path) -> None:
    """Write a file without rows for every dataset, so that views over the lake never fail."""
    for dataset, schema in DATASETS.items():
        path = lake_file(data_dir, NO_OPERATOR, dataset, SCHEMA_DAY, "schema")
        if not path.exists() or not pq.read_schema(path).equals(schema):
            write_table(path, schema.empty_table())


@contextmanager
def day_lock(data_dir: Path, operator: str, day: date) -> Iterator[None]:
    """Hold the lock on an operator's UTC day in the lake, against every process of this machine."""
    with locked(lake_lock(data_dir, operator, day)):
        yield


@contextmanager
def pages_lock(data_dir: Path) -> Iterator[None]:
    """Hold the lock on the pages about data quality: several processes may stage at the same time."""
    with locked(quality_pages_lock(data_dir)):
        yield


def windows_with_requests(data_dir: Path, operator: str, day: date) -> set[str]:
    """Return the names of the windows that have a request in the lake; a file that is damaged has none."""
    names: set[str] = set()
    for path in lake_files(data_dir, "requests", operator, day):
        with suppress(OSError, pa.ArrowException):
            windows = pq.read_table(path, columns=["window"], partitioning=None)["window"]
            names.update(str(name) for name in windows.unique().to_pylist())
    return names


def _write_or_remove(path: Path, pieces: Pieces | None) -> None:
    if pieces is not None and pieces.num_rows:
        write_pieces(path, pieces)
    elif path.exists():
        path.unlink()
        sync_folder(path.parent)

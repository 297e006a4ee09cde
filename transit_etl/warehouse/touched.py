"""Finds out which service dates the lake's new, changed and removed files speak of."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import duckdb

from transit_etl import paths
from transit_etl.endpoints import ENDPOINTS, Asked, Dates
from transit_etl.settings import Settings
from transit_etl.stage.schemas import DATASETS
from transit_etl.warehouse.database import WarehouseError

DAY = timedelta(days=1)
# A poll this soon after the cutoff may still show what became of a bus of the day before.
_AFTERMATH_SECONDS = 3 * 3600
# The service dates of a row, as a list in SQL.
_REQUEST_DATES = """[
    service_date,
    case when service_seconds < {soon} then service_date - 1 end,
    case when endpoint in ({dated}) then try_cast(split_part(key, '/', 2) as date) end
]"""
_ROW_DATES = {
    Dates.OF_ROWS: "[service_date]",
    Dates.OF_RECEIPT: "[received_at::date - 1, received_at::date]",
}


class EmptyLakeError(WarehouseError):
    """There is no lake to build from; the message says where it was looked for."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A lake file as it was seen: its path below the data folder, and what tells that it changed."""

    path: str
    size_bytes: int
    modified_ns: int

    @property
    def dataset(self) -> str:
        """The dataset its path names."""
        return _part(self.path, "dataset")


@dataclass(frozen=True, slots=True)
class News:
    """What changed in the lake: files with the service dates each touches, and paths that are gone."""

    dates_of: dict[LakeFile, set[date]]
    gone: dict[str, set[date]]

    @property
    def dates(self) -> set[date]:
        """Every service date touched by anything."""
        return set[date]().union(*self.dates_of.values(), *self.gone.values())

    def __bool__(self) -> bool:
        return bool(self.dates_of or self.gone)


def lake_files(settings: Settings) -> list[LakeFile]:
    """List the lake as it is now; EmptyLakeError where there is none."""
    root = settings.data_dir
    found = []
    for dataset in DATASETS:
        for path in paths.lake_files(root, dataset):
            status = path.stat()
            found.append(LakeFile(str(path.relative_to(root)), status.st_size, status.st_mtime_ns))
    if not found:
        raise EmptyLakeError(f"no lake below {paths.lake_dir(root)}: collect and stage something first")
    return found


def news(connection: duckdb.DuckDBPyConnection, settings: Settings, files: Iterable[LakeFile]) -> News:
    """Compare the lake's files with those built, and read which service dates the difference touches."""
    rows = connection.execute("select path, size_bytes, modified_ns from quality.built_files").fetchall()
    built = {LakeFile(*row) for row in rows}
    present = set(files)
    fresh = sorted(present - built, key=lambda file: file.path)
    gone = {file.path for file in built} - {file.path for file in present}
    dates_of: dict[LakeFile, set[date]] = {file: set() for file in fresh}
    for dataset in DATASETS:
        some = {str(settings.data_dir / file.path): file for file in fresh if file.dataset == dataset}
        for name, day in _service_dates(connection, settings, dataset, list(some)):
            dates_of[some[name]].add(day)
    _add_first_network(connection, settings, dates_of, known={file.dataset for file in built})
    return News(dates_of, {path: _around(path) for path in gone})


def all_dates(
    connection: duckdb.DuckDBPyConnection, settings: Settings, files: Iterable[LakeFile]
) -> set[date]:
    """Return every service date the lake speaks of."""
    dates: set[date] = set()
    for dataset in ("requests", *_datasets_dated(Dates.OF_ROWS)):
        some = [str(settings.data_dir / file.path) for file in files if file.dataset == dataset]
        dates.update(day for _, day in _service_dates(connection, settings, dataset, some))
    return dates


def _service_dates(
    connection: duckdb.DuckDBPyConnection, settings: Settings, dataset: str, files: list[str]
) -> list[tuple[str, date]]:
    """Read the pairs of file and service date; none for datasets that speak of no date themselves."""
    dates = _dates_in_row(settings, dataset)
    if not files or dates is None:
        return []
    rows = connection.execute(
        f"""
        with lake_rows as (from read_parquet(?, filename = true, union_by_name = true)),
        dated as (
            select filename, unnest({dates}) as service_date from lake_rows
        )
        select distinct filename, service_date from dated where service_date is not null
        """,
        [files],
    ).fetchall()
    return [(str(name), day) for name, day in rows]


def _dates_in_row(settings: Settings, dataset: str) -> str | None:
    """Return the SQL of the service dates of a dataset's row; None if its requests alone have dates."""
    if dataset != "requests":
        dates = next((row.dates for row in ENDPOINTS.values() if row.dataset == dataset), Dates.OF_REQUEST)
        return _ROW_DATES.get(dates)
    cutoff = settings.service_day_cutoff
    soon = cutoff.hour * 3600 + cutoff.minute * 60 + _AFTERMATH_SECONDS
    dated = [f"'{name}'" for name, row in ENDPOINTS.items() if row.asked is Asked.PER_LINE_AND_DATE]
    return _REQUEST_DATES.format(soon=soon, dated=", ".join(dated))


def _datasets_dated(dates: Dates) -> list[str]:
    return [row.dataset for row in ENDPOINTS.values() if row.dataset and row.dates is dates]


def _add_first_network(
    connection: duckdb.DuckDBPyConnection,
    settings: Settings,
    dates_of: dict[LakeFile, set[date]],
    known: set[str],
) -> None:
    """Let the first list of lines or stops touch every day: it also speaks for the time before it."""
    network = set(_datasets_dated(Dates.OF_RECEIPT)) - known
    first = [file for file in dates_of if file.dataset in network]
    if any(dates_of[file] for file in first):
        everything = all_dates(connection, settings, lake_files(settings))
        for file in first:
            dates_of[file] |= everything


def _around(path: str) -> set[date]:
    """Return the service dates that a file of a UTC day of receipt can have touched."""
    day = date.fromisoformat(_part(path, "date"))
    return {day - DAY, day}


def _part(path: str, key: str) -> str:
    parts = dict(part.split("=", 1) for part in Path(path).parts if "=" in part)
    return parts[key]

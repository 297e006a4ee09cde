"""Finds the service dates that are affected by the new, changed and removed files of the lake."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import filterfalse
from pathlib import Path

import duckdb

from transit_base.quoting import sql_text
from transit_etl import paths
from transit_etl.endpoints import ENDPOINTS, Asked, Dates
from transit_etl.identity import ServiceDays, service_days
from transit_etl.lake_reading import damage_of
from transit_etl.lake_schemas import DATASETS
from transit_etl.service_day import DAY, is_possible
from transit_etl.settings import FolderSettings
from transit_etl.warehouse.database import WarehouseError

# A poll this soon after the cutoff may still tell when a trip of the service date before passed.
_LATE_TRIP_SECONDS = 3 * 3600
# SQL for the list of service dates that a row affects.
_REQUEST_DATES = """[
    service_date,
    case when service_seconds < {late_trip_until} then service_date - 1 end,
    case when endpoint in ({dated}) then try_cast(split_part(key, '/', 2) as date) end
]"""
# Of a list of lines or stops, which has no service date: those of the instant and of some hours before it.
_DATES_OF_RECEIPT = """list_transform([0, {late_trip_seconds}], lambda seconds: (
    timezone({zone}, timezone('UTC', received_at)) - to_seconds({starts_seconds} + seconds)
)::date)"""


class EmptyLakeError(WarehouseError):
    """The lake holds nothing to build from; the message says where it was expected."""

    def __init__(self, settings: FolderSettings) -> None:
        root = paths.lake_dir(settings.data_dir)
        super().__init__(f"no answers in the lake below {root}: collect and stage something first")


class DamagedLakeError(WarehouseError):
    """A lake file is damaged; the message names it and says what to do."""


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A lake file: its path below the data folder, and its size and time, which tell whether it changed."""

    path: str
    size_bytes: int
    modified_ns: int

    @property
    def dataset(self) -> str:
        """The dataset its path names."""
        return paths.partition_of(Path(self.path))["dataset"]

    @property
    def operator(self) -> str:
        """The operator its path names."""
        return paths.partition_of(Path(self.path))["operator"]


@dataclass(frozen=True, slots=True)
class LakeChanges:
    """New and changed files, and the paths of removed ones, each with the service dates it affects.

    `by_first_lists` are the dates that an operator's first list of lines or stops affects.
    """

    dates_of: dict[LakeFile, set[date]]
    removed: dict[str, set[date]]
    by_first_lists: set[date]

    @property
    def dates(self) -> set[date]:
        """Every service date that any file affects and that may be right."""
        return set(filter(is_possible, self._all_dates()))

    @property
    def dates_by_operator(self) -> dict[str, set[date]]:
        """The service dates that may be right, by the operator whose new or changed files affect them."""
        found: dict[str, set[date]] = {}
        for file, dates in self.dates_of.items():
            found.setdefault(file.operator, set()).update(filter(is_possible, dates))
        return found

    @property
    def impossible_dates(self) -> set[date]:
        """Every service date that cannot be right: nothing is built for it."""
        return set(filterfalse(is_possible, self._all_dates()))

    def _all_dates(self) -> set[date]:
        return set[date]().union(*self.dates_of.values(), *self.removed.values())


def lake_files(settings: FolderSettings) -> list[LakeFile]:
    """List the lake as it is now; EmptyLakeError where there is none."""
    root = settings.data_dir
    found = []
    for dataset in DATASETS:
        for path in paths.lake_files(root, dataset):
            status = path.stat()
            found.append(LakeFile(str(path.relative_to(root)), status.st_size, status.st_mtime_ns))
    if not found:
        raise EmptyLakeError(settings)
    return found


def find_changes(
    connection: duckdb.DuckDBPyConnection, settings: FolderSettings, files: Iterable[LakeFile]
) -> LakeChanges:
    """Compare the lake's files with those built, and read which service dates the difference affects.

    DamagedLakeError if a new or changed file is damaged.
    """
    rows = connection.execute("select path, size_bytes, modified_ns from intermediate.built_files").fetchall()
    built = {LakeFile(*row) for row in rows}
    present = set(files)
    changed = sorted(present - built, key=lambda file: file.path)
    _require_sound(settings, changed)
    removed = {file.path for file in built} - {file.path for file in present}
    dates_of: dict[LakeFile, set[date]] = {file: set() for file in changed}
    for operator, days in service_days(settings).items():
        of_operator = [file for file in changed if file.operator == operator]
        for dataset in DATASETS:
            some = {
                str(settings.data_dir / file.path): file for file in of_operator if file.dataset == dataset
            }
            for name, day in _service_dates(connection, days, dataset, list(some)):
                dates_of[some[name]].add(day)
    by_first_lists = _add_first_network(
        connection, settings, dates_of, {(file.operator, file.dataset) for file in built}
    )
    return LakeChanges(
        dates_of, {path: _dates_of_receipt(settings, path) for path in removed}, by_first_lists
    )


def _require_sound(settings: FolderSettings, files: Iterable[LakeFile]) -> None:
    """Raise DamagedLakeError if a file cannot be read to its end, or a checksum in it is wrong."""
    for file in files:
        path = settings.data_dir / file.path
        if damage := damage_of(path):
            raise DamagedLakeError(f"{path} is damaged ({damage}): `transit-etl reprocess` makes it again")


def all_dates(
    connection: duckdb.DuckDBPyConnection, settings: FolderSettings, files: Iterable[LakeFile]
) -> set[date]:
    """Return every service date that the lake has answers about and that may be right."""
    dates: set[date] = set()
    listed = list(files)
    for operator, days in service_days(settings).items():
        for dataset in ("requests", *_datasets_dated(Dates.OF_ROWS)):
            some = [
                str(settings.data_dir / file.path)
                for file in listed
                if (file.operator, file.dataset) == (operator, dataset)
            ]
            dates.update(day for _, day in _service_dates(connection, days, dataset, some))
    return set(filter(is_possible, dates))


def _service_dates(
    connection: duckdb.DuckDBPyConnection, days: ServiceDays, dataset: str, files: list[str]
) -> list[tuple[str, date]]:
    """Read the pairs of file and service date; none for datasets whose requests alone have dates."""
    dates = dates_in_row(days, dataset)
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


def dates_of_receipt(days: ServiceDays) -> str:
    """Return the SQL of the service dates at an instant of receipt and some hours before it."""
    return _DATES_OF_RECEIPT.format(
        zone=sql_text(days.timezone),
        starts_seconds=days.starts_seconds,
        late_trip_seconds=_LATE_TRIP_SECONDS,
    )


def dates_in_row(days: ServiceDays, dataset: str) -> str | None:
    """Return the SQL of the service dates of a dataset's row; None if its requests alone have dates."""
    if dataset == "requests":
        late_trip_until = days.starts_seconds + _LATE_TRIP_SECONDS
        dated = [f"'{name}'" for name, row in ENDPOINTS.items() if row.asked is Asked.PER_LINE_AND_DATE]
        return _REQUEST_DATES.format(late_trip_until=late_trip_until, dated=", ".join(dated))
    match next((row.dates for row in ENDPOINTS.values() if row.dataset == dataset), Dates.OF_REQUEST):
        case Dates.OF_ROWS:
            return "[service_date]"
        case Dates.OF_RECEIPT:
            return dates_of_receipt(days)
        case _:
            return None


def _datasets_dated(dates: Dates) -> list[str]:
    return [row.dataset for row in ENDPOINTS.values() if row.dataset and row.dates is dates]


def _add_first_network(
    connection: duckdb.DuckDBPyConnection,
    settings: FolderSettings,
    dates_of: dict[LakeFile, set[date]],
    built: Collection[tuple[str, str]],
) -> set[date]:
    """Let the first list of an operator's lines or stops affect all its dates: it is used for earlier ones.

    built: the operators and datasets of which there were files before. Return the dates.
    """
    added: set[date] = set()
    network = _datasets_dated(Dates.OF_RECEIPT)
    for operator in service_days(settings):
        new = [name for name in network if (operator, name) not in built]
        first = [file for file in dates_of if file.operator == operator and file.dataset in new]
        if any(dates_of[file] for file in first):
            of_operator = [file for file in lake_files(settings) if file.operator == operator]
            dates = all_dates(connection, settings, of_operator)
            for file in first:
                dates_of[file] |= dates
            added |= dates
    return added


def _dates_of_receipt(settings: FolderSettings, path: str) -> set[date]:
    """Return the service dates that a file can have affected, by its UTC day of receipt."""
    operator, day = paths.lake_day(Path(path))
    days = service_days(settings).get(operator, ServiceDays(settings.timezone, settings.service_day_cutoff))
    begins_at = datetime.combine(day, time(), UTC)
    first = days.date_of(begins_at - timedelta(seconds=_LATE_TRIP_SECONDS))
    last = days.date_of(begins_at + DAY - timedelta(microseconds=1))
    return {first + DAY * number for number in range((last - first).days + 1)}

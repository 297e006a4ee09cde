"""Lake files: Parquet of odd columns, types and values; damaged Parquet; the checksum list."""

import json
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from tests.collect.helpers import write_network
from tests.collect.upstream import settings_at
from tests.fuzz.mutation import of_bytes, of_json, of_lines, with_head
from tests.fuzz.target import DAY, NOW, Target, head_and_rest, reported_in_one_line
from transit_base.errors import MISSHAPEN
from transit_etl.collect.known_network import Catalogue
from transit_etl.lake_schemas import DATASETS
from transit_etl.operations.status import read_status
from transit_etl.operations.verification import verify
from transit_etl.paths import DAY_STEM, all_lake_files, checksum_list, lake_file
from transit_etl.settings import Settings
from transit_etl.stage import compact, stage
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.raw import RawWindow
from transit_etl.stage.repair import repairing
from transit_etl.warehouse.building.lake_changes import find_changes
from transit_etl.warehouse.building.lake_changes import lake_files as listed

_TYPES: dict[str, pa.DataType] = {
    "text": pa.string(), "whole": pa.int64(), "small": pa.int8(), "real": pa.float64(), "flag": pa.bool_(),
    "instant": pa.timestamp("us"), "instant_ns": pa.timestamp("ns", "UTC"), "day": pa.date32(),
    "bytes": pa.binary(), "null": pa.null(), "texts": pa.list_(pa.field("element", pa.string())),
    "nested": pa.list_(pa.list_(pa.int64())), "decimal": pa.decimal128(38, 9), "large": pa.large_string(),
    "dictionary": pa.dictionary(pa.int32(), pa.string()), "time": pa.time64("us"),
    "struct": pa.struct([("a", pa.string())]),
}  # fmt: skip
_BUILT_FILES = """
    create schema intermediate;
    create table intermediate.built_files (path varchar, size_bytes bigint, modified_ns bigint)
"""


def _check_table(data: bytes, folder: Path) -> None:
    """Read a lake with one file of any columns, types and values."""
    try:
        document = json.loads(data)
        table = _table(document["columns"], document.get("metadata"))
        path = _place(folder, str(document["dataset"]), str(document["window"]))
        pq.write_table(table, path, row_group_size=2)
    except (*MISSHAPEN, pa.ArrowException, OSError):  # the document describes no Parquet file
        return
    _read(settings_at(folder))


def _check_file(data: bytes, folder: Path) -> None:
    """Read a lake with one file of any content."""
    head, content = head_and_rest(data)
    _place(folder, head.get("dataset", ""), head.get("window", "")).write_bytes(content)
    _read(settings_at(folder))


def _check_checksums(data: bytes, folder: Path) -> None:
    """Verify a lake by a checksum list of any content, twice: the first run writes it anew."""
    write_network(folder, {"015-00": ["0001"]}, NOW)
    checksum_list(folder).write_bytes(data)
    verify(settings_at(folder), repairs=False)
    assert [] == verify(settings_at(folder), repairs=False).warnings


def _place(folder: Path, dataset: str, stem: str) -> Path:
    """Return where a lake file goes, next to a sound lake; names that are none are replaced."""
    write_network(folder, {"015-00": ["0001", "0002"]}, NOW)
    stem = stem if stem.isprintable() and "/" not in stem and 0 < len(stem) < 100 else DAY_STEM
    path = lake_file(folder, "emulated", dataset if dataset in DATASETS else "lines", DAY, stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _table(columns: dict[str, dict[str, Any]], metadata: object) -> pa.Table:
    """Make a table of columns by name, each with a type and values; values that do not fit become texts."""
    arrays = {name[:50]: _array(column["type"], column["values"]) for name, column in columns.items()}
    n_rows = min(map(len, arrays.values()), default=0)
    table = pa.table({name: array.slice(0, n_rows) for name, array in arrays.items()})
    return (
        table if metadata is None else table.replace_schema_metadata({"transit_etl.windows": str(metadata)})
    )


def _array(name: str, values: list[Any]) -> "pa.Array[Any]":
    kind = _TYPES.get(name)
    try:
        return pa.array([_parsed(kind, value) for value in values], kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return pa.array([None if value is None else repr(value)[:100] for value in values], pa.string())


def _parsed(kind: pa.DataType | None, value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, str) and kind is not None and pa.types.is_temporal(kind):
        return date.fromisoformat(value) if pa.types.is_date(kind) else datetime.fromisoformat(value)
    return value


def _read(settings: Settings) -> None:
    """Read the lake as each step does; an error of one step does not keep the next from reading."""
    window = RawWindow(Path("x"), "emulated", "passages", DAY, f"{NOW:%Y%m%dT%H%M%SZ}-passages-w")
    ListedLines([settings.data_dir]).codes_and_labels(window)
    with reported_in_one_line():
        verify(settings, repairs=False)
    for step in (read_status, _read_catalogue, repairing(_changes), stage, lambda given: compact(given, DAY)):
        with reported_in_one_line():
            step(settings)


def _read_catalogue(settings: Settings) -> None:
    """Read what collections read, apart from the network, which the status reads too."""
    catalogue = Catalogue(settings.data_dir, settings.operator)
    catalogue.asked("timetables")
    catalogue.fetched_news()
    catalogue.status_categories()


def _changes(settings: Settings) -> None:
    with duckdb.connect() as connection:
        connection.execute(_BUILT_FILES)
        changes = find_changes(connection, settings, listed(settings))
        assert changes.dates is not None
        assert changes.impossible_dates is not None


def _seeds_of_tables(folder: Path) -> list[bytes]:
    return [_input(path) for path in all_lake_files(folder, "emulated") if path.stem != DAY_STEM]


def _input(path: Path) -> bytes:
    """Write a lake file as `_check_table` reads it, without most of its rows."""
    table = pq.read_table(path, partitioning=None).slice(0, 2)
    kinds = {str(kind): name for name, kind in _TYPES.items()}
    columns = {
        name: {"type": kinds[str(table.schema.field(name).type)], "values": list(map(_plain, values))}
        for name, values in table.to_pydict().items()
    }
    names = {"dataset": _dataset(path), "window": path.stem, "metadata": json.dumps(["w1", "w2"])}
    return json.dumps(names | {"columns": columns}).encode()


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date | datetime) else value


def _dataset(path: Path) -> str:
    return next(part for part in path.parts if part.startswith("dataset=")).removeprefix("dataset=")


def _seeds_of_files(folder: Path) -> list[bytes]:
    found = []
    for path in all_lake_files(folder, "emulated"):
        short = folder / "short.parquet"
        table = pq.read_table(path, partitioning=None).slice(0, 2)
        pq.write_table(table, short, compression="none")
        found.append(f"dataset={_dataset(path)}\nwindow={path.stem}\n\n".encode() + short.read_bytes())
    return found


def _seeds_of_checksums(folder: Path) -> list[bytes]:
    verify(settings_at(folder), repairs=False)
    text = checksum_list(folder).read_bytes()
    checksum_list(folder).unlink()
    return [b"".join(text.splitlines(keepends=True)[:4])]


TARGETS = (
    Target("lake tables", _check_table, _seeds_of_tables, of_json, weight=4, n_quick=3),
    Target("lake files", _check_file, _seeds_of_files, with_head(of_bytes), weight=2, n_quick=3),
    Target("checksum list", _check_checksums, _seeds_of_checksums, of_lines, n_quick=10),
)

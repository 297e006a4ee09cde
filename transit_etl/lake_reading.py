"""Reads lake files: one that is damaged is named and left out, since it can be made again from raw."""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from transit_base.errors import first_line
from transit_etl.lake_schemas import DATASETS, QUARANTINE, older_schema
from transit_etl.paths import DAY_STEM, partition_of, quarantine_dir

T = TypeVar("T")
WINDOWS_KEY = b"transit_etl.windows"
_WINDOWS = TypeAdapter(list[str])
UNREADABLE = (duckdb.Error, pa.ArrowException, OSError, ValueError)
_log = logging.getLogger(__name__)


def read_undamaged(read: Callable[[list[Path]], T], files: Sequence[Path]) -> T:
    """Return what `read` makes of lake files; if it fails, of those that are not damaged.

    Raises what `read` raised when none of them is.
    """
    try:
        return read(list(files))
    except UNREADABLE:
        damages = damages_in(files)
        if not damages:
            raise
    for path, damage in damages.items():
        _log.warning("left out %s: %s; `transit-etl reprocess` makes it again from raw", path, damage)
    return read([path for path in files if path not in damages])


def damages_in(files: Iterable[Path]) -> dict[Path, str]:
    """Read lake files to their end; return the damaged ones, and what is wrong with each."""
    damages = {path: damage_of(path) for path in files}
    return {path: damage for path, damage in damages.items() if damage}


def damage_of(path: Path) -> str | None:
    """Say why a lake file, or one of the quarantine, cannot be read to its end; None if it is sound.

    A wrong checksum is damage, and so are other columns than those that its dataset has or had. A file that
    has been removed or replaced by a merged one in the meantime is not damaged.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            if _columns(file.schema_arrow) not in map(_columns, possible_schemas(path)):
                return "its columns are not those of its dataset"
            merged_windows(file.schema_arrow)
            for number in range(file.num_row_groups):
                file.read_row_group(number)
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError, ValueError) as error:
        return first_line(error)
    return None


def _columns(schema: pa.Schema) -> list[tuple[str, pa.DataType]]:
    """Return names and types: whether a column may have nulls is no matter of its dataset."""
    return [(field.name, field.type) for field in schema]


def possible_schemas(path: Path) -> list[pa.Schema]:
    """Return the columns that a file of the lake or the quarantine may have, by its place; today's first."""
    top, dataset = path.parents[3].name, partition_of(path)["dataset"]
    return [QUARANTINE] if top == quarantine_dir(Path()).name else [DATASETS[dataset], older_schema(dataset)]


def merged_windows(schema: pa.Schema) -> list[str]:
    """Return the windows that the metadata of a merged file lists; ValueError if it is no list of texts."""
    return _WINDOWS.validate_json((schema.metadata or {}).get(WINDOWS_KEY, b"[]"))


def windows_of(files: Iterable[Path]) -> set[str]:
    """Return the names of the windows in lake files: of a compacted file those it was merged from."""
    return {name for path in files for name in (_windows_in(path) if path.stem == DAY_STEM else [path.stem])}


def _windows_in(path: Path) -> list[str]:
    return merged_windows(pq.read_schema(path))

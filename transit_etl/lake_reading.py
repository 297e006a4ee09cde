"""Reads lake files: one that is damaged is named and left out, since it can be made again from raw."""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from transit_etl.errors import first_line

T = TypeVar("T")
UNREADABLE = (duckdb.Error, pa.ArrowException, OSError)
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
    """Say why a lake file cannot be read to its end, or which checksum is wrong; None if it is sound.

    A file that has been removed or replaced by a merged one in the meantime is not damaged.
    """
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for number in range(file.num_row_groups):
                file.read_row_group(number)
    except FileNotFoundError:
        return None
    except (pa.ArrowException, OSError) as error:
        return first_line(error)
    return None

"""Reads lake files: one that is damaged is named and left out, since it can be made again from raw."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

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
        damages = {path: damage_of(path) for path in files}
        if not any(damages.values()):
            raise
    for path, damage in damages.items():
        if damage:
            _log.warning("left out %s: %s; `transit-etl reprocess` makes it again from raw", path, damage)
    return read([path for path, damage in damages.items() if not damage])


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
        return str(error).split("\n", 1)[0]
    return None

"""Finds finished raw windows, checks that one is whole, and loads it into DuckDB, one row per raw line."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import zstandard

from transit_base.errors import TransitError
from transit_base.quoting import sql_text
from transit_base.stamps import stamped_at
from transit_etl.paths import raw_files, raw_parts

# The instants of a window lie within a day; those in its answers lie within two days of them.
NEAR = timedelta(days=3)
_CHUNK_BYTES = 1 << 20


class RawFileError(TransitError):
    """A raw file cannot be read to its end; the message names it and says what is wrong."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = path


@dataclass(frozen=True, slots=True)
class RawWindow:
    """A finished raw file, with the parts of its path. `day` is the UTC day of receipt."""

    path: Path
    operator: str
    endpoint: str
    day: date
    name: str

    @property
    def began_at(self) -> datetime:
        """The instant in its name, in UTC; midnight of its day if there is none."""
        return stamped_at(self.name) or datetime.combine(self.day, datetime.min.time())


def finished_windows(data_dir: Path, endpoints: Sequence[str] | None = None) -> Iterator[RawWindow]:
    """Yield the finished raw files of the endpoints (default: all), by operator, day and window."""
    found = map(raw_window, raw_files(data_dir))
    chosen = (window for window in found if endpoints is None or window.endpoint in endpoints)
    yield from sorted(chosen, key=lambda window: (window.operator, window.day, window.endpoint, window.name))


def raw_window(path: Path) -> RawWindow:
    """Read a window from its raw file's path; RawFileError when the folders are not those of raw files."""
    parts = raw_parts(path)
    try:
        day = date.fromisoformat(parts["date"])
        return RawWindow(path, parts["operator"], parts["endpoint"], day, parts["window"])
    except (KeyError, ValueError) as error:
        raise RawFileError(path, f"not a raw file's place: {error}") from error


@dataclass(frozen=True, slots=True)
class RawSize:
    """The size of a raw file, decompressed. Its commas bound the number of rows that it can list."""

    n_bytes: int
    n_commas: int


def check_whole(path: Path) -> RawSize:
    """Decompress a raw file to its end, which DuckDB does not require; RawFileError if it is damaged."""
    n_bytes = n_commas = 0
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            while chunk:
                if decompressor.eof:
                    decompressor = zstandard.ZstdDecompressor().decompressobj()
                try:
                    piece = decompressor.decompress(chunk)
                except zstandard.ZstdError as error:
                    raise RawFileError(path, f"damaged: {error}") from error
                n_bytes, n_commas = n_bytes + len(piece), n_commas + piece.count(b",")
                chunk = decompressor.unused_data if decompressor.eof else b""
    if not decompressor.eof:
        raise RawFileError(path, "breaks off before its end")
    return RawSize(n_bytes, n_commas)


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the lines of a whole raw file, without those that hold nothing."""
    with (
        path.open("rb") as file,
        zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True) as reader,
    ):
        for line in io.BufferedReader(reader):
            if line.strip():
                yield line


def load(connection: duckdb.DuckDBPyConnection, path: Path, statement: str) -> None:
    """Run the statement that makes table `raw` of a whole file; duckdb.Error if a line is no row."""
    connection.execute("create or replace temp macro raw_path() as " + sql_text(str(path)))
    connection.execute(statement)


def arrow(connection: duckdb.DuckDBPyConnection, query: str) -> pa.Table:
    """Run a query and return its rows as one Arrow table."""
    table: pa.Table = connection.sql(query).to_arrow_table()
    return table

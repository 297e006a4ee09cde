"""Holds the tables of one dataset, piece by piece: one in memory, more than one in a temporary file."""

from collections.abc import Iterator
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa

if TYPE_CHECKING:
    from io import IOBase


class Pieces:
    """Tables of one schema, in order, which can be read again and again.

    The first is kept in memory. With the second, all go to a temporary file, so that a large window takes no
    more memory than one of its pieces.
    """

    def __init__(self, *tables: pa.Table) -> None:
        self.num_rows = 0
        self._tables: list[pa.Table] = []
        self._file: IO[bytes] | None = None
        self._ends: list[int] = [0]
        for table in tables:
            self.append(table)

    def append(self, table: pa.Table) -> None:
        """Add a table; one without rows only if there is none yet."""
        if self._ends[-1] == 0 and not self.num_rows:
            self._tables = [table]
        elif table.num_rows:
            for each in [*self._tables, table]:
                self._spill(each)
            self._tables = []
        self.num_rows += table.num_rows

    def __iter__(self) -> Iterator[pa.Table]:
        """Yield the tables one after another."""
        yield from self._tables
        for start in self._ends[:-1]:
            assert self._file is not None  # noqa: S101 - there are ends only in a file
            self._file.seek(start)
            with pa.ipc.open_stream(cast("IOBase", self._file)) as reader:
                yield reader.read_all()

    def _spill(self, table: pa.Table) -> None:
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed and removed with the last reference to it
        self._file.seek(self._ends[-1])
        with pa.ipc.new_stream(cast("IOBase", self._file), table.schema) as writer:
            writer.write_table(table)
        self._ends.append(self._file.tell())

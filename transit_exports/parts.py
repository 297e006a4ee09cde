"""The parts of an export: each is one file, written by a query or by a function."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from transit_exports.source import Source

Write = Callable[[Source, Path], int]


@dataclass(frozen=True, slots=True)
class Part:
    """A file of an export: its path in the folder, the table and month it holds, and what writes it.

    `write` returns the number of rows. A part of no month is of the whole period.
    """

    path: str
    table: str
    write: Write
    month: str = ""

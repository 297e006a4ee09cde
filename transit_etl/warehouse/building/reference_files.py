"""Reads optional reference files, which tell what the interface does not, into the build database."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import NoneType
from typing import TypeVar, get_args, get_type_hints

import duckdb

from transit_etl.warehouse.database import WarehouseError

Row = Mapping[str, str | None]
Entry = TypeVar("Entry", bound=tuple[object, ...])
_TYPES = {str: "varchar", int: "bigint", float: "double"}


class ReferenceFileError(WarehouseError):
    """A reference file cannot be used; the message says where it is wrong."""


def read_entries(
    path: Path,
    *,
    what: str,
    lists: str,
    entries_of: Callable[[Row, str], Iterable[Entry]],
    read_text: Callable[[Path], str] = lambda path: path.read_text(encoding="utf-8-sig"),
) -> list[Entry]:
    """Read a CSV with a heading; an entry that is listed twice is returned once.

    what, lists: what messages call the file, and an entry of it.
    entries_of: the entries of a row, given the row and its place for messages.
    ReferenceFileError says that the file cannot be read, has no entry, or which line is wrong.
    """
    try:
        rows = csv.DictReader(io.StringIO(read_text(path)), strict=True)
        entries = [
            entry
            for number, row in enumerate(rows, start=2)
            for entry in entries_of(row, f"{path}, line {number}")
        ]
    except (OSError, UnicodeDecodeError, zipfile.BadZipFile, csv.Error) as error:
        raise ReferenceFileError(f"cannot read the {what} {path}: {error}") from error
    if not entries:
        raise ReferenceFileError(f"{path} lists no {lists}")
    return list(dict.fromkeys(entries))


def make_table(connection: duckdb.DuckDBPyConnection, table: str, kind: type[Entry]) -> None:
    """Create `intermediate.<table>` with the operator and the fields of an entry, unless it exists."""
    columns = ", ".join(f"{name} {sql_type}" for name, sql_type in _columns(kind).items())
    connection.execute("create schema if not exists intermediate")
    connection.execute(f"create table if not exists intermediate.{table} (operator varchar, {columns})")


def replace_entries(
    connection: duckdb.DuckDBPyConnection, table: str, kind: type[Entry], operator: str, entries: list[Entry]
) -> None:
    """Replace what the build database knows of an operator from its reference file."""
    make_table(connection, table, kind)
    columns = _columns(kind)
    values = ", ".join(f"unnest(?::{sql_type}[])" for sql_type in columns.values())
    connection.execute(f"delete from intermediate.{table} where operator = ?", [operator])
    connection.execute(
        f"insert into intermediate.{table} select ?, {values}",
        [operator, *([getattr(entry, name) for entry in entries] for name in columns)],
    )


def _columns(kind: type[Entry]) -> dict[str, str]:
    """Return the fields of an entry with their types in SQL."""
    return {
        name: next(_TYPES[each] for each in get_args(hint) or (hint,) if each is not NoneType)
        for name, hint in get_type_hints(kind).items()
    }

"""Writes the rows of a query as a table, CSV, JSON, JSON lines, Markdown or Parquet."""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

import duckdb
import pyarrow as pa

from transit_base.errors import TransitError, first_line
from transit_base.files import open_atomic
from transit_etl.cli import grid
from transit_etl.cli.options import Format
from transit_etl.cli.output import out, printable
from transit_etl.cli.values import (
    in_one_line,
    is_number,
    json_rows,
    opened,
    plain_columns,
    texts,
    with_distinct_names,
)

_UNLIMITED = 1 << 20  # characters: what is written into a file or a pipe is not cut to a terminal
# Marks that a terminal obeys and that JSON does not escape.
_MARKS = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


_ESCAPED = {ord(mark): f"\\{mark}" for mark in "\\`*_{}[]<>|~#"}  # what Markdown would obey
_SUFFIXES = {
    ".csv": Format.CSV, ".json": Format.JSON, ".jsonl": Format.JSONL, ".ndjson": Format.JSONL,
    ".md": Format.MARKDOWN, ".parquet": Format.PARQUET,
}  # fmt: skip
_OF_ONE_RESULT = (Format.CSV, Format.JSON, Format.PARQUET)  # a file of these holds the rows of one query


class OutputError(TransitError):
    """The rows cannot be written as asked; the message says what to ask instead."""


def chosen(asked: Format | None, file: Path | None) -> Format:
    """Return the format asked for, else that of the file's ending, else a table."""
    return asked or (_SUFFIXES.get(file.suffix.lower(), Format.TABLE) if file else Format.TABLE)


def write(results: Iterable[pa.Table], asked: Format | None, file: Path | None) -> None:
    """Write results one after the other into a file, atomically, or to standard output."""
    form = chosen(asked, file)
    with ExitStack() as stack:
        target = stack.enter_context(open_atomic(file)) if file else sys.stdout.buffer
        for number, rows in enumerate(results):
            if number and file and form in _OF_ONE_RESULT:
                raise OutputError(f"a {form} file holds the rows of one query; this text has several")
            if file is None and form is Format.PARQUET and out.is_terminal:
                raise OutputError("Parquet is not for a terminal: name a file with --output")
            try:
                _WRITERS[form](rows, target, is_shown=file is None and out.is_terminal)
            except duckdb.Error as error:  # such as of the least HUGEINT
                raise OutputError(f"a value cannot be written as {form}: {first_line(error)}") from error
            if file is None:
                sys.stdout.flush()


def _write_lines(target: BinaryIO, lines: Iterable[str]) -> None:
    target.write("".join(f"{line}\n" for line in lines).encode(errors="backslashreplace"))


def _write_table(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:
    _write_lines(target, grid.lines_of(rows, out.width if is_shown else _UNLIMITED))


def _write_json(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:
    separator = ",\n" if is_shown else ", "
    text = f"[{separator.join(json_rows(rows))}]"
    _write_lines(target, [_safe_json(text) if is_shown else text])


def _write_json_lines(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:
    _write_lines(target, map(_safe_json, json_rows(rows)) if is_shown else json_rows(rows))


def _write_markdown(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:  # noqa: ARG001 - escaped always
    _write_lines(target, _markdown(rows))


def _write_csv(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:
    rows = with_distinct_names(rows)
    with TemporaryDirectory() as folder, opened(rows) as connection:
        file = Path(folder) / "rows.csv"
        columns = plain_columns(rows.schema)
        connection.execute(f"copy (select {columns} from result) to '{file}' (format csv, header)")
        text = file.read_bytes()
    target.write(printable(text.decode()).encode() if is_shown else text)


def _write_parquet(rows: pa.Table, target: BinaryIO, *, is_shown: bool) -> None:  # noqa: ARG001 - never shown
    import pyarrow.parquet as pq

    pq.write_table(with_distinct_names(rows), target, compression="zstd")


_WRITERS: Mapping[Format, Callable[..., None]] = {
    Format.TABLE: _write_table,
    Format.CSV: _write_csv,
    Format.JSON: _write_json,
    Format.JSONL: _write_json_lines,
    Format.MARKDOWN: _write_markdown,
    Format.PARQUET: _write_parquet,
}


def _markdown(rows: pa.Table) -> Iterator[str]:
    yield _markdown_row(in_one_line(field.name) for field in rows.schema)
    yield "|" + "|".join("---:" if is_number(field.type) else "---" for field in rows.schema) + "|"
    yield from map(_markdown_row, zip(*texts(rows), strict=True))


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.translate(_ESCAPED) for cell in cells) + " |"


def _safe_json(text: str) -> str:
    return _MARKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)

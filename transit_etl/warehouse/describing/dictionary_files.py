"""Writes the data dictionary into files: a page for each promised table, two indexes, and a CSV."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import astuple, fields
from itertools import groupby
from pathlib import Path

from transit_base.files import (
    clear_away,
    make_folder,
    named_in_errors,
    replace_folder,
    replacement_of,
    sync_tree,
    write_text,
)
from transit_etl.warehouse.describing.dictionary import ColumnEntry, Dictionary, TableEntry

_INTRODUCTION = """# Data dictionary

Every table that analysts are promised, each on a page of its own with all its columns;
[Columns](columns.md) lists these by name. Each publication writes these pages from the models, next to the
published file (`dictionary/`, and `dictionary.csv` with the working tables and the views with names too) and
into it: as comments, and as `quality.dictionary_tables` and `quality.dictionary_columns`.

A column's source is `upstream` (as the interface gives it), `timetable`, `observed` (by polls), `estimated`
(inferred from polls), `derived` (counted or computed of other columns), `reference` (a file of the
operator), `recorded` (by this program, of its own work) or `setting`.

```{toctree}
:hidden:
:glob:

*
```"""


def write_dictionary_files(folder: Path, dictionary: Dictionary) -> None:
    """Write `dictionary.csv`, and the pages as `dictionary/`, into a folder: each in one step."""
    write_text(folder / "dictionary.csv", as_csv(dictionary))
    place = folder / "dictionary"
    replace_pages(place, as_pages(dictionary))
    (folder / "dictionary.md").unlink(missing_ok=True)  # earlier versions wrote one page


def replace_pages(place: Path, pages: dict[str, bytes]) -> None:
    """Replace a folder of files by these, in one step, if any of them differs."""
    with named_in_errors(place):
        if {path.name: path.read_bytes() for path in place.glob("*")} == pages:
            return
        built = replacement_of(place)
        clear_away(built)
        make_folder(built)
        for name, page in pages.items():
            (built / name).write_bytes(page)
        sync_tree(built)
        replace_folder(built, place)


def as_csv(dictionary: Dictionary) -> str:
    """Return a row for each column, with its table's meaning and key at its end."""
    tables = {(each.schema_name, each.table_name): each for each in dictionary.tables}
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(
        [*(each.name for each in fields(ColumnEntry)), "table_meaning", "key_columns", "reads", "is_promised"]
    )
    for column in dictionary.columns:
        table = tables[column.schema_name, column.table_name]
        promised = str(table.is_promised).lower()
        writer.writerow([*astuple(column), table.meaning, table.key_columns, table.reads, promised])
    return text.getvalue()


def as_pages(dictionary: Dictionary) -> dict[str, bytes]:
    """Return the pages by their file names: of the tables that are promised, and the indexes."""
    tables = {_place(table): table for table in dictionary.tables if table.is_promised}
    columns = [column for column in dictionary.columns if _place(column) in tables]
    pages = {
        "index.md": _index(tables.values()),
        "columns.md": _columns_by_name(columns),
        **{f"{place}.md": _page(table, dictionary, tables.keys()) for place, table in tables.items()},
    }
    return {name: ("\n".join(lines) + "\n").encode() for name, lines in pages.items()}


def _index(tables: Iterable[TableEntry]) -> Iterator[str]:
    yield _INTRODUCTION
    for schema, members in groupby(tables, key=lambda table: table.schema_name):
        yield f"\n## {schema}\n"
        yield "| table | holds |"
        yield "|---|---|"
        yield from (_row(_link(_place(table)), table.meaning) for table in members)


def _columns_by_name(columns: Iterable[ColumnEntry]) -> Iterator[str]:
    yield "# Columns"
    yield "\nEvery column of a promised table, by name, and the tables that have it.\n"
    yield "| column | tables |"
    yield "|---|---|"
    in_order = sorted(columns, key=lambda column: column.column_name)
    for name, members in groupby(in_order, key=lambda column: column.column_name):
        yield _row(f"`{name}`", ", ".join(_link(_place(column)) for column in members))


def _page(table: TableEntry, dictionary: Dictionary, with_page: Iterable[str]) -> Iterator[str]:
    yield f"# {_place(table)}"
    yield f"\n{table.meaning}\n"
    if table.key_columns:
        yield f"Key: {', '.join(f'`{name}`' for name in _parts(table.key_columns))}.\n"
    if table.reads:
        made_of = (_link(name) if name in with_page else f"`{name}`" for name in _parts(table.reads))
        yield f"Made of {', '.join(made_of)}.\n"
    yield "| column | meaning | type | unit | source | values | example |"
    yield "|---|---|---|---|---|---|---|"
    for column in dictionary.columns_of(table):
        yield _row(
            f"`{column.column_name}`", column.meaning, column.type, column.unit, column.source,
            column.allowed_values, column.example,
        )  # fmt: skip


def _place(entry: TableEntry | ColumnEntry) -> str:
    return f"{entry.schema_name}.{entry.table_name}"


def _parts(names: str) -> list[str]:
    return names.split(", ") if names else []


def _link(place: str) -> str:
    return f"[{place}]({place}.md)"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

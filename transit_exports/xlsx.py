"""Writes tables into one Excel workbook: a sheet each, and a first one that explains them; streamed."""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from math import ceil
from pathlib import Path
from textwrap import wrap
from typing import Any

import xlsxwriter
from xlsxwriter.format import Format
from xlsxwriter.worksheet import Worksheet

from transit_exports.citation import cited, cited_first, naming, rules_of
from transit_exports.copying import ordered, with_names
from transit_exports.coverage import coverage_of, kind_of, known_of, what_is_missing
from transit_exports.parts import Part
from transit_exports.periods import Period, in_months
from transit_exports.request import ExportError, Request
from transit_exports.source import Column, Source, Table
from transit_exports.types import is_nested

_MOST_ROWS = 1_048_575  # of a sheet, below its header
_LONGEST_NAME = 31  # of a sheet
_LONGEST_TEXT = 32_767  # of a cell
_AT_ONCE = 5_000  # rows
_NARROWEST, _WIDEST = 8, 40  # columns, in characters
_NARROWEST_OF = {"DATE": 11, "TIMESTAMP": 19}  # columns of instants, which a sheet shows whole or not at all
_PAGE_WIDTH = 240  # characters on a printed page: letters are then about 6 points high
_A4 = 9
_LINE_POINTS = 15  # the height of a line
_LINE_SHARE = 0.85  # of the width of a cell that a line fills, in whatever font the cell is shown
_OPTIONS = {
    "constant_memory": True,
    "strings_to_formulas": False,
    "strings_to_urls": False,
    "strings_to_numbers": False,
    "nan_inf_to_errors": True,
    "remove_timezone": True,
}
Formats = dict[str, Format]
_CITED_COLOUR = "#fff2cc"
_RULES = ("Empty cells", "95 % intervals", "Bounds")
_TO_CITE = (
    "Columns with a yellow heading are those to cite; they stand first. Cite a figure with low and high. "
    "Where it is empty it is not known, and the reason stands beside it."
)
_PERCENTS = ("0%", "0.0%", "0.00%")  # of shares, by how many decimals are cited; one where it is not said
_DECIMALS = "select precision, decimals from core.precision_labels where quantity = 'share'"
_SHARES = ("share", "probability", "difference of shares")  # units shown as percent
_EXPLAINED = ("sheet", "column", "type", "unit", "meaning")
_EXPLAINED_WIDTHS = (40, 40, 25, 25, 90)  # at most, in characters


def xlsx_parts(source: Source, request: Request, period: Period) -> list[Part]:
    """Return one part: the workbook with all tables."""
    tables = with_names(source, request)
    n_most = max(map(partial(_n_rows, source, period=period), tables))
    if n_most > _MOST_ROWS:
        raise ExportError(
            f"a sheet holds {_MOST_ROWS:,} rows at most and this period has {n_most:,}: ask for a shorter "
            "period, or for csv or parquet"
        )
    name = "+".join(table.label for table in tables)
    return [Part(f"{name}.xlsx", ", ".join(table.place for table in tables), partial(_write, tables, period))]


def _n_rows(source: Source, table: Table, period: Period) -> int:
    [(n_rows,)] = source.rows(f"select count(*) from {table.place} where {_condition(table, period)}")
    return int(n_rows)


def _condition(table: Table, period: Period) -> str:
    return " or ".join(f"({condition})" for _, condition in in_months(table, period))


def _write(tables: Sequence[Table], period: Period, source: Source, path: Path) -> int:
    options = {**_OPTIONS, "tmpdir": str(source.scratch)}
    n_rows = 0
    with xlsxwriter.Workbook(str(path), options) as book:
        # The instant of the file's making would make two exports of the same rows differ.
        book.set_properties({"created": source.publication.published_at, "author": ""})
        formats: Formats = {
            "heading": book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"}),
            "text": book.add_format({"text_wrap": True, "valign": "top"}),
            "cited": book.add_format(
                {"bold": True, "bottom": 1, "text_wrap": True, "valign": "top", "bg_color": _CITED_COLOUR}
            ),
            **{form: book.add_format({"num_format": form}) for form in _PERCENTS},
            "DATE": book.add_format({"num_format": "yyyy-mm-dd"}),
            "TIMESTAMP": book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"}),
        }
        _explain(book.add_worksheet("About"), formats, source, tables, period)
        for table in tables:
            n_rows += _write_sheet(book, formats, source, table, _query(table, period))
    return n_rows


def _facts(source: Source, tables: Sequence[Table], period: Period) -> dict[str, str]:
    """Say what the workbook is, also for one who was given nothing else."""
    publication = source.publication
    coverage = coverage_of(source, kind_of(source, [*tables]), period)
    facts = {
        "Operator": publication.operator,
        "Publisher": source.publisher,
        "Licence": source.settings.licence,
        "Service dates": f"{period.first} to {period.last}",
        "Known": " ".join(known_of(coverage.as_fields())),
        "Incomplete": "; ".join(what_is_missing(source, coverage, period)),
        "Instants": f"UTC; local time is {publication.timezone}",
        **dict(zip(_RULES, rules_of(tables), strict=False)),
        **({"To cite": _TO_CITE} if any(map(cited, tables)) else {}),
        "Published": f"{publication.published_at:%Y-%m-%d %H:%M:%S} UTC, build {publication.build_number}",
        "Rulesets": ", ".join(map(str, publication.rulesets)),
        "More": "README.md and manifest.json next to this file",
        **{table.label: table.meaning for table in tables},
    }
    return {name: text for name, text in facts.items() if text}


def _explain(
    sheet: Worksheet, formats: Formats, source: Source, tables: Sequence[Table], period: Period
) -> None:
    facts = _facts(source, tables, period)
    rows = [
        (table.label, column.name, column.type.lower(), column.unit, column.meaning)
        for table in tables
        for column in cited_first(table)
    ]
    longest = [max(map(len, texts)) for texts in zip(_EXPLAINED, *rows, strict=True)]
    longest[0] = max(longest[0], *map(len, facts))
    widths = [
        min(round(each / _LINE_SHARE) + 1, widest)
        for each, widest in zip(longest, _EXPLAINED_WIDTHS, strict=True)
    ]
    for number, width in enumerate(widths):
        sheet.set_column(number, number, width)
    heading, wrapped = formats["heading"], formats["text"]
    for row, (name, text) in enumerate(facts.items()):
        sheet.set_row(row, _height(text, sum(widths[1:])))
        sheet.write_string(row, 0, name, heading)
        sheet.merge_range(row, 1, row, len(widths) - 1, text, wrapped)
    first = len(facts) + 1
    for row, texts in enumerate([_EXPLAINED, *rows], first):
        sheet.set_row(row, max(map(_height, texts, widths)))
        for number, text in enumerate(texts):
            sheet.write_string(row, number, text, wrapped if row > first else heading)
    _lay_out(sheet, widths)


def _height(text: str, width: int) -> int:
    """Return the height of a cell in which a text is wrapped: programs do not all find it themselves."""
    return _LINE_POINTS * max(len(wrap(text, int(width * _LINE_SHARE))), 1)


def _lay_out(sheet: Worksheet, widths: Sequence[int], n_names: int = 0) -> None:
    """Let a sheet be printed on pages that can be read: as few beside each other as its columns allow.

    The first `n_names` columns, which name a row, stand on each of these, if they leave room.
    """
    repeated = sum(widths[:n_names])
    if sum(widths) <= _PAGE_WIDTH or not 0 < repeated <= _PAGE_WIDTH / 2:
        repeated = 0
    else:
        sheet.repeat_columns(0, n_names - 1)
    sheet.set_landscape()
    sheet.set_paper(_A4)
    sheet.set_margins(left=0.4, right=0.4)
    sheet.fit_to_pages(ceil((sum(widths) - repeated) / (_PAGE_WIDTH - repeated)), 0)
    sheet.set_footer("&L&A&RPage &P of &N")


def _write_sheet(
    book: xlsxwriter.Workbook, formats: Formats, source: Source, table: Table, query: str
) -> int:
    sheet = book.add_worksheet(table.label[:_LONGEST_NAME])
    sheet.freeze_panes(1, 0)
    columns = cited_first(table)
    marked = cited(table)
    writers = [[_writer(sheet, column, formats, form) for column in columns] for form in _PERCENTS]
    precision = next((number for number, column in enumerate(columns) if column.name == "precision"), None)
    decimals = dict(source.rows(_DECIMALS))
    widths = [_width(column) for column in columns]
    _lay_out(sheet, widths, len(naming(table)))
    sheet.repeat_rows(0)
    sheet.set_row(
        0, max(_height("x" * len(column.name), width) for column, width in zip(columns, widths, strict=True))
    )
    for number, (column, width) in enumerate(zip(columns, widths, strict=True)):
        sheet.set_column(number, number, width)
        heading = formats["cited" if column in marked else "heading"]
        sheet.write_string(0, number, column.name, heading)
    cursor = source.connection.cursor()
    cursor.execute(query)
    n_rows = 0
    while rows := cursor.fetchmany(_AT_ONCE):
        for values in rows:
            n_rows += 1
            exact = writers[1 if precision is None else decimals.get(values[precision], 0)]
            for number, value in enumerate(values):
                if value is not None:
                    exact[number](n_rows, number, value)
    sheet.autofilter(0, 0, n_rows, len(columns) - 1)
    return n_rows


def _width(column: Column) -> int:
    return min(max(len(column.name) + 2, _NARROWEST_OF.get(column.type, _NARROWEST)), _WIDEST)


def _query(table: Table, period: Period) -> str:
    selected = ", ".join(map(_plain, cited_first(table)))
    return f"select {selected} from {table.place} where {_condition(table, period)} {ordered(table)}"


def _plain(column: Column) -> str:
    """Return the SQL of a column with the values that a sheet can hold."""
    if is_nested(column):
        return f"to_json({column.quoted})::varchar"
    if column.type in ("UUID", "TIME"):
        return f"{column.quoted}::varchar"
    return column.quoted


def _writer(
    sheet: Worksheet, column: Column, formats: Formats, percent: str
) -> Callable[[int, int, Any], object]:
    """Return what writes a value of a column into a row and a column of the sheet."""
    match column.type:
        case "DATE" | "TIMESTAMP":
            return partial(_write_instant, sheet, formats[column.type])
        case "BOOLEAN":
            return partial(_write_value, sheet.write_boolean)
        case "VARCHAR" | "UUID" | "TIME":
            return partial(_write_text, sheet)
        case _ if is_nested(column):
            return partial(_write_text, sheet)
        case _ if column.unit in _SHARES:
            return partial(_write_share, sheet, formats[percent])
        case _:
            return partial(_write_value, sheet.write_number)


def _write_instant(sheet: Worksheet, form: Format, row: int, column: int, value: datetime) -> None:
    sheet.write_datetime(row, column, value, form)  # dates too


def _write_share(sheet: Worksheet, form: Format, row: int, column: int, value: float) -> None:
    sheet.write_number(row, column, value, form)


def _write_value(write: Callable[..., object], row: int, column: int, value: object) -> None:
    write(row, column, value)


def _write_text(sheet: Worksheet, row: int, column: int, value: str) -> None:
    sheet.write_string(row, column, value[:_LONGEST_TEXT])

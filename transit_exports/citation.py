"""Says which columns of a table are to be cited, and how its `low` and `high` are to be read."""

from collections.abc import Iterator, Sequence

from transit_exports.periods import date_column
from transit_exports.source import Column, Table

UNKNOWN = "An empty value is unknown; it is never a missing service."
INTERVALS = (
    "A figure that is estimated has a 95 % interval from `low` to `high`: about 95 of 100 such intervals "
    "contain the true value, and about 5 do not. Cite the figure with both ends."
)
BOUNDS = (
    "Other columns with `low` and `high` are bounds by what was polled: the true value lies between "
    "them if the answers are right. The meaning of a column says which of the two it is."
)
_HEADLINE = ("figure", "low", "high", "sentence")


def cited(table: Table) -> list[Column]:
    """Return the columns to cite: each figure with the ends of its 95 % interval, and why it is null."""
    columns = {column.name: column for column in table.columns}
    if "figure" in columns:
        return [columns[name] for name in _HEADLINE if name in columns]
    found = [columns[name] for figure in columns for name in _with_interval(figure, columns)]
    reason = [columns[name] for name in ("estimate_null_reason",) if found and name in columns]
    return [*found, *reason]


def _with_interval(figure: str, columns: dict[str, Column]) -> Iterator[str]:
    low = columns.get(f"{figure}_low")
    if low is not None and "95 % interval" in low.meaning and f"{figure}_high" in columns:
        yield from (figure, f"{figure}_low", f"{figure}_high")


def naming(table: Table) -> list[Column]:
    """Return the columns that name a row: its date, its key, and the names after codes."""
    names = {date_column(table), *table.key}
    return [column for column in table.columns if column.name in names or _is_name(column)]


def cited_first(table: Table) -> list[Column]:
    """Return all columns of a table: what names a row, then what is to be cited, then the others."""
    front = naming(table)
    front += [column for column in cited(table) if column not in front]
    return [*front, *(column for column in table.columns if column not in front)]


def _is_name(column: Column) -> bool:
    return column.name.endswith(("line_number", "line_name", "stop_name"))


def rules_of(tables: Sequence[Table]) -> list[str]:
    """Return what a reader of these tables must know about empty values and about `low` and `high`."""
    names = [column.name for table in tables for column in table.columns]
    has_bounds = any(name.endswith(("low", "high")) or "_low_" in name for name in names)
    return [UNKNOWN, *([INTERVALS, BOUNDS] if has_bounds else [])]

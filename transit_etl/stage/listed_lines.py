"""Finds the lines that were listed before a window began, so that staging it again gives the same result."""

import logging
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transit_etl.line_labels import normal_label
from transit_etl.paths import lake_files
from transit_etl.stage.raw import RawWindow

# A line that has not been listed for this long does not count as listed.
_DAYS_BACK = 30
_COLUMNS = ["window", "line_code", "line_number"]
_SCHEMA = pa.schema([(name, pa.string()) for name in _COLUMNS])
_log = logging.getLogger(__name__)


class ListedLines:
    """The lines listed in the lake within the last month, with the windows that listed them.

    `roots` are data folders in increasing priority: a day found in one hides that day in those before it.
    """

    def __init__(self, roots: Iterable[Path]) -> None:
        self._roots = list(roots)
        self._days: dict[tuple[str, date], pa.Table | None] = {}

    def forget(self, operator: str, day: date) -> None:
        """Read a day's lines anew the next time: a window of it has just been staged."""
        self._days.pop((operator, day), None)

    def codes_and_labels(self, window: RawWindow) -> tuple[list[str], list[str]]:
        """Return the codes and normal labels of the lines listed when the window began, sorted."""
        stamp = _stamp(window.name)
        codes: set[str] = set()
        labels: set[str] = set()
        for back in range(_DAYS_BACK + 1):
            table = self._day(window.operator, window.day - timedelta(days=back))
            for row in [] if table is None else table.to_pylist():
                if _stamp(row["window"]) <= stamp:
                    codes.add(row["line_code"])
                    if label := normal_label(row["line_number"]):
                        labels.add(label)
        return sorted(codes), sorted(labels)

    def _day(self, operator: str, day: date) -> pa.Table | None:
        key = (operator, day)
        if key not in self._days:
            self._days[key] = self._read(operator, day)
        return self._days[key]

    def _read(self, operator: str, day: date) -> pa.Table | None:
        for root in reversed(self._roots):
            files = lake_files(root, "lines", operator, day)
            if files:
                tables = [_SCHEMA.empty_table(), *(_lines_in(path) for path in files)]
                return pa.concat_tables(tables).group_by(_COLUMNS).aggregate([]).select(_COLUMNS)
        return None


def _lines_in(path: Path) -> pa.Table:
    """Read the lines of a lake file; of a damaged one none, as that is no fault of the window staged now."""
    try:
        return pq.read_table(path, columns=_COLUMNS, partitioning=None).cast(_SCHEMA)
    except (OSError, pa.ArrowException) as error:
        _log.warning("read no lines from %s: %s", path, error)
        return _SCHEMA.empty_table()


def _stamp(window: str) -> str:
    """Return the instant in a window's name, which is when it began."""
    return window.split("-", 1)[0]

"""Has public validators look for errors in feeds and packages before they take their places."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from transit_exports.csv_schemas import PACKAGE
from transit_exports.tides_schemas import PROFILE

if TYPE_CHECKING:
    from frictionless import Report

CHECKED_ROWS = 5_000  # of each file of a TIDES package: frictionless reads about 7,000 a second


def errors_in_gtfs(folder: Path) -> list[str]:
    """Return the errors that gtfs-guru finds in a GTFS Schedule feed, each kind once; no remarks."""
    import gtfs_guru  # noqa: PLC0415 - only feeds need it

    notices = gtfs_guru.validate(str(folder / "gtfs.zip")).notices
    return _counted("gtfs-guru", (each.code for each in notices if each.severity == "ERROR"))


def errors_in_tides(folder: Path, n_rows: int = CHECKED_ROWS) -> list[str]:
    """Return the errors that frictionless finds in the first rows of each file of a TIDES package.

    Each kind of error is named once for each column.
    """
    return _counted("frictionless", _kinds(report_on_tides(folder, n_rows)))


def report_on_tides(folder: Path, n_rows: int | None = None) -> "Report":
    """Have frictionless check a TIDES package by the schemas in it and the profile of the standard.

    It reads `n_rows` of each file, or all.
    """
    from frictionless import Package, system  # noqa: PLC0415 - takes half a second, and only packages need it

    package = json.loads((folder / PACKAGE).read_text(encoding="utf-8"))
    package["profile"] = str((folder / PROFILE).absolute())
    with system.use_context(trusted=True):  # or no profile is read from another folder than the current one
        checked = Package.from_descriptor(package, basepath=str(folder))
        report: Report = checked.validate(limit_rows=n_rows, limit_errors=0)  # all are counted
    return report


def _kinds(report: "Report") -> Iterator[str]:
    yield from (f"{error.type} ({error.note})" for error in report.errors)
    for task in report.tasks:
        for error in task.errors:
            column = getattr(error, "field_name", "")
            yield f"{error.type} in {task.name}{f'.{column}' if column else ''}"


def _counted(validator: str, kinds: Iterable[str]) -> list[str]:
    return [f"{validator}: {kind}, {number} times" for kind, number in sorted(Counter(kinds).items())]

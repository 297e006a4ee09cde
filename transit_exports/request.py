"""What can be asked of an export, and what it reports."""

from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from transit_base.errors import TransitError


class ExportError(TransitError):
    """An export cannot be made as asked; the message says why and what to ask instead."""


@dataclass(frozen=True, slots=True)
class Request:
    """What to export: tables by name (none for a feed), as what, and of which service dates.

    Without a date the export begins with the first date of the file, or ends with the last that is over. `at`
    asks for what held at an instant (UTC, naive), for feeds of the moment alone.
    """

    names: tuple[str, ...]
    format: str
    first: date | None = None
    last: date | None = None
    at: datetime | None = None
    allows_incomplete: bool = False
    neutralises_formulas: bool = False
    output: Path | None = None


@dataclass(slots=True)
class ExportReport:
    """An export that was written: its folder, and what is in it.

    `n_kept_files` are those of the version before that are still right. `incomplete` says what is missing.
    """

    folder: Path
    n_files: int = 0
    n_kept_files: int = 0
    n_rows: int = 0
    n_bytes: int = 0
    is_new_version: bool = True
    incomplete: list[str] = field(default_factory=list)

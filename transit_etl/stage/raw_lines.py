"""Reads a raw file line by line: in parts that fit into memory, and past lines that are no rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Self

import pyarrow as pa
from pydantic import BaseModel, ValidationError, model_validator

from transit_etl.clock import naive_utc
from transit_etl.lake_schemas import INSTANT, REAL, TEXT, WHOLE
from transit_etl.stage.raw import NEAR, RawWindow, lines_of

_LONGEST_JUNK = 10_000  # characters of a junk line that are kept; the rest is in the raw file


class _Line(BaseModel, strict=True):
    """A line as the collector writes it; only its types are checked here."""

    request_id: str
    window: str
    operator: str
    endpoint: str
    key: str
    api_version: int
    planned_at: datetime
    sent_at: datetime | None
    received_at: datetime | None
    outcome: str
    http_status: int | None
    elapsed_ms: float | None
    attempts: int | None
    error: str | None
    purpose: str | None = None
    draws: str | None = None
    n_bytes: int | None
    body: str | None
    body_base64: str | None = None

    @model_validator(mode="after")
    def _whole_numbers_fit(self) -> Self:
        for name in ("api_version", "http_status", "attempts", "n_bytes"):
            if not -(2**63) <= (getattr(self, name) or 0) < 2**63:
                raise ValueError(f"{name} is no number that a row can hold")
        return self


# The columns of table `raw`, in the order of sql/raw.sql.
_FIELDS: list[tuple[str, pa.DataType]] = [
    ("request_id", TEXT), ("window", TEXT), ("operator", TEXT), ("endpoint", TEXT), ("key", TEXT),
    ("api_version", WHOLE), ("planned_at", INSTANT), ("sent_at", INSTANT), ("received_at", INSTANT),
    ("outcome", TEXT), ("http_status", WHOLE), ("elapsed_ms", REAL), ("attempts", WHOLE), ("error", TEXT),
    ("purpose", TEXT), ("draws", TEXT), ("n_bytes", WHOLE), ("body", TEXT),
]  # fmt: skip
_COLUMNS = pa.schema(_FIELDS)


@dataclass(frozen=True, slots=True)
class JunkLine:
    """A line of a raw file that is no row of its window, and why."""

    line: str
    reason: str


@dataclass(slots=True)
class RawPart:
    """Some lines of a raw file: the rows, under the columns of table `raw`, and the junk among them."""

    rows: pa.Table
    junk: list[JunkLine] = field(default_factory=list)


def read_parts(window: RawWindow, max_bytes: int, max_commas: int) -> Iterator[RawPart]:
    """Yield the lines of a raw file in parts of at most so many bytes and commas, or of a single line.

    The number of commas in a line bounds the number of rows that its body can list.
    """
    for lines in _groups(lines_of(window.path), max_bytes, max_commas):
        rows: list[dict[str, Any]] = []
        junk: list[JunkLine] = []
        for line in lines:
            try:
                rows.append(_row(window, line))
            except ValueError as error:
                text = line.decode("utf-8", "backslashreplace")[:_LONGEST_JUNK]
                junk.append(JunkLine(text, _reason(error)))
        yield RawPart(pa.Table.from_pylist(rows, schema=_COLUMNS), junk)


def _groups(lines: Iterable[bytes], max_bytes: int, max_commas: int) -> Iterator[list[bytes]]:
    group: list[bytes] = []
    n_bytes = n_commas = 0
    for line in lines:
        more_bytes, more_commas = len(line), line.count(b",")
        if group and (n_bytes + more_bytes > max_bytes or n_commas + more_commas > max_commas):
            yield group
            group, n_bytes, n_commas = [], 0, 0
        group.append(line)
        n_bytes, n_commas = n_bytes + more_bytes, n_commas + more_commas
    if group:
        yield group


def _row(window: RawWindow, line: bytes) -> dict[str, Any]:
    """Return a line as a row of table `raw`; ValueError if it is no row of this window."""
    read = _Line.model_validate_json(line)
    row = {name: getattr(read, name) for name in _COLUMNS.names}
    for name, expected in (("operator", window.operator), ("window", window.name)):
        if row[name] != expected:
            raise ValueError(f"its {name} is {row[name]!r}, and not that of the file")
    for name in ("planned_at", "sent_at", "received_at"):
        row[name] = _naive(row[name])
    _check_instants(window, row["planned_at"], row["received_at"])
    return row


def _check_instants(window: RawWindow, planned_at: datetime | None, received_at: datetime | None) -> None:
    """Raise ValueError if neither instant is near the window's day: a clock may be set between the two."""
    midnight = datetime.combine(window.day, datetime.min.time())
    known = [instant for instant in (planned_at, received_at) if instant is not None]
    if known and all(abs(instant - midnight) > NEAR for instant in known):
        raise ValueError(f"its instants are more than {NEAR.days} days from the window's day")


def _naive(instant: datetime | None) -> datetime | None:
    if instant is None or instant.tzinfo is None:
        return instant
    return naive_utc(instant)


def _reason(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else first["msg"]

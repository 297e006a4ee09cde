"""What the commands share: how durations, dates and instants are read, and options that several have."""

import re
import sys
from collections.abc import Sequence
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from transit_etl.endpoints import COLLECTIONS

EXIT_FAILED, EXIT_STOPPED = 1, 130
MARKUP: Literal["markdown"] = "markdown"  # the lines of a paragraph in a help text are joined
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}


class Format(StrEnum):
    """What the rows of a query can be written as."""

    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    MARKDOWN = "markdown"
    PARQUET = "parquet"


def duration(text: str) -> float:
    """Read `90s`, `10m` or `2h` as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip())
    if not found or not float(found[1]):
        raise typer.BadParameter(f"{text!r} is not a duration: write 90s, 10m or 2h")
    return float(found[1]) * UNIT_SECONDS[found[2]]


def day(text: str) -> date:
    """Read `2026-03-29` as a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a date: write 2026-03-29") from None


def instant(text: str) -> datetime | date:
    """Read `2026-03-29` as a date, `2026-03-29T08:00` as an instant, naive if it has no offset."""
    try:
        return datetime.fromisoformat(text) if "T" in text or " " in text else date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is not an instant: write 2026-03-29T08:00 or 2026-03-29"
        ) from None


def moment(text: str) -> datetime:
    """Read `2026-03-29T08:00Z` as an instant; it must have an offset."""
    forms = "write 2026-03-29T08:00Z or 2026-03-29T08:00+02:00"
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not an instant: {forms}") from None
    if found.tzinfo is None:
        raise typer.BadParameter(f"{text!r} has no offset: {forms}")
    return found


def collection(text: str) -> str:
    """Read the name of a collection."""
    if text not in COLLECTIONS:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, COLLECTIONS))}")
    return text


def names_among(known: Sequence[str], text: str) -> tuple[str, ...]:
    """Read `one,other` as some of the known names, in their order."""
    given = {name.strip() for name in text.split(",")}
    if unknown := sorted(given.difference(known)):
        raise typer.BadParameter(f"{', '.join(map(repr, unknown))} is not one of {', '.join(known)}")
    return tuple(name for name in known if name in given)


def query_text(text: str) -> str:
    """Return the query: the text itself, the contents of a file `x.sql`, or standard input for `-`."""
    if text == "-":
        return sys.stdin.read()
    if not text.endswith(".sql"):
        return text
    return Path(text).read_text(encoding="utf-8")


Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
COLLECTION = typer.Argument(parser=collection, help=f"What to ask for: {', '.join(COLLECTIONS)}.")
FROM = typer.Option("--from", metavar="DATE", parser=day, help="The first date.")
TO = typer.Option("--to", metavar="DATE", parser=day, help="The last date.")

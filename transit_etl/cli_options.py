"""What the commands share: how durations, dates and instants are written, and the options several have."""

import re
from datetime import date, datetime
from typing import Annotated

import typer

EXIT_FAILED, EXIT_STOPPED = 1, 130
UNIT_SECONDS = {"s": 1, "m": 60, "h": 3600}


def duration(text: str) -> float:
    """Read `90s`, `10m` or `2h` as seconds."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip())
    if not found or not float(found[1]):
        raise typer.BadParameter(f"{text!r} is no duration: write 90s, 10m or 2h")
    return float(found[1]) * UNIT_SECONDS[found[2]]


def day(text: str) -> date:
    """Read `2026-03-29` as a date."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no date: write 2026-03-29") from None


def instant(text: str) -> datetime | date:
    """Read `2026-03-29` as a date, `2026-03-29T08:00` as an instant; without an offset its zone is open."""
    try:
        return datetime.fromisoformat(text) if "T" in text or " " in text else date.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no instant: write 2026-03-29T08:00 or 2026-03-29") from None


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for a machine to read.")]
FROM = typer.Option("--from", metavar="DATE", parser=day, help="The first date.")
TO = typer.Option("--to", metavar="DATE", parser=day, help="The last date.")

"""Formats names, labels, waits and dates as the upstream's displays do."""

import re
from datetime import datetime
from functools import lru_cache
from html import escape


@lru_cache(maxsize=8_192)
def destination(name: str) -> str:
    """Return a destination as displays show it: upper case, no space after a full stop, XML entities."""
    plain = re.sub(r"\s*\([^)]*\)", "", name).strip().upper()
    return escape(re.sub(r"\.\s+", ".", plain), quote=False).replace("'", "&apos;")


@lru_cache(maxsize=8_192)
def label(number: str, *, is_slash: bool, is_padded: bool) -> str:
    """Return a line's number as a stop shows it: optionally zero-padded, with a slash for a short run."""
    shown = number if number.endswith("/") or not is_slash else number + "/"
    digits = re.match(r"\d+", shown)
    if is_padded and digits:
        shown = digits.group().zfill(3) + shown[digits.end() :]
    return shown


def wait(seconds: float) -> str:
    """Return a wait in minutes, rounded to the nearest, with its apostrophe."""
    return f"{int(seconds / 60 + 0.5)}'"


def short_date(moment: datetime) -> str:
    """Return `D/M/YYYY HH:MM`, day and month without a leading zero."""
    return f"{moment.day}/{moment.month}/{moment.year} {moment:%H:%M}"

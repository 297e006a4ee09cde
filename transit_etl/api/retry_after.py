"""Reads the header `Retry-After`, in seconds or as a date, as a wait of 0 to 3600 seconds."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2

LONGEST_SECONDS = 3600.0
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


def retry_after_seconds(headers: httpx2.Headers, now: datetime) -> float | None:
    """Return how long the server asks callers to wait, at most an hour; None if it does not say.

    A date is compared with the server's own `Date`, since the two clocks may differ, or else with `now`.
    """
    text = headers.get("Retry-After", "").strip()
    if not text:
        return None
    seconds = _number(text)
    if seconds is None:
        until, since = _instant(text), _instant(headers.get("Date", "")) or now
        if until is None:
            return None
        seconds = (until - since).total_seconds()
    return min(max(seconds, 0.0), LONGEST_SECONDS)


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _instant(text: str) -> datetime | None:
    try:
        instant = parsedate_to_datetime(text)
    except (ValueError, OverflowError):  # such as a zone that is further than a day away
        return None
    return instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant

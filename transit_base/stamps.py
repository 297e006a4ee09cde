"""Writes UTC instants into names of files and folders, which then sort by time, and reads them back."""

from datetime import datetime

_FORMAT = "%Y%m%dT%H%M%SZ"


def stamp(instant: datetime) -> str:
    """Write a UTC instant as names begin, to compare them with it."""
    return instant.strftime(_FORMAT)


def stamped_at(name: str) -> datetime | None:
    """Read the UTC instant, naive, with which a name begins; None if there is none."""
    try:
        return datetime.strptime(name[: len("20260302T060000Z")], _FORMAT)  # noqa: DTZ007 - UTC
    except ValueError:
        return None

"""Checks identifiers before they become part of an address, so that a bad one costs no request."""

import re
from datetime import date
from urllib.parse import quote

from transit_base.errors import TransitError

_LINE_CODE = re.compile(r"[A-Za-z0-9]{1,8}-[A-Za-z0-9]{1,4}")
_LINE = re.compile(r"[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,4})?")
_SHORT_LINE = re.compile(r"[0-9]{3}")
_STOP_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,31}")
_LEGACY_STOP_CODE = re.compile(r"[0-9]{4}")
_CATEGORY = re.compile(r"[A-Za-z0-9_]{1,16}")
_NEWS_ID = re.compile(r"(?!\.{1,2}\Z)[^\x00-\x1f\x7f-\x9f\ud800-\udfff/\\?#%]{1,128}")


class InvalidIdentifierError(TransitError):
    """An identifier cannot be part of an address; the message has its value and the expected form."""

    def __init__(self, what: str, given: object, expected: str) -> None:
        super().__init__(f"not a {what}: {given!r}; expected {expected}")


def line_code(code: str) -> str:
    """Return a line code as a path segment. Real networks use `N1-00`, `FGC-10` and `T374-00` too."""
    return _checked(_LINE_CODE, code, "line code", "letters and digits around a hyphen, such as 015-00")


def timetable_line(code: str) -> str:
    """Return the line of a timetable request as a path segment: a line code, or three digits."""
    if _matches(_SHORT_LINE, code):
        return code
    return _checked(_LINE_CODE, code, "line code", "a code such as 015-00, or three digits such as 015")


def legacy_line(line: str) -> str:
    """Return a line of version 0 as a path segment; the interface does not say its form."""
    return _checked(_LINE, line, "line", "a number such as 15 or a code such as 015-00")


def stop_code(code: str) -> str:
    """Return a stop code as a path segment. Not all networks number their stops with four digits."""
    expected = "1 to 32 letters, digits or any of _ . : - after a letter or digit, such as 0416"
    return _checked(_STOP_CODE, code, "stop code", expected)


def legacy_stop_code(code: str) -> str:
    """Return a stop code of version 0, which knows no others than four digits, as a path segment."""
    return _checked(_LEGACY_STOP_CODE, code, "stop code of version 0", "exactly 4 digits, such as 0416")


def category(code: str) -> str:
    """Return a status category as a path segment."""
    return _checked(_CATEGORY, code, "status category", "1 to 16 letters, digits or '_', such as ASC")


def news_id(identifier: str) -> str:
    """Return a news identifier, quoted as one path segment.

    Its form is not specified, so everything is accepted that cannot leave the segment. A server may decode
    the path before it routes, so a quoted slash is refused, too.
    """
    expected = "1 to 128 characters without controls or any of / \\ ? # %, and neither . nor .."
    return quote(_checked(_NEWS_ID, identifier, "news id", expected), safe="")


def iso_day(day: date) -> str:
    """Return a date as `YYYY-MM-DD`; of an instant, its date."""
    if not isinstance(day, date):
        raise InvalidIdentifierError("date", day, "a date")
    return date.isoformat(day)


def _matches(pattern: re.Pattern[str], given: object) -> bool:
    return isinstance(given, str) and pattern.fullmatch(given) is not None


def _checked(pattern: re.Pattern[str], given: str, what: str, expected: str) -> str:
    if not _matches(pattern, given):
        raise InvalidIdentifierError(what, given, expected)
    return given

"""Builds the requests of the deprecated version 0; paths are relative to its root, a token is required."""

from datetime import date

from transit_etl.api import identifiers
from transit_etl.api.exchange import Request
from transit_etl.api.identifiers import InvalidIdentifierError

LEAP_YEAR = 2000  # without a year, any month and day that exist in some year are valid


def transits(stop_code: str) -> Request:
    """Ask for the next arrivals at a stop, whose code has exactly four digits."""
    return Request.of("v0_transits", identifiers.legacy_stop_code(stop_code))


def timetable(
    line: str, day: int | None = None, month: int | None = None, year: int | None = None
) -> Request:
    """Ask for the timetable of a line; every part of the date is optional, without any it is today's.

    The key is the line, or `<line>/<YYYY-MM-DD>` with `*` for the digits of the parts left out.
    """
    code = identifiers.legacy_line(line)
    _check_date(day, month, year)
    parts = (("gg", day, 2), ("mm", month, 2), ("aa", year, 4))
    query = tuple((name, f"{value:0{width}d}") for name, value, width in parts if value is not None)
    given = dict(query)
    on = f"/{given.get('aa', '****')}-{given.get('mm', '**')}-{given.get('gg', '**')}" if query else ""
    return Request.of("v0_timetables", code, key=f"{code}{on}", query=query)


def news(limit: int | None = None) -> Request:
    """Ask for the latest news items, at most `limit` of them."""
    if limit is None:
        return Request.of("v0_news")
    if limit < 1:
        raise InvalidIdentifierError("limit of news", limit, "a whole number above 0")
    return Request.of("v0_news", query=(("limit", str(limit)),))


def news_item(news_id: str) -> Request:
    """Ask for a whole news item: HTML, images and links."""
    return Request.of("v0_news_details", identifiers.news_id(news_id), key=news_id)


def status() -> Request:
    """Ask for the service status, grouped by kind of service."""
    return Request.of("v0_status")


def _check_date(day: int | None, month: int | None, year: int | None) -> None:
    try:
        date(LEAP_YEAR if year is None else year, 1 if month is None else month, 1 if day is None else day)
    except ValueError as error:
        raise InvalidIdentifierError("date", f"{year}-{month}-{day}", "parts of a real date") from error

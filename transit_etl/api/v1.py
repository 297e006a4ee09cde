"""Builds the requests of version 1; paths are relative to the base address and have no query."""

from datetime import date

from transit_etl.api import identifiers
from transit_etl.api.exchange import Request


def all_of(endpoint: str) -> Request:
    """Ask an endpoint for everything it has, such as every line of the network."""
    return Request.of(endpoint)


def of_line(endpoint: str, line_code: str) -> Request:
    """Ask an endpoint about a line, such as for its stops in the order it serves them."""
    return Request.of(endpoint, identifiers.line_code(line_code))


def timetable(line: str, day: date) -> Request:
    """Ask for the departures of a line (a code, or three digits) on a day."""
    return Request.of("timetables", identifiers.timetable_line(line), identifiers.iso_day(day))


def passages(stop_code: str) -> Request:
    """Ask for the next passages at a stop."""
    return Request.of("passages", identifiers.stop_code(stop_code))


def status(category: str | None = None) -> Request:
    """Ask for the service status, of all categories or of one."""
    if category is None:
        return Request.of("status")
    code = identifiers.category(category)
    return Request.of("status", "categoria", code, key=code)


def news() -> Request:
    """Ask for the list of news items."""
    return Request.of("news")


def news_item(news_id: str) -> Request:
    """Ask for the full text of a news item."""
    return Request.of("news_details", identifiers.news_id(news_id), key=news_id)

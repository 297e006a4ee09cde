"""Builds the requests of version 1: paths are relative to the base address, and carry no query."""

from datetime import date

from transit_etl.api import identifiers
from transit_etl.api.exchange import Request


def lines() -> Request:
    """Ask for every line of the network."""
    return Request("lines", "", "linee")


def stops(line_code: str) -> Request:
    """Ask for the stops of a line, in the order it serves them."""
    code = identifiers.line_code(line_code)
    return Request("stops", code, f"fermate/{code}")


def timetable(line: str, day: date) -> Request:
    """Ask for the departures of a line (a code, or three digits) on a day."""
    code, on = identifiers.timetable_line(line), identifiers.iso_day(day)
    return Request("timetables", f"{code}/{on}", f"orari/{code}/{on}")


def passages(stop_code: str) -> Request:
    """Ask for what is about to call at a stop."""
    code = identifiers.stop_code(stop_code)
    return Request("passages", code, f"passaggi/{code}")


def status(category: str | None = None) -> Request:
    """Ask for the service status, whole or of one category."""
    if category is None:
        return Request("status", "", "stato_servizio")
    code = identifiers.category(category)
    return Request("status", code, f"stato_servizio/categoria/{code}")


def news() -> Request:
    """Ask for the list of news items."""
    return Request("news", "", "news")


def news_item(news_id: str) -> Request:
    """Ask for the full text of a news item."""
    segment = identifiers.news_id(news_id)
    return Request("news_details", news_id, f"news/{segment}")

"""The page of stops: the worst for punctuality and for waiting, and a map."""

import math
from collections.abc import Sequence
from typing import Any

from transit_reports.figures import FEWEST_UNITS, Column, Figure, heat_class
from transit_reports.language import N_, _, _n, number
from transit_reports.lines import ranked_rows
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report

_MOST = 100
_WIDTH = 800.0  # of the map, in its own units
_STOPS = [
    Column("place", N_("Place")),
    Column("stop", N_("Stop"), link="stop_page"),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
_WAITS = [
    Column("place", N_("Place")),
    Column("stop", N_("Stop"), link="stop_page"),
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("excess_wait", N_("Excess wait"), "seconds", "interval"),
    Column("scheduled_wait", N_("Wait by the timetable"), "seconds"),
    Column("n_headways", N_("Headways"), "count"),
]
_UNKNOWN = [
    Column("stop", N_("Stop"), link="stop_page"),
    Column("n_due", N_("Passages due"), "count"),
    Column("reason", N_("Why it has no place")),
]
_UNKNOWN_WAITS = [
    Column("stop", N_("Stop"), link="stop_page"),
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("n_headways", N_("Headways"), "count"),
    Column("reason", N_("Why it has no place")),
]


def stops_page(report: Report) -> Page:
    """Return the page of stops."""
    answer = report.ask("stops")
    rows = report.with_stops(answer.rows, "../")
    places, unknown = ranked_rows(report, rows)
    table = Figure(
        "stops", _("Stops by the share of passages that were on time"), _reading(places), _STOPS, places,
        answer.sql, "on-time", most_rows=_MOST,
    )  # fmt: skip
    left_out = Figure(
        "stops-not-known", _("Stops of which too little is known"),
        _n(
            "{n} stop has no place: too little is known of it. It may be worse than all that have one.",
            "{n} stops have no place: too little is known of them. Each may be worse than all that have one.",
            len(unknown),
        )
        if unknown
        else _("Every stop has a place."),
        _UNKNOWN, unknown, answer.sql, "not-known", most_rows=_MOST,
    )  # fmt: skip
    waits, unknown_waits = _waits(report)
    drawn = _map(report, rows)
    values = {"table": table, "waits": waits, "left_out": [unknown_waits, left_out], "map": drawn}
    return Page("stops/index.html", "stops.html", _("Stops"), values, [table, waits, left_out, unknown_waits])


def stop_list_page(report: Report) -> Page:
    """Return the page that leads to the page of every stop."""
    rows = report.with_stops(report.ask("stops").rows, "")
    found = sorted((row["stop"], row["stop_page"].removeprefix("stop/")) for row in rows)
    return Page("stop/index.html", "stop_list.html", _("All stops"), {"stops": found})


def _reading(places: Sequence[Row]) -> str:
    if not places:
        return _("Too little is known of every stop to compare them.")
    n_first = sum(row["place"].partition("–")[0] == "1" for row in places)
    return _(
        "Stops with {fewest} passages due or more: {n_places}. Of these, the intervals of {n_first} leave "
        "open that it is the worst. The list goes by the better end of the interval.",
        fewest=FEWEST_UNITS, n_places=number(len(places)), n_first=number(n_first),
    )  # fmt: skip


def _waits(report: Report) -> tuple[Figure, Figure]:
    """Return the waits for lines at stops that have a place, and those that have none."""
    answer = report.ask("stop_waits")
    rows = report.with_stops(report.named(answer, "../"), "../")
    places, unknown = ranked_rows(report, rows, "excess_wait", "n_headways", worst_is_low=False)
    reading = (
        _(
            "Lines at a stop where service is frequent, with {fewest} headways or more: {n_places}. Excess "
            "wait: how much longer riders waited, on average, than they would have by the timetable.",
            fewest=FEWEST_UNITS,
            n_places=number(len(places)),
        )
        if places
        else _("No frequent line has enough headways at a stop.")
    )
    if unknown:
        reading += " " + _n(
            "Of {n} other line at a stop too little is known; its wait may be longer than all of these.",
            "Of {n} other lines at a stop too little is known; each wait may be longer than all of these.",
            len(unknown),
        )
    told = Figure(
        "stop-waits", _("Stops by excess wait"), reading, _WAITS, places, answer.sql, "waits", most_rows=_MOST
    )
    left_out = Figure(
        "stop-waits-not-known", _("Waits of which too little is known"),
        _n(
            "{n} line at a stop where service is frequent has no place.",
            "{n} lines at a stop where service is frequent have no place.",
            len(unknown),
        )
        if unknown
        else _("Every line at a stop where service is known to be frequent has a place."),
        _UNKNOWN_WAITS, unknown, answer.sql, "not-known", most_rows=_MOST,
    )  # fmt: skip
    return told, left_out


def _map(report: Report, rows: Sequence[Row]) -> dict[str, Any] | None:
    """Return the circles of a map of the stops whose place is known; None if there are none."""
    found = [(report.stops.get(row["stop_code"]), row) for row in rows]
    placed = [
        (at, row) for at, row in found if at and at["latitude"] is not None and at["longitude"] is not None
    ]
    if not placed:
        return None
    west, east = min(at["longitude"] for at, _ in placed), max(at["longitude"] for at, _ in placed)
    south, north = min(at["latitude"] for at, _ in placed), max(at["latitude"] for at, _ in placed)
    stretch = math.cos(
        math.radians((south + north) / 2)
    )  # a degree of longitude is shorter than one of latitude
    scale = _WIDTH / max((east - west) * stretch, (north - south) / 2, 1e-9)
    circles = [
        {
            "x": f"{(at['longitude'] - west) * stretch * scale + 6:.1f}",
            "y": f"{(north - at['latitude']) * scale + 6:.1f}",
            "class": "none" if row["on_time"] is None else heat_class(row["on_time"]),
        }
        for at, row in placed
    ]
    return {
        "circles": circles,
        "width": f"{(east - west) * stretch * scale + 12:.0f}",
        "height": f"{(north - south) * scale + 12:.0f}",
        "n_without": len(rows) - len(placed),
    }

"""The page of a stop: date by date, its lines, waits, and how well it was watched."""

from collections.abc import Sequence
from typing import Any

from transit_reports.figures import Column, Figure, written
from transit_reports.language import N_, _, _n, number
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report, stop_page
from transit_reports.words import known_text, on_time_citation, share_with_interval

_WIDTH, _HEIGHT = 320, 60  # of the small chart, in its own units
_DATES = [
    Column("service_date", N_("Date"), "date"),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
_LINES = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("n_due", N_("Passages due"), "count"),
    Column("n_observed", N_("Observed"), "count"),
    Column("median_delay", N_("Median delay of the observed"), "seconds"),
]
_WAITS = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("excess_wait", N_("Excess wait"), "seconds", "interval"),
    Column("scheduled_wait", N_("Wait by the timetable"), "seconds"),
    Column("bunched", N_("Bunched"), "share", "interval"),
    Column("n_headways", N_("Headways"), "count"),
]


def stops_with_pages(report: Report) -> list[str]:
    """Return the codes of the stops that have a page: those at which passages were due."""
    return [row["stop_code"] for row in report.ask("stops").rows]


def stop_of(report: Report, code: str) -> Page:
    """Return the page of a stop."""
    [row] = report.of("stops", stop_code=code).rows
    name = report.stop_name(code)
    answer = (
        _(
            "{share} of the passages here were on time {when}.",
            share=share_with_interval(row, "on_time"),
            when=report.period.when,
        )
        if row["on_time"] is not None
        else _("How punctual the passages here were is not known: {reason}.", reason=report.reason(row))
    )
    dates = _dates(report, code, answer, on_time_citation(report, row, name))
    figures = [dates, _lines(report, code), _waits(report, code)]
    values = {
        "name": name,
        "answer": answer,
        "known": known_text(row),
        "watched": _watched(report, code),
        "spark": _spark(dates.rows),
        "figures": figures,
    }
    return Page(stop_page(code), "stop.html", name, values, figures)


def _dates(report: Report, code: str, answer: str, citation: str) -> Figure:
    found = report.of("stops_by_date", stop_code=code)
    rows = report.every_date(found.rows)
    return Figure("dates", _("Date by date"), answer, _DATES, rows, found.sql, "on-time", citation)


def _lines(report: Report, code: str) -> Figure:
    found = report.of("route_delays", stop_code=code)
    rows = report.named(found, "../../")
    return Figure(
        "lines",
        _("Lines at this stop"),
        _("The median is of the passages that were observed here, not of all that were due."),
        _LINES,
        rows,
        found.sql,
        "observed",
    )


def _waits(report: Report, code: str) -> Figure:
    found = report.of("stop_waits", stop_code=code)
    rows = report.named(found, "../../")
    told = [row for row in rows if row["excess_wait"] is not None]
    if told:
        reading = _("How much longer riders of frequent lines waited here than by the timetable, on average.")
    elif rows:
        reading = _("Waits are not known: {reason}.", reason=report.reason(rows[0]))
    else:
        reading = _(
            "By what is known of the timetable no line is frequent here: riders go by the timetable, and "
            "waits are not judged."
        )
    return Figure("waits", _("Waits"), reading, _WAITS, rows, found.sql, "waits")


def _watched(report: Report, code: str) -> str:
    rows = report.of("coverage_by_stop", stop_code=code).rows
    if not rows or not rows[0]["n_requests"]:
        return _("The stop was never asked.")
    row = rows[0]
    text = _n(
        "It was asked {n} time; good answers: {n_good}.",
        "It was asked {n} times; good answers: {n_good}.",
        row["n_requests"],
        n_good=number(row["n_good"]),
    )
    if row["watched_share"] is None:
        return text
    share = written(row["watched_share"], "share")
    return f"{text} " + _("{share} of the passages due were due while it was watched.", share=share)


def _spark(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a small column for each date: where its interval lies, or that it is not known."""
    step = _WIDTH / max(len(rows), 1)
    return [
        {
            "x": f"{number * step + step * 0.15:.1f}",
            "width": f"{step * 0.7:.1f}",
            "y": "0" if row["on_time"] is None else f"{_HEIGHT * (1 - row['on_time_high']):.1f}",
            "height": f"{_HEIGHT}" if row["on_time"] is None else f"{_length(row):.1f}",
            "middle": None if row["on_time"] is None else f"{_HEIGHT * (1 - row['on_time']) - 1:.1f}",
        }
        for number, row in enumerate(rows)
    ]


def _length(row: Row) -> float:
    return max(_HEIGHT * float(row["on_time_high"] - row["on_time_low"]), 1.0)

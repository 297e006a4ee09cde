"""The pages of disruptions and of lifts."""

from datetime import timedelta
from typing import Any

from transit_reports import charts
from transit_reports.figures import Column, Figure, with_ends, written
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report
from transit_reports.words import count_of, is_told_apart

_MOST_BARS = 25
_LONGEST = 24  # characters of a label
_COLUMNS = [
    Column("number", "Bar", "count"),
    Column("line_names", "Lines"),
    Column("event", "What"),
    Column("cause", "Cause given"),
    Column("begun", "From", "time"),
    Column("ended", "To", "time"),
    Column("minutes", "Minutes", "minutes", "hard"),
    Column("line_minutes", "Minutes of lines", "minutes", "hard"),
    Column("message", "Message"),
]
_LINE_COLUMNS = [
    Column("line_number", "Line"),
    Column("event", "What"),
    Column("n_episodes", "Disruptions", "count"),
    Column("minutes", "Minutes", "minutes", "hard"),
]
_CAUSE_COLUMNS = [
    Column("cause", "Cause given"),
    Column("n_disruptions", "Disruptions", "count"),
    Column("minutes", "Minutes", "minutes", "hard"),
]
_IMPACT_COLUMNS = [
    Column("line", "Line"),
    Column("what", "Disruption"),
    Column("impact", "Change of the on-time share", "difference", "interval"),
    Column("on_time_share_during", "On time during it", "share"),
    Column("on_time_share_expected", "Usual at such hours", "share"),
    Column("n_judged", "Passages judged", "count"),
]
_LIFT_COLUMNS = [
    Column("lift", "Lift"),
    Column("available", "In use", "share", "hard"),
    Column("n_dates", "Dates", "count"),
    Column("n_failures", "Failures", "count"),
    Column("n_repairs", "Repairs", "count"),
]


def disruption_rows(report: Report) -> list[dict[str, Any]]:
    """Return the disruptions of the period, those with most minutes of lines first."""
    return [
        {**row, "minutes": None, "line_minutes": None, "cause": row["cause"] or "none given"}
        for row in report.ask("disruptions").rows
    ]


def disruptions_page(report: Report) -> Page:
    """Return the page of disruptions: a timeline, minutes by line and by cause, and what they changed."""
    rows = disruption_rows(report)
    figures = [_timeline(report, rows), _by_line(report), _by_cause(report), _impact(report, rows)]
    return Page(
        "disruptions/index.html",
        "figures.html",
        "Disruptions",
        {"figures": figures, "intro": _INTRO},
        figures,
    )


_INTRO = (
    "What the operator's service status said. A disruption is seen only when the status is asked: its start "
    "and end have hard bounds, in square brackets."
)


def _timeline(report: Report, rows: list[dict[str, Any]]) -> Figure:
    reading = (
        f"{count_of(len(rows), 'disruption')} held {report.period.when}"
        + (f"; the chart has the {_MOST_BARS} with most minutes of lines." if len(rows) > _MOST_BARS else ".")
        + " Hatched: it ended in this time."
        if rows
        else f"The service status named no disruption {report.period.when}."
    )
    bars = sorted(rows[:_MOST_BARS], key=lambda row: row["begun"])
    numbers = {row["episode_id"]: number for number, row in enumerate(bars, 1)}
    rows = [{**row, "number": numbers.get(row["episode_id"])} for row in rows]
    drawn = [
        {
            "label": f"{number}. {_shortened(row['line_names'])}",
            "begun": row["begun"],
            "ended_low": row["begun"] + timedelta(minutes=row["minutes_low"]),
            "ended_high": row["begun"] + timedelta(minutes=row["minutes_high"]),
        }
        for number, row in enumerate(bars, 1)
    ]
    return Figure(
        "disruptions", "When", reading, _COLUMNS, rows, report.ask("disruptions").sql, "disruptions",
        drawing=charts.spans(drawn, reading) if drawn else None,
    )  # fmt: skip


def _shortened(names: str) -> str:
    return names if len(names) <= _LONGEST else f"{names[: _LONGEST - 1]}…"


def _by_line(report: Report) -> Figure:
    answer = report.ask("disruption_minutes")
    rows = [
        {**row, "minutes": None, "line_number": row["line_number"] or "none named"} for row in answer.rows
    ]
    reading = (
        f"Most minutes has line {rows[0]['line_number']} ({rows[0]['event']}): "
        f"{with_ends(None, rows[0]['minutes_low'], rows[0]['minutes_high'], 'minutes', 'hard')}."
        if rows
        else "No line was disrupted, as far as the status was asked."
    )
    return Figure(
        "minutes-by-line", "Minutes by line", reading, _LINE_COLUMNS, rows, answer.sql, "disruptions"
    )


def _by_cause(report: Report) -> Figure:
    answer = report.ask("disruption_causes")
    rows = [{**row, "minutes": None} for row in answer.rows]
    total = sum(row["n_disruptions"] for row in rows)
    reading = (
        f"{count_of(total, 'disruption')} began {report.period.when}. Where the end of one is "
        "not known, the sum has no upper end."
    )
    return Figure("minutes-by-cause", "By cause", reading, _CAUSE_COLUMNS, rows, answer.sql, "disruptions")


def _impact(report: Report, disruptions: list[dict[str, Any]]) -> Figure:
    answer = report.ask("disruption_impact")
    events = {row["episode_id"]: row for row in disruptions}
    known = [row for row in answer.rows if row["impact"] is not None]
    rows = [
        {
            **row,
            "line": report.line_name(row["line_code"], "outbound"),
            "what": _what(events.get(row["episode_id"])),
        }
        for row in known
    ]
    worse = sum(
        is_told_apart({"change_low": row["impact_low"], "change_high": row["impact_high"]}) for row in rows
    )
    reading = (
        f"Of {len(rows)} pairs of a disruption and a line with enough passages, {worse} have an interval "
        "without 0. One in twenty would by chance, so about "
        f"{len(rows) * 0.05:.0f} are expected without any effect. {len(answer.rows) - len(rows)} more pairs "
        "have too few passages."
        if rows
        else "No disruption had enough passages before and during it."
    )
    return Figure(
        "impact",
        "What disruptions changed",
        reading,
        _IMPACT_COLUMNS,
        rows,
        answer.sql,
        "impact",
        most_rows=50,
    )


def _what(row: Row | None) -> str:
    return f"{row['event']}, from {written(row['begun'], 'time')}" if row else "of another period"


def lifts_page(report: Report) -> Page:
    """Return the page of lifts: how much of the time each was in use, and on which dates not."""
    answer = report.ask("lifts")
    rows = [{**row, "available": None} for row in answer.rows]
    reading = (
        f"{rows[0]['lift']} was out of use most: in use "
        + with_ends(None, rows[0]["available_low"], rows[0]["available_high"], "share", "hard")
        + " of the time."
        if rows and rows[0]["available_high"] is not None and rows[0]["available_high"] < 1
        else "No lift was reported out of use."
    )
    table = Figure("lifts", "Availability", reading, _LIFT_COLUMNS, rows, answer.sql, "lifts")
    days = report.ask("lift_days")
    calendar: dict[str, dict[Any, Row]] = {}
    for row in days.rows:
        calendar.setdefault(row["lift"], {})[row["service_date"]] = row
    dates = sorted({row["service_date"] for row in days.rows})
    columns = [
        Column("lift", "Lift"),
        Column("service_date", "Date", "date"),
        Column("out", "Out of use", "share", "hard"),
    ]
    list_rows = [_lift_day(row) for row in days.rows]
    per_day = Figure("lift-days", "Calendar", _CALENDAR, columns, list_rows, days.sql, "lifts")
    values = {"table": table, "per_day": per_day, "dates": dates, "calendar": calendar, "lift_day": _lift_day}
    return Page("lifts/index.html", "lifts.html", "Lifts", values, [table, per_day])


_CALENDAR = "Hours that each lift was surely out of use on each date; hatched where the status was not asked."


def _lift_day(row: Row) -> dict[str, Any]:
    total = row["total_seconds"] or 0
    is_known = total > 0 and row["out_low_seconds"] is not None
    return {
        "lift": row["lift"],
        "service_date": row["service_date"],
        "out": None,
        "out_low": row["out_low_seconds"] / total if is_known else None,
        "out_high": row["out_high_seconds"] / total if is_known else None,
        "hours": row["out_low_seconds"] / 3600 if is_known else None,
    }

"""The pages of disruptions and of lifts."""

from datetime import timedelta
from typing import Any

from transit_reports import charts
from transit_reports.figures import Column, Figure, bounds_text, written
from transit_reports.language import N_, _, _n, number, translated
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report
from transit_reports.words import is_told_apart

_MOST_BARS = 25
_CAUSES = {  # classes of `core.cause_meanings`
    "works": N_("works"),
    "technical": N_("technical problem"),
    "accident": N_("accident"),
    "obstruction": N_("obstruction"),
    "event": N_("event or demonstration"),
    "strike": N_("strike"),
    "weather": N_("weather"),
    "emergency": N_("emergency"),
    "traffic": N_("traffic"),
}
_LONGEST = 24  # characters of a label
_COLUMNS = [
    Column("number", N_("Bar"), "count"),
    Column("line_names", N_("Lines")),
    Column("event", N_("What")),
    Column("cause", N_("Cause given")),
    Column("begun", N_("From"), "time"),
    Column("ended", N_("To"), "time"),
    Column("minutes", N_("Duration"), "minutes", "bounds"),
    Column("line_minutes", N_("Duration, summed over lines"), "minutes", "bounds"),
    Column("message", N_("Message")),
    Column("news", N_("News about it")),
]
_LINE_COLUMNS = [
    Column("line_number", N_("Line")),
    Column("event", N_("What")),
    Column("minutes", N_("Duration"), "minutes", "bounds"),
]
_CAUSE_COLUMNS = [
    Column("cause", N_("Cause given")),
    Column("n_disruptions", N_("Disruptions"), "count"),
    Column("minutes", N_("Duration"), "minutes", "bounds"),
]
_IMPACT_COLUMNS = [
    Column("line", N_("Line")),
    Column("what", N_("Disruption")),
    Column("impact", N_("Change of the on-time share"), "difference", "interval"),
    Column("during_value", N_("On time during it"), "share"),
    Column("expected_value", N_("Usual at such hours"), "share"),
    Column("n_dates_compared", N_("Dates compared with"), "count"),
]
_LIFT_COLUMNS = [
    Column("lift", N_("Lift")),
    Column("available", N_("In use"), "share", "bounds"),
    Column("n_dates", N_("Dates"), "count"),
    Column("n_failures", N_("Failures"), "count"),
    Column("n_repairs", N_("Repairs"), "count"),
]


def disruption_rows(report: Report) -> list[dict[str, Any]]:
    """Return the disruptions of the period, those with most minutes of lines first."""
    return [
        {
            **row,
            "event": translated(row["event"]),
            "minutes": None,
            "line_minutes": None,
            "line_names": row["line_names"] or _("no line named"),
            "cause": _cause(row),
        }
        for row in report.told(report.ask("disruptions").rows, "cause", "message", "news")
    ]


def _cause(row: Row) -> str:
    """Return the cause that upstream gives, or else the kind of cause that the message names."""
    if row["cause"]:
        return row["cause"]  # type: ignore[no-any-return]
    if row["cause_class"] == "unknown":
        return _("none given")
    kind = row["cause_class"]
    return _("{cause} (by the message)", cause=_(_CAUSES[kind]) if kind in _CAUSES else kind)


def status_watched(report: Report) -> str:
    """Say which share of the period the service status was watched."""
    share = report.one("status_watched")["watched_share"]
    return _("The service status was watched {share} of the time.", share=written(share, "share"))


def none_named(report: Report) -> str:
    """Say that the service status named no disruption, or that it is not known whether there was one."""
    when = report.period.when
    if not report.one("status_watched")["watched_share"]:
        return _(
            "Whether there were disruptions {when} is not known: the service status was not watched.",
            when=when,
        )
    return _("The service status named no disruption {when}.", when=when) + f" {status_watched(report)}"


def disruptions_page(report: Report) -> Page:
    """Return the page of disruptions: a timeline, minutes by line and by cause, and what they changed."""
    rows = disruption_rows(report)
    figures = [_timeline(report, rows), _by_line(report), _by_cause(report), _impact(report, rows)]
    return Page(
        "disruptions/index.html",
        "figures.html",
        _("Disruptions"),
        {"figures": figures, "intro": _(_INTRO)},
        figures,
    )


_INTRO = N_(
    "What the operator's service status said. A disruption is seen only when the status is asked: its start "
    "and end have bounds, in square brackets."
)


def _timeline(report: Report, rows: list[dict[str, Any]]) -> Figure:
    reading = (
        _n("{n} disruption held {when}.", "{n} disruptions held {when}.", len(rows), when=report.period.when)
        + " "
        + (
            _("The chart has the {most} that lasted longest, summed over their lines.", most=_MOST_BARS) + " "
            if len(rows) > _MOST_BARS
            else ""
        )
        + _("Hatched: it ended in this time.")
        + f" {status_watched(report)}"
        if rows
        else none_named(report)
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
        "disruptions", _("When"), reading, _COLUMNS, rows, report.ask("disruptions").sql, "disruptions",
        drawing=charts.spans(drawn, reading) if drawn else None,
    )  # fmt: skip


def _shortened(names: str) -> str:
    return names if len(names) <= _LONGEST else f"{names[: _LONGEST - 1]}…"


def _by_line(report: Report) -> Figure:
    answer = report.ask("disruption_minutes")
    rows = [
        {
            **row,
            "event": translated(row["event"]),
            "minutes": None,
            "line_number": row["line_number"] or _("none named"),
        }
        for row in answer.rows
    ]
    reading = (
        _(
            "The longest certain time was that of line {line} ({event}): {minutes}. Disruptions that name no "
            "line are not in the list.",
            line=rows[0]["line_number"],
            event=rows[0]["event"],
            minutes=bounds_text(rows[0]["minutes_low"], rows[0]["minutes_high"], "minutes"),
        )
        if rows
        else none_named(report)
    )
    return Figure(
        "minutes-by-line", _("Duration by line"), reading, _LINE_COLUMNS, rows, answer.sql, "disruptions"
    )


def _by_cause(report: Report) -> Figure:
    answer = report.ask("disruption_causes")
    rows = [{**row, "minutes": None, "cause": _cause(row)} for row in report.told(answer.rows, "cause")]
    total = sum(row["n_disruptions"] for row in rows)
    reading = (
        none_named(report)
        if not report.ask("disruptions").rows
        else _n(
            "{n} disruption began {when}. Where the end of one is not known, the sum has no upper end.",
            "{n} disruptions began {when}. Where the end of one is not known, the sum has no upper end.",
            total,
            when=report.period.when,
        )
    )
    return Figure("minutes-by-cause", _("By cause"), reading, _CAUSE_COLUMNS, rows, answer.sql, "disruptions")


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
        _(
            "Pairs of a disruption and a line with enough passages: {n_pairs}. Of these {n_apart} have an "
            "interval without 0. Pairs with too few passages or dates: {n_few}.",
            n_pairs=number(len(rows)),
            n_apart=number(worse),
            n_few=number(len(answer.rows) - len(rows)),
        )
        if rows
        else _n(
            "What disruptions changed is not known: {n} pair of a disruption and a line has too few passages "
            "or earlier dates.",
            "What disruptions changed is not known: {n} pairs of a disruption and a line have too few "
            "passages or earlier dates.",
            len(answer.rows),
        )
        if answer.rows
        else none_named(report)
        if not disruptions
        else _("No disruption named a line whose passages can be compared.")
    )
    placebo = report.one("impact_placebo")
    if rows and placebo:
        reading += " " + _(
            "On dates without a disruption, {share} of {n} such intervals leave 0 out; 5 % would by chance.",
            share=written(placebo["placebo_rate"], "share"),
            n=number(placebo["n_placebos"]),
        )
    return Figure(
        "impact",
        _("What disruptions changed"),
        reading,
        _IMPACT_COLUMNS,
        rows,
        answer.sql,
        "impact",
        most_rows=50,
    )


def _what(row: Row | None) -> str:
    if row is None:
        return _("of another period")
    return _("{event}, from {moment}", event=row["event"], moment=written(row["begun"], "time"))


def lifts_page(report: Report) -> Page:
    """Return the page of lifts: how much of the time each was in use, and on which dates not."""
    answer = report.ask("lifts")
    rows = [{**row, "available": None} for row in report.told(answer.rows, "lift")]
    reading = _lifts_reading(report, rows)
    repairs = report.ask("lift_repairs")
    if repairs.rows:
        reading += " " + _("Counted {definition}.", definition=translated(repairs.rows[0]["meaning"]))
    for row in repairs.rows:
        if row["hours_low"] is not None and row["hours_high"] is not None:
            reading += " " + _(
                "Half of {n} repairs took longer than {low} to {high} hours (95 % interval of the median, "
                "all dates).",
                n=number(row["n_failures"]),
                low=number(row["hours_low"], 1),
                high=number(row["hours_high"], 1),
            )
    table = Figure("lifts", _("Availability"), reading, _LIFT_COLUMNS, rows, answer.sql, "lifts")
    days = report.ask("lift_days")
    calendar: dict[str, dict[Any, Row]] = {}
    for row in report.told(days.rows, "lift"):
        calendar.setdefault(row["lift"], {})[row["service_date"]] = row
    dates = sorted({row["service_date"] for row in days.rows})
    columns = [
        Column("lift", N_("Lift")),
        Column("service_date", N_("Date"), "date"),
        Column("out", N_("Out of use"), "share", "bounds"),
    ]
    list_rows = [_lift_day(row) for row in days.rows]
    per_day = Figure("lift-days", _("Calendar"), _(_CALENDAR), columns, list_rows, days.sql, "lifts")
    values = {"table": table, "per_day": per_day, "dates": dates, "calendar": calendar, "lift_day": _lift_day}
    return Page("lifts/index.html", "lifts.html", _("Lifts"), values, [table, per_day])


def _lifts_reading(report: Report, rows: list[dict[str, Any]]) -> str:
    if not report.one("status_watched")["watched_share"]:
        return _("Whether lifts were in use is not known: the service status was not watched.")
    if not rows:
        return _("No lift is known: the service status named none, and no plant file does.")
    if rows[0]["available_high"] is not None and rows[0]["available_high"] < 1:
        reading = _(
            "{lift} was certainly out of use longest: in use {share} of the time.",
            lift=rows[0]["lift"],
            share=bounds_text(rows[0]["available_low"], rows[0]["available_high"], "share"),
        )
    else:
        reading = _("No lift was reported out of use.")
    return f"{reading} {status_watched(report)}"


_CALENDAR = N_(
    "Hours that each lift was surely out of use on each date; hatched where the status was not asked."
)


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

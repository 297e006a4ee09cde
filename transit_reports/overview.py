"""The first page: how punctual, how sure, what changed, what went wrong, what one must know of the data."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from transit_reports import charts
from transit_reports.compare import changed_lines
from transit_reports.disruptions import disruption_rows, none_named
from transit_reports.figures import Column, Figure, Kind, bounds_text, with_ends, written
from transit_reports.language import N_, _, _n, day_and_month, number
from transit_reports.lines import line_rows
from transit_reports.page import Page
from transit_reports.periods import ReportPeriod
from transit_reports.queries import Row
from transit_reports.report import Report
from transit_reports.words import (
    change_text,
    difference,
    known_text,
    listed,
    on_time_citation,
    share_with_interval,
)

_SILENCE = 2 * 3600  # seconds without an answer, after which it is said that nobody collects
_MOST = 5
_DATE_COLUMNS = [
    Column("service_date", N_("Date"), "date"),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("early", N_("Early"), "share", "interval"),
    Column("late", N_("Late"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
_DISRUPTION_COLUMNS = [
    Column("line_names", N_("Lines")),
    Column("event", N_("What")),
    Column("cause", N_("Cause given")),
    Column("begun", N_("From"), "time"),
    Column("ended", N_("To"), "time"),
    Column("line_minutes", N_("Duration, summed over lines"), "minutes", "bounds"),
]


def headline(report: Report) -> str:
    """Return the sentence that answers how punctual the service was."""
    row = report.one("network")
    if row.get("on_time") is None:
        return _(
            "It is not known how punctual the service was {when}: {reason}.",
            when=report.period.when, reason=report.reason(row),
        )  # fmt: skip
    return _(
        "{share} of bus passages were on time {when}{known_dates}.",
        share=share_with_interval(row, "on_time"), when=report.period.when,
        known_dates=_known_dates(report.period, row),
    )  # fmt: skip


def _known_dates(period: ReportPeriod, row: Row) -> str:
    """Say of how many dates of a period anything is known; nothing if it is of all."""
    n_dates, n_known = period.dates.n_dates, row["n_dates"]
    if n_known == n_dates:
        return ""
    return _n(
        " (of {n_dates} dates {n} is known)",
        " (of {n_dates} dates {n} are known)",
        n_known,
        n_dates=number(n_dates),
    )


def overview_page(report: Report) -> Page:
    """Return the first page."""
    row, before = report.one("network"), report.period.before
    then = report.one("network", before)
    by_date = _by_date(report)
    changed = _changed_lines(report)
    costly = _costly(report)
    change = difference(row, then, "on_time") if row else None
    return Page(
        "index.html",
        "overview.html",
        _("Punctuality"),
        {
            "answer": headline(report),
            "citation": on_time_citation(report, row, _("All lines")),
            "change": change_text(change, f"{before.title}{_known_dates(before, then)}") if then else "",
            "known": known_text(row) if row else "",
            "tiles": [*_tiles(report, row)],
            "by_date": by_date,
            "changed": changed,
            "costly": costly,
            "notices": [*_notices(report, row)],
        },
        [by_date, changed, costly],
    )


def _tiles(report: Report, row: Row) -> Iterator[dict[str, Any]]:
    if row:
        for name, title in (("on_time", _("On time")), ("early", _("Early")), ("late", _("Late"))):
            yield _tile(title, row, name, "share")
        yield _tile(_("Mean delay"), row, "mean_delay", "seconds")
    trips = report.one("delivered_network")
    if trips.get("n_departures"):
        low, high = trips["delivered_low"], trips["delivered_high"]
        yield {
            "name": _("Departures that ran"),
            "value": bounds_text(low, high, "share"),
            "ends": _("bounds"),
            "range": {"low": low, "high": high, "figure": None},
            "note": _(
                "{n_run} of {n_departures} were seen to run, {n_not_run} are known not to have run",
                n_run=number(trips["n_run"]), n_departures=number(trips["n_departures"]),
                n_not_run=number(trips["n_not_run"]),
            ),
        }  # fmt: skip
    waits = report.one("network_waits")
    if waits:
        note = (
            _(
                "beyond the {wait} of the timetable, on frequent lines",
                wait=written(waits["scheduled_wait"], "seconds"),
            )
            if waits["excess_wait"] is not None
            else report.reason(waits)
        )
        yield _tile(_("Excess wait"), waits, "excess_wait", "seconds") | {"note": note}


def _tile(title: str, row: Row, name: str, kind: Kind) -> dict[str, Any]:
    value, low, high = row[name], row[f"{name}_low"], row[f"{name}_high"]
    text = with_ends(value, low, high, kind, "interval")
    figure, _bracket, ends = text.partition(" (")
    is_drawn = kind == "share" and None not in {value, low, high}
    return {
        "name": title,
        "value": figure,
        "ends": f"({ends}" if ends else "",
        "range": {"low": low, "high": high, "figure": value} if is_drawn else None,
    }


def _by_date(report: Report) -> Figure:
    answer = report.ask("network_by_date")
    rows = report.every_date(answer.rows)
    told = [row for row in rows if row["on_time"] is not None]
    reading = _dates_reading(told, len(rows))
    return Figure(
        "on-time-by-date",
        _("On time, date by date"),
        reading,
        _DATE_COLUMNS,
        rows,
        answer.sql,
        "on-time",
        on_time_citation(report, report.one("network"), _("All lines")),
        charts.share_by_date(rows, "on_time", reading) if len(rows) > 1 else None,
    )


def _dates_reading(told: Sequence[Row], n_dates: int) -> str:
    if not told:
        return _("Of no date enough is known.")
    low, high = min(told, key=lambda row: row["on_time"]), max(told, key=lambda row: row["on_time"])
    unseen = n_dates - len(told)
    missing = (
        _n(
            " Of {n} date too little is known (hatched).",
            " Of {n} dates too little is known (hatched).",
            unseen,
        )
        if unseen
        else ""
    )
    if len(told) == 1:
        text = _(
            "{day}: {share}.",
            day=written(low["service_date"], "date"),
            share=share_with_interval(low, "on_time"),
        )
        return f"{text}{missing}"
    values = {
        "least": share_with_interval(low, "on_time"),
        "worst_day": written(low["service_date"], "date"),
        "most": share_with_interval(high, "on_time"),
        "best_day": written(high["service_date"], "date"),
    }
    if high["on_time_low"] > low["on_time_high"]:
        text = _("From {least} on {worst_day} to {most} on {best_day}; these differ.", **values)
    else:
        text = _(
            "From {least} on {worst_day} to {most} on {best_day}; the intervals meet, so these may not "
            "differ.",
            **values,
        )
    return f"{text}{missing}"


def _changed_lines(report: Report) -> Figure:
    return replace(changed_lines(report, report.period.before, most=_MOST), most_rows=_MOST)


def _costly(report: Report) -> Figure:
    rows = disruption_rows(report)
    reading = (
        _n(
            "{n} disruption held {when}.",
            "{n} disruptions held {when}.",
            len(rows),
            when=report.period.when,
        )
        + " "
        + _(
            "Those that lasted longest come first, summed over lines: the time within the period, times the "
            "number of lines named. Disruptions of one line at the same time are both counted."
        )
        if rows
        else none_named(report)
    )
    return Figure(
        "costly-disruptions", _("Disruptions that cost most"), reading, _DISRUPTION_COLUMNS, rows,
        report.ask("disruptions").sql, "disruptions", most_rows=_MOST,
    )  # fmt: skip


def _notices(report: Report, row: Row) -> Iterator[str]:
    told = report.one("rehearsed")
    if told["n_rehearsed"]:
        yield _("These are rehearsed data: the answers came from an emulated network, not from real buses.")
    elif told["silent_seconds"] > _SILENCE and report.is_newest:
        yield _(
            "Nobody collects: the last answer came on {moment} UTC, and none in the {n_hours} hours before "
            "the data were published.",
            moment=written(told["last_answer_at"], "time"),
            n_hours=number(told["silent_seconds"] // 3600),
        )
    dates = {each["service_date"] for each in report.ask("dates").rows}
    missing = [day_and_month(day) for day in report.period.days if day not in dates]
    if missing:
        yield _n(
            "Nothing was collected on {n} date: {days}.",
            "Nothing was collected on {n} dates: {days}.",
            len(missing),
            days=listed(missing),
        )
    if not report.period.is_whole:
        yield _("The period {name} is not over; only dates that are over count.", name=report.period.name)
    if row and (row["unseen_share"] or 0) > 0:
        yield _(
            "{share} of the passages due are of buses that nobody saw. They are estimated from other buses, "
            "and the intervals allow for that.",
            share=written(row["unseen_share"], "share"),
        )
    lines = line_rows(report, "")
    unknown = [line for line in lines if line["on_time"] is None]
    if unknown:
        yield _(
            "Too little is known of {n_unknown} of {n_lines} lines and directions to give a share.",
            n_unknown=number(len(unknown)), n_lines=number(len(lines)),
        )  # fmt: skip
    yield from _audit_notices(report)
    findings = report.ask("findings").rows
    if findings:
        yield _n(
            "Checks of the data found {n} thing: see the page Data.",
            "Checks of the data found {n} things: see the page Data.",
            len(findings),
        )


def _audit_notices(report: Report) -> Iterator[str]:
    off = [
        row
        for row in report.ask("audit").rows
        if row["error_low"] is not None and (row["error_low"] > 0 or row["error_high"] < 0)
    ]
    if off:
        yield _(
            "Random polls found the estimates of unobserved passages off by more than chance explains on "
            "these dates: {days}. See the page Data.",
            days=listed([day_and_month(row["service_date"]) for row in off]),
        )

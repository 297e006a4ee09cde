"""The first page: how punctual, how sure, what changed, what went wrong, what one must know of the data."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from transit_reports import charts
from transit_reports.disruptions import disruption_rows
from transit_reports.figures import FEWEST_UNITS, Column, Figure, precision_label, with_ends, written
from transit_reports.lines import line_rows
from transit_reports.page import Page
from transit_reports.periods import ReportPeriod
from transit_reports.queries import Row
from transit_reports.report import Report
from transit_reports.words import (
    change_text,
    count_of,
    difference,
    is_told_apart,
    known_text,
    listed,
    on_time_citation,
    reason_text,
    share_with_interval,
)

_MOST = 5
_DATE_COLUMNS = [
    Column("service_date", "Date", "date"),
    Column("on_time", "On time", "share", "interval"),
    Column("early", "Early", "share", "interval"),
    Column("late", "Late", "share", "interval"),
    Column("mean_delay", "Mean delay", "seconds", "interval"),
    Column("n_due", "Passages due", "count"),
    Column("observed_share", "Observed", "share"),
]
_CHANGE_COLUMNS = [
    Column("line", "Line", link="line_page"),
    Column("towards", "Towards"),
    Column("then", "On time before", "share", "interval"),
    Column("now", "On time now", "share", "interval"),
    Column("change", "Difference", "difference", "interval"),
]
_DISRUPTION_COLUMNS = [
    Column("line_names", "Lines"),
    Column("event", "What"),
    Column("cause", "Cause given"),
    Column("begun", "From", "time"),
    Column("ended", "To", "time"),
    Column("line_minutes", "Minutes of lines", "minutes", "hard"),
]


def headline(report: Report, reasons: dict[str, str]) -> str:
    """Return the sentence that answers how punctual the service was."""
    row = report.one("network")
    if row.get("on_time") is None:
        return (
            f"It is not known how punctual the service was {report.period.when}: {reason_text(row, reasons)}."
        )
    share = share_with_interval(row, "on_time")
    return f"{share} of bus passages were on time {report.period.when}{_known_dates(report.period, row)}."


def _known_dates(period: ReportPeriod, row: Row) -> str:
    """Say of how many dates of a period anything is known; nothing if it is of all."""
    n_dates = period.dates.n_dates
    return "" if row["n_dates"] == n_dates else f" (of {n_dates} dates {row['n_dates']} are known)"


def overview_page(report: Report, reasons: dict[str, str]) -> Page:
    """Return the first page."""
    row, before = report.one("network"), report.period.before
    then = report.one("network", before)
    by_date = _by_date(report, reasons)
    changed = _changed_lines(report)
    costly = _costly(report)
    change = difference(row, then, "on_time") if row else None
    return Page(
        "index.html",
        "overview.html",
        "Punctuality",
        {
            "answer": headline(report, reasons),
            "citation": on_time_citation(report, row, "all lines", reasons),
            "change": change_text(change, f"{before.title}{_known_dates(before, then)}") if then else "",
            "known": known_text(row) if row else "",
            "tiles": [*_tiles(report, row, reasons)],
            "by_date": by_date,
            "changed": changed,
            "costly": costly,
            "notices": [*_notices(report, row)],
        },
        [by_date, changed, costly],
    )


def _tiles(report: Report, row: Row, reasons: dict[str, str]) -> Iterator[dict[str, str]]:
    if row:
        label = precision_label(row)
        for name, title in (("on_time", "On time"), ("early", "Early"), ("late", "Late")):
            yield _tile(title, row, name, "share") | {"label": label}
        yield _tile("Mean delay", row, "mean_delay", "seconds")
    trips = report.one("delivered_network")
    if trips.get("n_departures"):
        ends = with_ends(None, trips["delivered_low"], trips["delivered_high"], "share", "hard")
        yield {
            "name": "Departures that ran",
            "value": ends,
            "ends": "hard bounds",
            "note": f"{trips['n_run']:,} of {trips['n_departures']:,} were seen to run, "
            f"{trips['n_not_run']:,} surely did not",
        }
    waits = report.one("network_waits")
    if waits:
        note = (
            f"beyond the {written(waits['scheduled_wait'], 'seconds')} of the timetable, on frequent lines"
            if waits["excess_wait"] is not None
            else reasons.get(waits["null_reason"], "")
        )
        yield _tile("Excess wait", waits, "excess_wait", "seconds") | {"note": note}


def _tile(title: str, row: Row, name: str, kind: Any) -> dict[str, str]:  # noqa: ANN401 - a kind of column
    text = with_ends(row[name], row[f"{name}_low"], row[f"{name}_high"], kind, "interval")
    value, _, ends = text.partition(" (")
    return {"name": title, "value": value, "ends": f"({ends}" if ends else ""}


def _by_date(report: Report, reasons: dict[str, str]) -> Figure:
    answer = report.ask("network_by_date")
    known = {row["service_date"]: row for row in answer.rows}
    empty = dict.fromkeys(["on_time", "early", "late", "mean_delay", "n_due", "observed_share"])
    dates = report.period.dates
    rows = [
        known.get(day, empty | {"service_date": day})
        for day in (dates.first + timedelta(days=number) for number in range(dates.n_dates))
    ]
    told = [row for row in rows if row["on_time"] is not None]
    reading = _dates_reading(told, len(rows))
    return Figure(
        "on-time-by-date",
        "On time, date by date",
        reading,
        _DATE_COLUMNS,
        rows,
        answer.sql,
        "on-time",
        on_time_citation(report, report.one("network"), "all lines", reasons),
        charts.share_by_date(rows, "on_time", reading) if len(rows) > 1 else None,
    )


def _dates_reading(told: Sequence[Row], n_dates: int) -> str:
    if not told:
        return "Of no date enough is known."
    low, high = min(told, key=lambda row: row["on_time"]), max(told, key=lambda row: row["on_time"])
    unseen = n_dates - len(told)
    missing = f" Of {count_of(unseen, 'date')} too little is known (hatched)." if unseen else ""
    if len(told) == 1:
        return f"On {written(low['service_date'], 'date')} {share_with_interval(low, 'on_time')}.{missing}"
    apart = high["on_time_low"] > low["on_time_high"]
    return (
        f"From {share_with_interval(low, 'on_time')} on {written(low['service_date'], 'date')} to "
        f"{share_with_interval(high, 'on_time')} on {written(high['service_date'], 'date')}; "
        f"{'these differ' if apart else 'the intervals meet, so these may not differ'}.{missing}"
    )


def _changed_lines(report: Report) -> Figure:
    before = report.period.before
    then = {(row["line_code"], row["direction"]): row for row in report.ask("lines", before).rows}
    pairs = [
        (row, then[key])
        for row in line_rows(report, "")
        if (key := (row["line_code"], row["direction"])) in then
        and None not in {row["on_time"], then[key]["on_time"]}
        and min(row["n_due"], then[key]["n_due"]) >= FEWEST_UNITS
    ]
    rows = []
    for now, earlier in pairs:
        change = difference(now, earlier, "on_time", len(pairs))
        if change is not None and is_told_apart(change):
            rows.append(now | change | _two(now, "now") | _two(earlier, "then"))
    rows.sort(key=lambda row: -max(row["change_low"], -row["change_high"]))
    if not pairs:
        reading = f"No line can be compared: too little is known of {before.title}."
    elif not rows:
        reading = (
            f"None of {count_of(len(pairs), 'line and direction', 'lines and directions')} surely changed "
            f"against {before.title}. A list would be one of chance."
        )
    else:
        reading = (
            f"{len(rows)} of {len(pairs)} lines and directions changed against {before.title} by more than "
            f"chance explains; {'the five with the largest sure change' if len(rows) > _MOST else 'these'}. "
            "The intervals are so wide that all of them together hold with a probability of 95 %."
        )
    return Figure(
        "lines-that-changed", "Lines that changed most", reading, _CHANGE_COLUMNS, rows,
        report.ask("lines", before).sql, "difference", most_rows=_MOST,
    )  # fmt: skip


def _two(row: Row, name: str) -> dict[str, Any]:
    return {name: row["on_time"], f"{name}_low": row["on_time_low"], f"{name}_high": row["on_time_high"]}


def _costly(report: Report) -> Figure:
    rows = disruption_rows(report)
    reading = (
        f"{count_of(len(rows), 'disruption')} held {report.period.when}; these took most "
        "minutes of lines: its duration within the period times the lines that it names. Disruptions of one "
        "line at the same time are both counted."
        if rows
        else f"The service status named no disruption {report.period.when}."
    )
    return Figure(
        "costly-disruptions", "Disruptions that cost most", reading, _DISRUPTION_COLUMNS, rows,
        report.ask("disruptions").sql, "disruptions", most_rows=_MOST,
    )  # fmt: skip


def _notices(report: Report, row: Row) -> Iterator[str]:
    told = report.one("rehearsed")
    if told.get("n_rehearsed"):
        yield ("These are rehearsed data: the answers came from an emulated network, not from real buses.")
    dates = {each["service_date"] for each in report.ask("dates").rows}
    period = report.period.dates
    every = [period.first + timedelta(days=number) for number in range(period.n_dates)]
    missing = [f"{day:%d %B}" for day in every if day not in dates]
    if missing:
        yield f"Nothing was collected on {count_of(len(missing), 'date')}: {listed(missing)}."
    if not report.period.is_whole:
        yield f"The period {report.period.name} is not over; only dates that are over count."
    if row and (row["unseen_share"] or 0) > 0:
        yield (
            f"{100 * row['unseen_share']:.0f} % of the passages due are of buses that nobody saw. They are "
            "estimated from other buses, and the intervals allow for that."
        )
    unknown = [line for line in report.ask("lines").rows if line["on_time"] is None]
    if unknown:
        n_lines = len(report.ask("lines").rows)
        yield f"Of {len(unknown)} of {n_lines} lines and directions too little is known to give a share."
    yield from _audit_notices(report)
    findings = report.ask("findings").rows
    if findings:
        yield f"Checks of the data found {count_of(len(findings), 'thing')}: see the page Data."


def _audit_notices(report: Report) -> Iterator[str]:
    off = [
        row
        for row in report.ask("audit").rows
        if row["error_low"] is not None and (row["error_low"] > 0 or row["error_high"] < 0)
    ]
    if off:
        dates = listed([f"{row['service_date']:%d %B}" for row in off])
        yield (
            "Random polls found the estimates of unobserved passages off by more than chance explains on "
            f"{dates}: see the page Data."
        )

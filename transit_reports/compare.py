"""Pages that compare: two periods, or two lines in one; each difference has an interval of its own."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from transit_reports import charts
from transit_reports.figures import FEWEST_UNITS, Column, Figure, Kind
from transit_reports.language import N_, _, _n, number
from transit_reports.lines import line_rows
from transit_reports.page import Page
from transit_reports.periods import ReportPeriod
from transit_reports.queries import Row
from transit_reports.report import Report, folder_name
from transit_reports.words import NO_CHANGE, change_text, difference, figure_as, is_told_apart, listed

_MOST_BARS = 25
_BOTH = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("then", N_("On time before"), "share", "interval"),
    Column("now", N_("On time now"), "share", "interval"),
    Column("change", N_("Difference"), "difference", "interval"),
]
_STOPS = [Column("stop", N_("Stop"), link="stop_page"), *_BOTH[2:]]
_PAIRS = [
    Column("first", N_("First")),
    Column("second", N_("Second")),
    Column("then", N_("On time, first"), "share", "interval"),
    Column("now", N_("On time, second"), "share", "interval"),
    Column("change", N_("Second minus first"), "difference", "interval"),
]


def compare_page(report: Report, before: ReportPeriod, others: Sequence[tuple[str, str]] = ()) -> Page:
    """Return the page that compares the report's period with another.

    others: titles and addresses, from the report's folder, of pages with other comparisons.
    """
    is_usual = before.name == report.period.before.name
    address = "compare/index.html" if is_usual else f"compare/{folder_name(before.name)}/index.html"
    root = "../" * address.count("/")
    row, then = report.one("network"), report.one("network", before)
    change = difference(row, then, "on_time")
    changed = changed_lines(report, before, root)
    figures = [
        _shares(report, before),
        _times(report, before),
        _delivered(report, before),
        changed,
        _every_line(report, before, root),
        _changed_stops(report, before, root),
    ]
    values = {
        "answer": change_text(change, before.title),
        "figures": figures,
        "others": others if is_usual else [],
        "intro": _("{now}, compared with {before}.", now=report.period.title, before=before.title),
    }
    return Page(address, "compare.html", _("Compared with {before}", before=before.title), values, figures)


def lines_compared_page(report: Report, codes: Sequence[str]) -> Page:
    """Return the page that compares lines with each other, each direction with each."""
    names = [report.line_name(code, "outbound") for code in codes]
    rows = [
        row for code in codes for row in report.of("lines", line_code=code).rows if row["on_time"] is not None
    ]
    left_out = [
        _directed(report, row)
        for code in codes
        for row in report.of("lines", line_code=code).rows
        if row["on_time"] is None
    ]
    pairs = [
        (earlier, later)
        for earlier, later in combinations(rows, 2)
        if earlier["line_code"] != later["line_code"]
    ]
    found = []
    for earlier, later in pairs:
        change = difference(later, earlier, "on_time", len(pairs))
        if change:
            told = {"first": _directed(report, earlier), "second": _directed(report, later)}
            found.append(told | change | figure_as(later, "now") | figure_as(earlier, "then"))
    apart = sum(map(is_told_apart, found))
    reading = (
        _n(
            "Of {n} pair of directions {n_apart} surely differ: their interval leaves 0 out. The intervals "
            "are so wide that all of them together hold with a probability of 95 %.",
            "Of {n} pairs of directions {n_apart} surely differ: their intervals leave 0 out. The intervals "
            "are so wide that all of them together hold with a probability of 95 %.",
            len(found),
            n_apart=number(apart),
        )
        if found
        else _("Too little is known of these lines to compare them.")
    )
    if found and left_out:
        reading += " " + _("Not compared, because too little is known: {names}.", names=listed(left_out))
    title = _("Lines {names}", names=", ".join(names))
    figure = Figure("pairs", title, reading, _PAIRS, found, report.ask("lines").sql, "difference")
    address = f"compare/lines_{'_'.join(map(folder_name, codes))}/index.html"
    values = {"answer": reading, "figures": [figure], "others": [], "intro": report.period.title}
    return Page(address, "compare.html", title, values, [figure])


def changed_lines(report: Report, before: ReportPeriod, root: str = "", most: int = _MOST_BARS) -> Figure:
    """Return the lines of which the on-time share surely changed, those that surely changed most first.

    The intervals hold for all lines together with a probability of 95 %. The chart has at most `most` lines.
    """
    pairs = _line_pairs(report, before, root)
    rows = _told_apart(pairs)
    if not pairs:
        reading = _nothing_compared(report, before)
    elif not rows:
        reading = _n(
            "The one line and direction that can be compared did not surely change against {before}.",
            "None of {n} lines and directions surely changed against {before}. A list would be one of "
            "chance.",
            len(pairs),
            before=before.title,
        )
    else:
        reading = _(
            "{n_rows} of {n_pairs} lines and directions changed against {before} by more than chance "
            "explains; the largest sure change first. The intervals are so wide that all of them together "
            "hold with a probability of 95 %.",
            n_rows=number(len(rows)), n_pairs=number(len(pairs)), before=before.title,
        )  # fmt: skip
    reading += _lines_not_compared(report, pairs)
    drawn = [{**row, "label": f"{row['line']} {row['towards']}"} for row in rows[:most]]
    return Figure(
        "lines-that-changed", _("Lines that changed most"), reading, _BOTH, rows,
        _sql(report, "lines", before), "difference",
        drawing=charts.differences(drawn, reading) if len(drawn) > 1 else None,
    )  # fmt: skip


def _every_line(report: Report, before: ReportPeriod, root: str) -> Figure:
    pairs = _line_pairs(report, before, root)
    rows = [
        {**now, **change, **figure_as(now, "now"), **figure_as(then, "then")}
        for now, then, change in _changes(pairs, 1)
    ]
    reading = (
        _(
            "For whoever looks for one line. Each interval holds by itself; about one in twenty leaves 0 out "
            "by chance."
        )
        if rows
        else _nothing_compared(report, before)
    )
    reading += _lines_not_compared(report, pairs)
    return Figure(
        "lines-compared", _("Every line"), reading, _BOTH, rows, _sql(report, "lines", before), "difference"
    )


def _changed_stops(report: Report, before: ReportPeriod, root: str) -> Figure:
    now = report.with_stops(report.ask("stops").rows, root)
    pairs = _pairs(now, report.ask("stops", before).rows, ("stop_code",))
    rows = _told_apart(pairs)
    reading = (
        _n(
            "Of {n} stop that can be compared {n_rows} surely changed.",
            "Of {n} stops that can be compared {n_rows} surely changed.",
            len(pairs),
            n_rows=number(len(rows)),
        )
        if pairs
        else _nothing_compared(report, before)
    )
    if pairs and len(now) > len(pairs):
        n_out = len(now) - len(pairs)
        reading += " " + _n(
            "Of {n} other stop too little is known of one of the two periods.",
            "Of {n} other stops too little is known of one of the two periods.",
            n_out,
        )
    return Figure(
        "stops-that-changed", _("Stops that changed most"), reading, _STOPS, rows,
        _sql(report, "stops", before), "difference", most_rows=100,
    )  # fmt: skip


def _shares(report: Report, before: ReportPeriod) -> Figure:
    names = [("on_time", _("On time")), ("early", _("Early")), ("late", _("Late"))]
    row, then = report.one("network"), report.one("network", before)
    rows = [_compared(title, row, then, name) for name, title in names]
    return _network(report, before, "shares", _("Shares of all passages"), rows, "share", "on-time")


def _times(report: Report, before: ReportPeriod) -> Figure:
    rows = [
        _compared(_("Mean delay"), report.one("network"), report.one("network", before), "mean_delay"),
        _compared(
            _("Excess wait"), report.one("network_waits"), report.one("network_waits", before), "excess_wait"
        ),
    ]
    return _network(report, before, "times", _("Delay and waits of all lines"), rows, "seconds", "waits")


def _network(  # noqa: PLR0917 - in the order in which a figure is read
    report: Report,
    before: ReportPeriod,
    name: str,
    title: str,
    rows: Sequence[Row],
    kind: Kind,
    definition: str,
) -> Figure:
    columns = [
        Column("what", N_("Figure")),
        Column("then", N_("Before"), kind, "interval"),
        Column("now", N_("Now"), kind, "interval"),
        Column("change", N_("Difference"), "difference" if kind == "share" else kind, "interval"),
    ]
    known = [row for row in rows if row["change"] is not None]
    told = {
        _("Changed for certain: {names}."): [row for row in known if is_told_apart(row)],
        _("No certain change: {names}."): [row for row in known if not is_told_apart(row)],
        _("Not known of both periods: {names}."): [row for row in rows if row["change"] is None],
    }
    reading = " ".join(
        text.format(names=", ".join(row["what"] for row in group)) for text, group in told.items() if group
    )
    return Figure(name, title, reading, columns, rows, _sql(report, "network", before), definition)


def _compared(title: str, row: Row, then: Row, name: str) -> dict[str, Any]:
    change = difference(row, then, name) or NO_CHANGE
    return {"what": title} | figure_as(row, "now", name) | figure_as(then, "then", name) | change


def _delivered(report: Report, before: ReportPeriod) -> Figure:
    row, then = report.one("delivered_network"), report.one("delivered_network", before)
    columns = [
        Column("then", N_("Before"), "share", "bounds"),
        Column("now", N_("Now"), "share", "bounds"),
        Column("n_not_run_then", N_("Surely did not run, before"), "count"),
        Column("n_not_run", N_("Surely did not run, now"), "count"),
    ]
    told = figure_as(then, "then", "delivered") | figure_as(row, "now", "delivered")
    told |= {"n_not_run_then": then.get("n_not_run"), "n_not_run": row.get("n_not_run")}
    is_known = None not in {told["then_low"], told["now_low"]}
    if not is_known:
        reading = _nothing_compared(report, before)
    elif told["now_low"] > told["then_high"] or told["now_high"] < told["then_low"]:
        reading = _("More or fewer departures ran than before, whatever happened to those that nobody saw.")
    else:
        reading = _("The bounds meet: whether more or fewer departures ran is not known.")
    return Figure(
        "delivered", _("Departures that ran"), reading, columns, [told] if is_known else [],
        _sql(report, "delivered_network", before), "delivered",
    )  # fmt: skip


def _nothing_compared(report: Report, before: ReportPeriod) -> str:
    return _(
        "Nothing can be compared: too little is known of {before} or of {now}.",
        before=before.title, now=report.period.title,
    )  # fmt: skip


def _lines_not_compared(report: Report, pairs: Sequence[tuple[Row, Row]]) -> str:
    """Say how many lines and directions of the period a comparison leaves out, after a list of the others."""
    n_left_out = len(line_rows(report, "")) - len(pairs)
    if not pairs or not n_left_out:
        return ""
    return " " + _n(
        "Of {n} other line and direction too little is known of one of the two periods.",
        "Of {n} other lines and directions too little is known of one of the two periods.",
        n_left_out,
    )


def _directed(report: Report, row: Row) -> str:
    key = (row["line_code"], row["direction"])
    return _("{line} towards {towards}", line=report.line_name(*key), towards=report.towards(*key))


def _line_pairs(report: Report, before: ReportPeriod, root: str) -> list[tuple[Row, Row]]:
    return _pairs(line_rows(report, root), report.ask("lines", before).rows, ("line_code", "direction"))


def _pairs(now: Sequence[Row], then: Sequence[Row], keys: Sequence[str]) -> list[tuple[Row, Row]]:
    """Return the rows of both periods with the same key, where enough is known of both."""
    earlier = {tuple(row[key] for key in keys): row for row in then}
    return [
        (row, other)
        for row in now
        if (other := earlier.get(tuple(row[key] for key in keys))) is not None
        and None not in {row["on_time"], other["on_time"]}
        and min(row["n_due"], other["n_due"]) >= FEWEST_UNITS
    ]


def _changes(pairs: Sequence[tuple[Row, Row]], n_compared: int) -> list[tuple[Row, Row, dict[str, Any]]]:
    found = ((now, then, difference(now, then, "on_time", n_compared)) for now, then in pairs)
    return [(now, then, change) for now, then, change in found if change is not None]


def _told_apart(pairs: Sequence[tuple[Row, Row]]) -> list[dict[str, Any]]:
    rows = [
        {**now, **change, **figure_as(now, "now"), **figure_as(then, "then")}
        for now, then, change in _changes(pairs, len(pairs))
        if is_told_apart(change)
    ]
    return sorted(rows, key=lambda row: -max(row["change_low"], -row["change_high"]))


def _sql(report: Report, name: str, before: ReportPeriod) -> str:
    """Return one query that gives the rows of both periods."""
    now, then = report.ask(name).sql, report.ask(name, before).sql
    return f"select 'now' as period, * from (\n{now}\n)\nunion all\nselect 'before', * from (\n{then}\n)"

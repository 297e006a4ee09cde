"""The page of all lines: ordered from the worst, as far as the intervals tell them apart."""

from collections.abc import Sequence
from typing import Any

from transit_reports.figures import FEWEST_UNITS, Column, Figure, ranked
from transit_reports.language import N_, _, _n
from transit_reports.page import Page
from transit_reports.queries import Answer, Row
from transit_reports.report import Report

_COLUMNS = [
    Column("place", N_("Place")),
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("delivered", N_("Departures that ran"), "share", "bounds"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
CHANGE_COLUMNS = [  # of a timetable
    Column("towards", N_("Towards")),
    Column("service_date", N_("Date of service"), "date"),
    Column("changed", N_("Seen"), "time"),
    Column("n_added", N_("Departures added"), "count"),
    Column("n_removed", N_("Withdrawn"), "count"),
    Column("n_moved", N_("Moved"), "count"),
    Column("n_after_the_fact", N_("After their time"), "count"),
    Column("n_under_24_h", N_("Less than 24 hours before"), "count"),
    Column("n_under_7_days", N_("1 to 7 days before"), "count"),
    Column("n_longer", N_("At least 7 days before"), "count"),
    Column("n_notice_unknown", N_("Notice unknown"), "count"),
    Column("n_edited", N_("Sign or service edited"), "count"),
]
_NOT_RANKED = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("n_departures", N_("Departures"), "count"),
    Column("n_due", N_("Passages due"), "count"),
    Column("reason", N_("Why it has no place")),
]


def line_rows(report: Report, root: str) -> list[dict[str, Any]]:
    """Return the punctuality of each line and direction, with its departures and names.

    Also of those of which nothing was observed; they have no page.
    """
    delivered = {(row["line_code"], row["direction"]): row for row in report.ask("delivered").rows}
    nothing = dict.fromkeys(["n_departures", "n_run", "n_not_run", "delivered_low", "delivered_high"])
    rows = [
        nothing | dict(delivered.pop((row["line_code"], row["direction"]), {})) | row | {"delivered": None}
        for row in report.named(report.ask("lines"), root)
    ]
    unseen = Answer("", [row for row in delivered.values() if row["n_departures"]])
    return rows + [_UNSEEN | row for row in report.named(unseen, root)]


_UNSEEN = dict.fromkeys(
    f"{name}{end}" for name in ("on_time", "mean_delay", "delivered") for end in ("", "_low", "_high")
) | {"n_due": None, "observed_share": 0, "null_reason": "nothing observed"}


def ranked_rows(
    report: Report,
    rows: Sequence[Row],
    name: str = "on_time",
    n_units: str = "n_due",
    *,
    worst_is_low: bool = True,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the rows that can be ranked, from the worst, with their place; and all others, with the reason.

    n_units: the column with the number of passages or headways that a row is of.
    """
    able, others = [], []
    for row in rows:
        if row[name] is None:
            others.append({**row, "reason": report.reason(row)})
        elif row[n_units] < FEWEST_UNITS:
            others.append({**row, "reason": _("at least {n} are needed", n=FEWEST_UNITS)})
        else:
            able.append(row)
    places = [{**each.row, "place": each.text} for each in ranked(able, name, worst_is_low=worst_is_low)]
    return places, others


def none_changed(answered: Sequence[Row]) -> str:
    """Say that no timetable changed after its first answer, or that it is not known whether one did.

    answered: rows of `timetable_answers`.
    """
    n_again = sum(row["n_again"] for row in answered)
    if not n_again:
        return _("Whether a timetable changed after its first answer is not known: none was answered again.")
    return _n(
        "Of {n} timetable of a line and date that was answered again, none had changed.",
        "Of {n} timetables of a line and date that were answered again, none had changed.",
        n_again,
    )


def lines_page(report: Report) -> Page:
    """Return the page of all lines."""
    rows = line_rows(report, "../")
    places, others = ranked_rows(report, rows)
    answer = report.ask("lines")
    table = Figure(
        "lines",
        _("Lines by the share of passages that were on time"),
        _reading(places),
        _COLUMNS,
        places,
        answer.sql,
        "on-time",
    )
    left_out = Figure(
        "lines-without-a-place",
        _("Lines without a place"),
        _n(
            "{n} line and direction has no place: too little is known of it. It may be worse than all that "
            "have one.",
            "{n} lines and directions have no place: too little is known of them. Each may be worse than all "
            "that have one.",
            len(others),
        )
        if others
        else _("Every line and direction has a place."),
        _NOT_RANKED,
        others,
        f"{answer.sql};\n\n{report.ask('delivered').sql}",
        "not-known",
    )
    by_name = sorted({(row["line"], row["line_page"]) for row in rows if row["line_page"]}, key=_natural)
    return Page(
        "lines/index.html",
        "lines.html",
        _("Lines"),
        {"table": table, "left_out": left_out, "by_name": by_name},
        [table, left_out],
    )


def _reading(places: Sequence[Row]) -> str:
    if not places:
        return _("Too little is known of every line to compare them.")
    surely_worst = [
        _("{line} towards {towards}", line=row["line"], towards=row["towards"])
        for row in places
        if row["place"] == "1"
    ]
    first = (
        _("Of the lines that have a place, the worst for certain is line {line}.", line=surely_worst[0])
        if surely_worst
        else _n(
            "Which line is the worst cannot be told: {n} line and direction has an interval that leaves the "
            "first place open.",
            "Which line is the worst cannot be told: {n} lines and directions have intervals that leave the "
            "first place open.",
            _n_tied(places),
        )
    )
    return f"{first} " + _(
        "The list goes by the better end of the interval, so that a line stands high only when it was surely "
        "bad. Places such as 3–17 are ties: nothing tells these lines apart."
    )


def _n_tied(places: Sequence[Row]) -> int:
    return sum(row["place"].partition("–")[0] == "1" for row in places)


def _natural(named: tuple[str, str]) -> tuple[int, str]:
    digits = "".join(character for character in named[0] if character.isdigit())
    return (int(digits or 10**6) if named[0][:1].isdigit() else 10**7, named[0])

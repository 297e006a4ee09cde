"""The pages of what was announced: changes of the timetable, with what came of them, and news."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from transit_exports.periods import Period
from transit_reports.figures import FEWEST_UNITS, Column, Figure
from transit_reports.language import N_, _, _n, number
from transit_reports.lines import CHANGE_COLUMNS, none_changed
from transit_reports.page import Page
from transit_reports.periods import period_within
from transit_reports.queries import Answer, Row
from transit_reports.report import Report
from transit_reports.words import NO_CHANGE, difference, figure_as

_Lines = Mapping[tuple[Any, ...], Answer]  # by code and direction
_LONGEST, _SHORTEST = 28, 3  # dates on each side of a new timetable
_WEEK = 7
_NEW = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("from_date", N_("From"), "date"),
    Column("n_dates", N_("Dates in a row"), "count"),
    Column("n_departures_before", N_("Departures a week before"), "count"),
    Column("n_departures", N_("Departures"), "count"),
    Column("then", N_("On time before"), "share", "interval"),
    Column("now", N_("On time since"), "share", "interval"),
    Column("change", N_("Difference"), "difference", "interval"),
]
_CHANGES = [Column("line", N_("Line"), link="line_page"), *CHANGE_COLUMNS]
_SEASONS = [
    Column("line", N_("Line"), link="line_page"),
    Column("towards", N_("Towards")),
    Column("service_date", N_("Date of service"), "date"),
    Column("compared_date", N_("Compared with"), "date"),
    Column("changed", N_("Seen"), "time"),
    Column("n_promised_before", N_("Departures before"), "count"),
    Column("n_promised", N_("Departures"), "count"),
    Column("n_added", N_("Departures added"), "count"),
    Column("n_removed", N_("Withdrawn"), "count"),
    Column("n_moved", N_("Moved"), "count"),
    Column("n_edited", N_("Sign edited"), "count"),
]
_NEWS = [
    Column("published", N_("Published"), "time"),
    Column("title", N_("Title")),
    Column("content", N_("Text")),
    Column("about", N_("About the disruption")),
    Column("listed_from", N_("First seen"), "time"),
    Column("listed_to", N_("No longer seen"), "time"),
    Column("n_versions", N_("Versions"), "count"),
]


def timetable_page(report: Report) -> Page:
    """Return the page of changes of the timetable, with the punctuality before and after each."""
    figures = [_new_timetables(report), _seasons(report), _changes(report)]
    intro = _(
        "A line has a new timetable from the date on which its departures are other than on the same "
        "weekday a week before. A public holiday looks like one for a single date."
    )
    values = {"figures": figures, "intro": intro}
    return Page("timetable/index.html", "figures.html", _("Changes of the timetable"), values, figures)


def _new_timetables(report: Report) -> Figure:
    answer = report.ask("new_timetables")
    runs = report.named(answer, "../")
    rows = [row for row in runs if row["is_other"]]
    days = {row["from_date"] for row in rows if row["n_dates"] >= _SHORTEST}
    sides = {day: _sides(report, day) for day in days}
    before_and_after = [(row, *_both(row, sides.get(row["from_date"], []))) for row in rows]
    n_compared = sum(
        None not in {then.get("on_time"), now.get("on_time")} for _row, then, now in before_and_after
    )
    told = []
    for row, then, now in before_and_after:
        change = difference(now, then, "on_time", max(n_compared, 1))
        told.append(row | figure_as(then, "then") | figure_as(now, "now") | (change or NO_CHANGE))
    better = sum(row["change_low"] is not None and row["change_low"] > 0 for row in told)
    worse = sum(row["change_high"] is not None and row["change_high"] < 0 for row in told)
    known = {(row["line_code"], row["direction"]) for row in runs if row["is_other"] is not None}
    n_left_out = len({(row["line_code"], row["direction"]) for row in runs} - known)
    if not known:
        reading = _(
            "Whether a line has a new timetable is not known: no departures are known of a date and of the "
            "same weekday a week before."
        )
    elif not told:
        reading = _n(
            "{n} line and direction had no other departures than on the same weekday a week before.",
            "Of {n} lines and directions none had other departures than on the same weekday a week before.",
            len(known),
        )
    else:
        reading = _n(
            "{n} line and direction had a new timetable.",
            "New timetables began {n} times, counted by line and direction.",
            len(told),
        )
        reading += " " + _(
            "Of {n_compared} that can be compared, {better} were surely more punctual since and {worse} "
            "surely less. That the timetable did it is not proven: other things may have changed on the "
            "same date. The intervals hold for all of them together with a probability of 95 %.",
            n_compared=number(n_compared), better=number(better), worse=number(worse),
        )  # fmt: skip
    if known and n_left_out:
        reading += " " + _n(
            "Of {n} other line and direction the departures of the week before are not known.",
            "Of {n} other lines and directions the departures of the week before are not known.",
            n_left_out,
        )
    return Figure(
        "new-timetables", _("New timetables, before and since"), reading, _NEW, told, answer.sql, "timetable"
    )


def _sides(report: Report, day: date) -> list[_Lines]:
    """Return the lines in the dates before a new timetable and since, as many of both; none if they are few.

    Whole weeks where there are any, so that both sides have the same weekdays.
    """
    first, last = report.source.publication.first_date, report.source.publication.last_date
    if first is None or last is None:
        return []
    n_dates = min((day - first).days, (last - day).days + 1, _LONGEST)
    if n_dates < _SHORTEST:
        return []
    n_dates -= n_dates % _WEEK if n_dates >= _WEEK else 0
    sides = (
        Period(day - timedelta(days=n_dates), day - timedelta(days=1)),
        Period(day, day + timedelta(days=n_dates - 1)),
    )
    return [report.ask("lines", period_within(side)).by("line_code", "direction") for side in sides]


def _both(row: Row, sides: Sequence[_Lines]) -> tuple[Row, Row]:
    """Return what is known of the line of a row on both sides; nothing where it is too little."""
    if not sides or row["n_dates"] < _SHORTEST:
        return {}, {}
    then, now = (side.get((row["line_code"], row["direction"])) for side in sides)
    return _enough(then), _enough(now)


def _enough(answer: Answer | None) -> Row:
    return answer.rows[0] if answer and answer.rows[0]["n_due"] >= FEWEST_UNITS else {}


def _seasons(report: Report) -> Figure:
    answer = report.ask("season_changes")
    rows = report.named(answer, "../")
    n_comparable = sum(row["n_comparable"] for row in report.ask("timetable_answers").rows)
    reading = (
        _n(
            "Of {n} line, direction and date the first answer told another timetable than the last date of "
            "the same type of day had.",
            "Of {n} lines, directions and dates the first answer told another timetable than the last date "
            "of the same type of day had.",
            len(rows),
        )
        if rows
        else _n(
            "Of {n} timetable of a line and date that can be compared, none was another than that of the "
            "last date of the same type of day.",
            "Of {n} timetables of a line and date that can be compared, none was another than that of the "
            "last date of the same type of day.",
            n_comparable,
        )
        if n_comparable
        else _(
            "Whether a first answer told a new season is not known: no timetable of an earlier date of the "
            "same type of day was answered before."
        )
    )
    n_left_out = sum(row["n_dates"] for row in report.ask("timetable_answers").rows) - n_comparable
    if n_comparable and n_left_out:
        reading += " " + _n(
            "Of {n} other timetable none of an earlier date is known.",
            "Of {n} other timetables none of an earlier date is known.",
            n_left_out,
        )
    reading += " " + _("A public holiday is told like a season, and so is the working day after it.")
    return Figure(
        "season-changes", _("New seasons, by the first answer"), reading, _SEASONS, rows, answer.sql,
        "timetable", most_rows=200,
    )  # fmt: skip


def _changes(report: Report) -> Figure:
    answer = report.ask("timetable_changes")
    rows = report.named(answer, "../")
    counts = ("n_moved", "n_after_the_fact", "n_under_24_h")
    n_moved, n_late, n_short = (number(sum(row[name] or 0 for row in rows)) for name in counts)
    reading = (
        _n(
            "The timetable of a date was seen to change {n} time after it was first answered.",
            "The timetable of a date was seen to change {n} times after it was first answered.",
            len(rows),
        )
        + " "
        + _(
            "{n_moved} departures moved. Of what was added, withdrawn or moved, {n_short} departures were "
            "changed less than 24 hours before they were due, and {n_late} after it, as far as two answers "
            "tell.",
            n_moved=n_moved,
            n_short=n_short,
            n_late=n_late,
        )
        if rows
        else none_changed(report.ask("timetable_answers").rows)
    )
    return Figure(
        "timetable-changes", _("Changes after the first answer"), reading, _CHANGES, rows, answer.sql,
        "timetable", most_rows=200,
    )  # fmt: skip


def news_page(report: Report) -> Page:
    """Return the page of the news that were listed in the period."""
    answer = report.ask("news")
    reading = (
        _n(
            "{n} item was listed {when}.",
            "{n} items were listed {when}.",
            len(answer.rows),
            when=report.period.when,
        )
        if answer.rows
        else _none_listed(report)
    )
    figure = Figure(
        "news",
        _("News of the operator"),
        reading,
        _NEWS,
        report.told(answer.rows, "title", "content", "about"),
        answer.sql,
        "news",
        most_rows=200,
    )
    intro = _("What the operator told its riders, in its own words and language.")
    values = {"figures": [figure], "intro": intro}
    return Page("news/index.html", "figures.html", _("News"), values, [figure])


def _none_listed(report: Report) -> str:
    n_answers = sum(row["n_good"] for row in report.ask("requests").rows if row["endpoint"] == "news")
    when = report.period.when
    if not n_answers:
        return _("Whether there were news {when} is not known: the list of news was not answered.", when=when)
    return _n(
        "No news were listed {when}; the list was answered {n} time.",
        "No news were listed {when}; the list was answered {n} times.",
        n_answers,
        when=when,
    )

"""The page of a line: both directions, by date, hour and weekday, along the route, and what did not run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transit_reports import charts
from transit_reports.disruptions import disruption_rows, none_named, status_watched
from transit_reports.figures import (
    Column,
    Figure,
    bounds_text,
    heat_class,
    with_ends,
    written,
)
from transit_reports.language import N_, _, _n, clock_hour, number, translated, weekday
from transit_reports.lines import CHANGE_COLUMNS, none_changed
from transit_reports.page import Page
from transit_reports.queries import Answer, Row
from transit_reports.report import LineKey, Report, line_page
from transit_reports.words import change_text, difference, known_text, on_time_citation, share_with_interval

_FEWEST_OF_STOP = 5  # observed passages, for a quarter of them to say anything
_VERY_LATE = 10  # minutes
_EVERY_DAY = N_("all dates")
_PARTS_OF_WEEK = [N_("Monday to Friday"), N_("weekend")]  # as the query names them
_PARTS = [
    Column("part", N_("When")),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("early", N_("Early"), "share", "interval"),
    Column("late", N_("Late"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
_DATES = [
    Column("service_date", N_("Date"), "date"),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("mean_delay", N_("Mean delay"), "seconds", "interval"),
    Column("n_due", N_("Passages due"), "count"),
    Column("observed_share", N_("Observed"), "share"),
]
_HOURS = [
    Column("weekday", N_("Weekday (1 is Monday)"), "count"),
    Column("service_hour", N_("Hour"), "count"),
    Column("on_time", N_("On time"), "share", "interval"),
    Column("n_due", N_("Passages due"), "count"),
]
_ROUTE = [
    Column("stop_sequence", N_("Position"), "count"),
    Column("stop", N_("Stop"), link="stop_page"),
    Column("median_delay", N_("Median delay"), "seconds"),
    Column("quarter_delay", N_("A quarter had less than"), "seconds"),
    Column("three_quarters_delay", N_("A quarter had more than"), "seconds"),
    Column("n_observed", N_("Observed"), "count"),
    Column("n_due", N_("Due"), "count"),
]
_DELAYS = [
    Column("delay_minutes", N_("Minutes late"), "count"),
    Column("n_passages", N_("Passages"), "count"),
]
_WAITS = [
    Column("service_date", N_("Date"), "date"),
    Column("excess_wait", N_("Excess wait"), "seconds", "interval"),
    Column("bunched", N_("Bunched"), "share", "interval"),
    Column("gaps", N_("Gaps"), "share", "interval"),
]
_NOT_RUN = [
    Column("towards", N_("Towards")),
    Column("service_date", N_("Date"), "date"),
    Column("departs_at", N_("Departure"), "time"),
    Column("headsign", N_("Sign")),
]
_COUNTDOWNS = [
    Column("ahead", N_("Minutes ahead")),
    Column("within", N_("Within the band"), "share", "interval"),
    Column("too_early", N_("Bus came too early"), "share"),
    Column("too_late", N_("Bus came too late"), "share"),
    Column("n_judged", N_("Judged"), "count"),
]
_DISRUPTIONS = [
    Column("event", N_("What")),
    Column("cause", N_("Cause given")),
    Column("begun", N_("From"), "time"),
    Column("ended", N_("To"), "time"),
    Column("minutes", N_("Duration"), "minutes", "bounds"),
    Column("message", N_("Message")),
]


def lines_with_pages(report: Report) -> list[str]:
    """Return the codes of the lines that have a page."""
    return sorted({row["line_code"] for row in report.ask("lines").rows if report.is_asked(row["line_code"])})


def line_of(report: Report, code: str) -> Page:
    """Return the page of a line."""
    keys = [(code, row["direction"]) for row in report.of("lines", line_code=code).rows]
    directions = [_Direction(report, key).values() for key in keys]
    common = [*_common(report, code, keys)]
    figures = [figure for values in directions for figure in values["figures"]] + common
    name = report.line_name(*keys[0])
    values = {"name": name, "directions": directions, "common": common}
    return Page(line_page(code), "line.html", _("Line {line}", line=name), values, figures)


class _Direction:
    """What is shown of a direction of a line."""

    def __init__(self, report: Report, key: LineKey) -> None:
        self._report, self._key = report, key
        self._towards = report.towards(*key)
        self._subject = _("Line {line} towards {towards}", line=report.line_name(*key), towards=self._towards)

    def values(self) -> dict[str, Any]:
        """Return all that the template shows."""
        [row] = self._ask("lines").rows
        parts, hours = self._parts(row), self._hours()
        figures = [
            parts,
            self._dates(row),
            hours,
            self._route(),
            self._distribution(),
            self._waits(),
        ]
        return {
            "towards": self._towards,
            "id": self._key[1],
            "answer": self._answer(row),
            "known": known_text(row),
            "against_all": self._against_all(row),
            "trips": self._trips(),
            "figures": figures,
            "parts": parts,
            "hours": hours,
            "heat": _heat(hours.rows),
            "others": [figure for figure in figures if figure not in (parts, hours)],
        }

    def _ask(self, name: str) -> Answer:
        return self._report.of(name, line_code=self._key[0], direction=self._key[1])

    def _figure(  # noqa: PLR0917 - in the order in which a figure is read
        self,
        name: str,
        title: str,
        reading: str,
        columns: Sequence[Column],
        answer: Answer,
        definition: str,
        rows: Sequence[Row] | None = None,
    ) -> Figure:
        return Figure(
            f"{name}-{self._key[1]}",
            _("{title}, towards {towards}", title=title, towards=self._towards),
            reading,
            columns,
            answer.rows if rows is None else rows,
            answer.sql,
            definition,
        )

    def _answer(self, row: Row) -> str:
        if row["on_time"] is None:
            return _("How punctual it was is not known: {reason}.", reason=self._report.reason(row))
        return _(
            "{share} of its passages were on time {when}.",
            share=share_with_interval(row, "on_time"), when=self._report.period.when,
        )  # fmt: skip

    def _against_all(self, row: Row) -> str:
        """Say how the direction differs from all lines together."""
        change = difference(row, self._report.one("network"), "on_time")
        return change_text(change, _("all lines together")) if change else ""

    def _trips(self) -> str:
        rows = self._ask("delivered").rows
        if not rows:
            return _("No departure is known that was in force.")
        trips = rows[0]
        return _n(
            "Of {n} departure {n_run} were seen to run and {n_not_run} are known not to have run: {ends} "
            "ran (bounds).",
            "Of {n} departures {n_run} were seen to run and {n_not_run} are known not to have run: {ends} "
            "ran (bounds).",
            trips["n_departures"],
            n_run=number(trips["n_run"]),
            n_not_run=number(trips["n_not_run"]),
            ends=bounds_text(trips["delivered_low"], trips["delivered_high"], "share"),
        )

    def _parts(self, row: Row) -> Figure:
        answer = self._ask("lines_by_part_of_week")
        rows = [
            {**each, "part": translated(part)}
            for part, each in [(_EVERY_DAY, row), *((each["part"], each) for each in answer.rows)]
        ]
        figure = self._figure(
            "weekdays", _("Weekdays and weekends"), self._answer(row), _PARTS, answer, "on-time", rows
        )
        return replace(figure, citation=on_time_citation(self._report, row, self._subject))

    def _dates(self, row: Row) -> Figure:
        answer = self._ask("lines_by_date")
        rows = self._report.every_date(answer.rows)
        n_told = sum(each["on_time"] is not None for each in rows)
        reading = f"{self._answer(row)} " + _(
            "On {n_told} of {n_dates} dates enough is known for a share of its own.",
            n_told=number(n_told), n_dates=number(len(rows)),
        )  # fmt: skip
        figure = self._figure("dates", _("Date by date"), reading, _DATES, answer, "on-time", rows)
        return replace(
            figure, drawing=charts.share_by_date(rows, "on_time", reading) if len(rows) > 1 else None
        )

    def _hours(self) -> Figure:
        answer = self._ask("lines_by_hour")
        told = [row for row in answer.rows if row["on_time"] is not None]
        reading = _("Of no hour enough is known.")
        if told:
            worst = min(told, key=lambda row: row["on_time_high"])
            reading = _(
                "Of {n_told} of {n_hours} hours of a weekday enough is known. Lowest was the better end of "
                "the interval on {weekday} at {hour}: {share} on time.",
                n_told=number(len(told)), n_hours=number(len(answer.rows)), weekday=weekday(worst["weekday"]),
                hour=clock_hour(worst["service_hour"]), share=share_with_interval(worst, "on_time"),
            )  # fmt: skip
        return self._figure("hours", _("By hour and weekday"), reading, _HOURS, answer, "on-time")

    def _route(self) -> Figure:
        answer = self._ask("route_delays")
        rows = self._report.with_stops(_main_stops(answer.rows), "../../")
        told = [row for row in rows if row["n_observed"] >= _FEWEST_OF_STOP]
        reading = _("At no stop enough passages were observed.")
        if told:
            most = max(told, key=lambda row: row["median_delay"])
            reading = _(
                "Half of the observed passages lie in the band; the median delay is largest at {stop}: "
                "{delay}. These are passages that were observed, not all.",
                stop=most["stop"], delay=written(most["median_delay"], "seconds"),
            )  # fmt: skip
        figure = self._figure("route", _("Delay along the route"), reading, _ROUTE, answer, "observed", rows)
        return replace(figure, drawing=charts.along_a_route(told, reading) if len(told) > 1 else None)

    def _distribution(self) -> Figure:
        answer = self._ask("delay_distribution")
        n_all = sum(row["n_passages"] for row in answer.rows)
        n_late = sum(row["n_passages"] for row in answer.rows if row["delay_minutes"] >= _VERY_LATE)
        reading = _("No passage was observed.")
        if n_all:
            reading = _n(
                "Of {n} observed passage {share} was {minutes} minutes late or more. Those that nobody "
                "observed are not in it.",
                "Of {n} observed passages {share} were {minutes} minutes late or more. Those that nobody "
                "observed are not in it.",
                n_all,
                share=written(n_late / n_all, "share"),
                minutes=_VERY_LATE,
            )
        figure = self._figure("delays", _("How late"), reading, _DELAYS, answer, "observed")
        return replace(figure, drawing=charts.distribution(answer.rows, reading) if n_all else None)

    def _waits(self) -> Figure:
        sums, answer = self._ask("line_waits").rows, self._ask("line_waits_by_date")
        if not sums:
            reading = _(
                "By what is known of its timetable the service is not frequent: riders go by the timetable, "
                "and waits are not judged."
            )
        elif sums[0]["excess_wait"] is None:
            reading = _("Waits are not known: {reason}.", reason=self._report.reason(sums[0]))
        else:
            row = sums[0]
            wait = with_ends(
                row["excess_wait"], row["excess_wait_low"], row["excess_wait_high"], "seconds", "interval"
            )
            reading = _(
                "Where it is frequent, riders waited {wait} longer than by the timetable, on average.",
                wait=wait,
            )
            if row["bunched"] is not None:
                share = share_with_interval(row, "bunched")
                reading += " " + _("{share} of the headways were bunched.", share=share)
        figure = self._figure("waits", _("Headways and waits"), reading, _WAITS, answer, "waits")
        is_drawn = sum(row["bunched"] is not None for row in answer.rows) > 1
        drawing = charts.share_by_date(
            answer.rows, "bunched", _("Bunched headways by date. {reading}", reading=reading)
        )
        return replace(figure, drawing=drawing if is_drawn else None)


def _main_stops(rows: Sequence[Row]) -> list[Row]:
    """Return for each position of a route the stop at which most passages were due."""
    best: dict[int, Row] = {}
    for row in rows:
        kept = best.get(row["stop_sequence"])
        if kept is None or row["n_due"] > kept["n_due"]:
            best[row["stop_sequence"]] = row
    return [best[position] for position in sorted(best)]


def _heat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line of cells for each hour: the class and the text of each weekday."""
    found: dict[int, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(row["service_hour"], {})[row["weekday"]] = row
    return [
        {"hour": clock_hour(hour), "cells": [_heat_cell(days.get(weekday)) for weekday in range(1, 8)]}
        for hour, days in sorted(found.items())
    ]


def _heat_cell(row: Row | None) -> Mapping[str, str]:
    if row is None:
        return {"class": "", "text": ""}
    if row["on_time"] is None:
        return {"class": "unseen", "text": "–"}
    low, high = row["on_time_low"], row["on_time_high"]
    ends = with_ends(row["on_time"], low, high, "share", "interval")
    return {"class": heat_class(row["on_time"]), "text": ends}


def _common(report: Report, code: str, keys: Sequence[LineKey]) -> Iterator[Figure]:
    not_run = report.of("not_run", line_code=code)
    rows = [
        {**row, "towards": report.towards(code, row["direction"])}
        for row in report.told(not_run.rows, "headsign")
    ]
    yield Figure(
        "not-run", _("Departures that did not run"),
        _n(
            "{n} departure is known not to have run. Others may not have: a bus that nobody saw is not "
            "counted here.",
            "{n} departures are known not to have run. Others may not have: a bus that nobody saw is not "
            "counted here.",
            len(rows),
        ),
        _NOT_RUN, rows, not_run.sql, "delivered", most_rows=100,
    )  # fmt: skip
    yield _countdowns(report, code)
    names = {report.line_name(*key) for key in keys} | {report.line_name(*key).split(" (")[0] for key in keys}
    events = [row for row in disruption_rows(report) if names & set(row["lines"] or ())]
    reading = none_named(report)
    if report.ask("disruptions").rows:
        reading = _n(
            "The service status named the line in {n} disruption.",
            "The service status named the line in {n} disruptions.",
            len(events),
        )
        reading += f" {status_watched(report)}"
    yield Figure(
        "disruptions", _("Its disruptions"), reading,
        _DISRUPTIONS, events, report.ask("disruptions").sql, "disruptions",
    )  # fmt: skip
    changes = report.of("timetable_changes", line_code=code)
    rows = [{**row, "towards": report.towards(code, row["direction"])} for row in changes.rows]
    yield Figure(
        "timetable-changes", _("Changes of its timetable"),
        _n(
            "The timetable was seen to change {n} time after it was first answered.",
            "The timetable was seen to change {n} times after it was first answered.",
            len(rows),
        )
        if rows
        else none_changed(report.of("timetable_answers", line_code=code).rows),
        CHANGE_COLUMNS, rows, changes.sql, "timetable",
    )  # fmt: skip


def _countdowns(report: Report, code: str) -> Figure:
    answer = report.of("countdowns", line_code=code)
    rows = [
        {
            **row,
            "ahead": _(
                "{low} to {high}", low=row["horizon_from_seconds"] // 60, high=row["horizon_to_seconds"] // 60
            ),
        }
        for row in answer.rows
    ]
    told = [row for row in rows if row["within"] is not None]
    reading = (
        _(
            "Of the countdowns {ahead} minutes ahead {share} were within the band that the ruleset allows.",
            ahead=told[-1]["ahead"],
            share=share_with_interval(told[-1], "within"),
        )
        if told
        else _("Too few countdowns can be judged.")
    )
    return Figure(
        "countdowns", _("Countdowns at stops"), reading, _COUNTDOWNS, rows, answer.sql, "countdowns"
    )

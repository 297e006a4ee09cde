"""The page of the data: what was polled, what was refused, and how far the estimates were off."""

from typing import Any

from transit_reports.figures import Column, Figure, with_ends, written
from transit_reports.language import N_, SOURCE, _, _n, clock_hour, number
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report

_COVERAGE = [
    Column("service_date", N_("Date"), "date"),
    Column("service_hour", N_("Hour"), "count"),
    Column("watched_share", N_("Watched"), "share"),
    Column("n_due", N_("Passages due"), "count"),
    Column("n_requests", N_("Requests"), "count"),
    Column("n_good", N_("Good answers"), "count"),
]
_REQUESTS = [
    Column("endpoint", N_("Endpoint")),
    Column("purpose", N_("For")),
    Column("n_requests", N_("Requests"), "count"),
    Column("share", N_("Of all"), "share"),
    Column("n_good", N_("Good answers"), "count"),
    Column("n_not_sent", N_("Not sent"), "count"),
]
_QUALITIES = [
    Column("arrival_quality", N_("What is known of the time")),
    Column("n_due", N_("Passages due"), "count"),
    Column("share", N_("Of all"), "share"),
    Column("on_time", N_("On time (estimated)"), "share"),
]
_VALIDATION = [
    Column("dataset", N_("Dataset")),
    Column("rule", N_("Rule")),
    Column("reason", N_("Why")),
    Column("n_batches", N_("Batches"), "count"),
    Column("n_unexpected", N_("Rows against it"), "count"),
    Column("n_rows", N_("Rows"), "count"),
]
_AUDIT = [
    Column("service_date", N_("Date"), "date"),
    Column("n_audited", N_("Passages polled at random"), "count"),
    Column("expected_share", N_("On time, estimated"), "share"),
    Column("observed_share", N_("On time, observed"), "share"),
    Column("error", N_("Observed minus estimated"), "difference", "interval"),
]
_DRIFT = [
    Column("dataset", N_("Dataset")),
    Column("kind", N_("What")),
    Column("name", N_("Name")),
    Column("first_seen_at", N_("First seen (UTC)"), "time"),
    Column("last_seen_at", N_("Last seen (UTC)"), "time"),
    Column("n", N_("Times"), "count"),
]
_FINDINGS = [
    Column("found_date", N_("Date"), "date"),
    Column("found_in", N_("In")),
    Column("finding", N_("Finding")),
    Column("n_rows", N_("Rows"), "count"),
    Column("began_at", N_("First seen (UTC)"), "time"),
    Column("ended_at", N_("Last seen (UTC)"), "time"),
    Column("n_stops", N_("Stops"), "count"),
    Column("answer_share", N_("Of the answers"), "share"),
    Column("example", N_("Example")),
]
_WORDS = {
    "evidenced": N_("observed, within a minute"),
    "bounded": N_("observed, less exactly"),
    "interpolated": N_("estimated between two stops where the bus was seen"),
    "extrapolated": N_("estimated from another stop where the bus was seen"),
    "expected": N_("nobody saw the bus: estimated from others"),
}


def data_page(report: Report) -> Page:
    """Return the page of the data."""
    coverage = _coverage(report)
    figures = [
        coverage, _qualities(report), _audit(report), _requests(report), _validation(report), _drift(report),
        _findings(report),
    ]  # fmt: skip
    values = {"coverage": coverage, "figures": figures[1:], "heat": _heat(report), "hours": range(24)}
    return Page("data/index.html", "data.html", _("Data"), values, figures)


def _coverage(report: Report) -> Figure:
    answer = report.ask("coverage_by_hour")
    n_due = sum(row["n_due"] for row in answer.rows)
    watched = sum(row["n_due"] * (row["watched_share"] or 0) for row in answer.rows)
    unseen = sum(row["n_due"] > 0 and not row["n_good"] for row in answer.rows)
    reading = (
        _(
            "Of {n_due} passages due {share} were due while their stop was watched: between two good "
            "answers no further apart than the ruleset allows.",
            n_due=number(n_due),
            share=written(watched / n_due, "share"),
        )
        + " "
        + _n(
            "In {n} hour with passages due nothing was answered.",
            "In {n} hours with passages due nothing was answered.",
            unseen,
        )
        if n_due
        else _("No passage is known to have been due.")
    )
    return Figure(
        "coverage",
        _("What was watched, hour by hour"),
        reading,
        _COVERAGE,
        answer.rows,
        answer.sql,
        "coverage",
    )


def _heat(report: Report) -> list[dict[str, Any]]:
    found: dict[Any, dict[int, Row]] = {}
    for row in report.ask("coverage_by_hour").rows:
        found.setdefault(row["service_date"], {})[row["service_hour"]] = row
    hours = sorted({hour for days in found.values() for hour in days}) or [*range(4, 28)]
    lines = [{"date": "", "cells": [{"class": "", "text": clock_hour(hour, "")} for hour in hours]}]
    return lines + [
        {"date": written(day, "date"), "cells": [_heat_cell(found.get(day, {}).get(hour)) for hour in hours]}
        for day in report.period.days
    ]


def _heat_cell(row: Row | None) -> dict[str, str]:
    if row is None or not row["n_due"]:
        return {"class": "", "text": ""}
    if not row["n_good"]:
        return {"class": "unseen", "text": "0"}
    share = row["watched_share"] or 0
    return {"class": f"q{min(int(share * 5), 4)}", "text": f"{100 * share:.0f}"}


def _qualities(report: Report) -> Figure:
    answer = report.ask("qualities")
    total = sum(row["n_due"] for row in answer.rows)
    rows = [
        {
            **row,
            "arrival_quality": _(_WORDS.get(row["arrival_quality"]) or str(row["arrival_quality"])),
            "share": row["n_due"] / total,
        }
        for row in answer.rows
    ]
    reading = (
        _("Of {n} passages due most are {quality}.", n=number(total), quality=rows[0]["arrival_quality"])
        if rows
        else _("No passage is known to have been due.")
    )
    return Figure(
        "known", _("What is known of the passages due"), reading, _QUALITIES, rows, answer.sql, "observed"
    )


def _audit(report: Report) -> Figure:
    answer = report.ask("audit")
    told = [row for row in answer.rows if row["error_low"] is not None]
    n_audited = sum(row["n_audited"] for row in answer.rows)
    reading = _("No passage was polled at random.")
    if n_audited:
        reading = _n(
            "{n} passage was polled at random: too few to compare estimates with.",
            "{n} passages were polled at random: too few to compare estimates with.",
            n_audited,
        )
    if told:
        last = told[-1]
        ends = with_ends(last["error"], last["error_low"], last["error_high"], "difference", "interval")
        reading = _(
            "Part of the allowance polls stops at random, without regard to what is known. The on-time share "
            "that it found on {day}, minus the estimated one: {difference}.",
            day=written(last["service_date"], "date"), difference=ends,
        )  # fmt: skip
    return Figure(
        "audit", _("How far the estimates were off"), reading, _AUDIT, answer.rows, answer.sql, "audit"
    )


def _requests(report: Report) -> Figure:
    answer = report.ask("requests")
    total = sum(row["n_requests"] for row in answer.rows)
    good = sum(row["n_good"] for row in answer.rows)
    rows = [
        {
            **row,
            "share": row["n_requests"] / total,
            "purpose": _("the audit") if row["purpose"] == "audit" else _("data"),
        }
        for row in answer.rows
    ]
    reading = (
        _n(
            "{n} request was made; good answers: {share} %.",
            "{n} requests were made; good answers: {share} %.",
            total,
            share=number(100 * good / total, 1),
        )
        if total
        else _("No request was made.")
    )
    return Figure(
        "requests", _("What the allowance was spent on"), reading, _REQUESTS, rows, answer.sql, "allowance"
    )


def _validation(report: Report) -> Figure:
    answer = report.ask("validation")
    n_requests = sum(row["n_requests"] for row in report.ask("requests").rows)
    reading = (
        _n(
            "{n} rule of a dataset was not met by some batch.",
            "{n} rules of a dataset were not met by some batch.",
            len(answer.rows),
        )
        + " "
        + _("Rows that break a rule about rows are kept in quarantine and count for nothing.")
        if answer.rows
        else _("Every batch met every expectation.")
        if n_requests
        else _("No request was made.")
    )
    return Figure(
        "validation",
        _("What validation refused"),
        reading,
        _VALIDATION,
        report.told(answer.rows, "reason", language=SOURCE),
        answer.sql,
        "validation",
    )


def _drift(report: Report) -> Figure:
    answer = report.ask("drift")
    reading = (
        _n(
            "The interface answered {n} thing that it was not known to answer.",
            "The interface answered {n} things that it was not known to answer.",
            len(answer.rows),
        )
        if answer.rows
        else _("The interface answered nothing that it was not known to answer.")
    )
    return Figure(
        "drift",
        _("Changes of the interface"),
        reading,
        _DRIFT,
        report.told(answer.rows, "kind", language=SOURCE),
        answer.sql,
        "validation",
    )


def _findings(report: Report) -> Figure:
    answer = report.ask("findings")
    reading = (
        _n("Checks of the data found {n} thing.", "Checks of the data found {n} things.", len(answer.rows))
        if answer.rows
        else _("Checks of the data found nothing.")
    )
    return Figure(
        "findings",
        _("Findings of the checks"),
        reading,
        _FINDINGS,
        report.told(answer.rows, "finding", language=SOURCE),
        answer.sql,
        "validation",
    )

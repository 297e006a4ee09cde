"""Writes a report as pages and CSV files, each only if it changed, and the index of all reports."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from lxml import etree

from transit_etl.files import locked, write_text
from transit_exports.scratch import opened_with_scratch
from transit_exports.settings import NO_LICENCE, ExportSettings
from transit_exports.source import Source
from transit_reports.data import data_page
from transit_reports.disruptions import disruptions_page, lifts_page
from transit_reports.line import WEEKDAYS, line_of, lines_with_pages
from transit_reports.lines import lines_page
from transit_reports.overview import headline, overview_page
from transit_reports.page import Page
from transit_reports.periods import ReportError, ReportPeriod, day_text, period_of, standard_periods
from transit_reports.rendering import render
from transit_reports.report import Report
from transit_reports.stop import stop_of, stops_with_pages
from transit_reports.stops import stop_list_page, stops_page

_SCRATCH = "report"
_ABOUT = "report.json"  # in the folder of each report: what the index says of it
_SECTION_OF = {"line": "lines/index.html", "stop": "stops/index.html"}
_SECTIONS = [
    ("Overview", "index.html"),
    ("Lines", "lines/index.html"),
    ("Stops", "stops/index.html"),
    ("Disruptions", "disruptions/index.html"),
    ("Lifts", "lifts/index.html"),
    ("Data", "data/index.html"),
    ("Method", "method/index.html"),
    ("All reports", "../index.html"),
]


@dataclass(slots=True)
class ReportSummary:
    """A report that was written: its first page, the sentence that it answers with, and its pages."""

    page: Path
    answer: str
    n_pages: int = 0
    n_files: int = 0
    n_changed: int = 0


def write_reports(
    settings: ExportSettings,
    folder: Path,
    first: date | None = None,
    last: date | None = None,
    lines: Sequence[str] = (),
) -> list[ReportSummary]:
    """Write the report of a period into a folder of its name, and the index of all reports.

    folder: of all reports; its first page is `index.html`.
    first, last: the period; without both, the last date that is over, its week and its month.
    lines: the lines whose pages are written, by number or code; none for all.

    ReportError refuses a period of which nothing is known, or a line that there is not; NotPublishedError
    before the first publication. Files that did not change are left alone.
    """
    with opened_with_scratch(settings, _SCRATCH) as source, locked(settings.lock(_SCRATCH)):
        is_asked = first is not None or last is not None
        publication = source.publication
        periods = [period_of(publication, first, last)] if is_asked else standard_periods(publication)
        if not periods:
            raise ReportError("the published file has no service date that is over: build and publish later")
        summaries = [_write_report(source, folder, period, lines) for period in periods]
        _write_index(source, folder)
    return summaries


def _write_report(source: Source, folder: Path, period: ReportPeriod, lines: Sequence[str]) -> ReportSummary:
    place = folder / period.name
    there = frozenset(f"{path.relative_to(place)}" for path in place.glob("*/*/index.html"))
    report = Report(source, period, lines, there if lines else frozenset())
    reasons = dict(source.rows("select reason, words from core.null_reasons"))
    asked = lines_with_pages(report)
    if lines and not asked:
        raise ReportError(f"no line is called {' or '.join(lines)} in {period.title}")
    answer = headline(report, reasons)
    summary = ReportSummary(place / "index.html", answer)
    kept = {place / _ABOUT}
    pages = chain(
        [
            overview_page(report, reasons),
            lines_page(report, reasons),
            stops_page(report, reasons),
            stop_list_page(report),
            disruptions_page(report),
            lifts_page(report),
            data_page(report),
            _method_page(report),
        ],
        (line_of(report, code, reasons) for code in asked),
        (stop_of(report, code, reasons) for code in ([] if lines else stops_with_pages(report))),
    )
    for page in pages:
        summary.n_pages += 1
        for path, text in _files_of(page, report, place):
            kept.add(path)
            summary.n_files += 1
            summary.n_changed += _write_changed(path, text)
    about = {
        "title": period.title,
        "answer": answer,
        "first_date": f"{period.dates.first}",
        "last_date": f"{period.dates.last}",
    }
    _write_changed(place / _ABOUT, json.dumps(about, indent=1) + "\n")
    if not lines:
        _remove_others(place, kept)
    return summary


def _files_of(page: Page, report: Report, place: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of a page with its text: the page, and the CSV of each figure beside it."""
    path = place / page.address
    section = _SECTION_OF.get(page.address.split("/")[0], page.address)
    common = {
        "title": f"{page.title}: {report.source.publisher}, {report.period.title}",
        "heading": page.title,
        "publisher": report.source.publisher,
        "period": report.period.title,
        "when": report.period.when,
        "rules": report.rules_text,
        "root": page.root,
        "pages": [(name, address, address == section) for name, address in _SECTIONS],
        "weekdays": WEEKDAYS,
    }
    yield path, render(page.template, common | dict(page.values))
    for figure in page.figures:
        yield path.with_name(f"{figure.name}.csv"), figure.csv()


def _method_page(report: Report) -> Page:
    publication, settings, rules = report.source.publication, report.source.settings, report.rules
    values = {
        "early": rules["early_seconds"],
        "late": rules["late_seconds"],
        "version": rules["ruleset_version"],
        "frequent": rules["frequent_per_hour"],
        "bunched": rules["bunched_ratio"],
        "gap": rules["gap_ratio"],
        "licence": "" if settings.licence == NO_LICENCE else settings.licence,
        "versions": [
            ("Operator", publication.operator),
            ("Published", f"{publication.published_at:%Y-%m-%d %H:%M} UTC"),
            ("Build", publication.build_number),
            ("Program", f"transit-etl {publication.version}"),
            ("Ruleset", rules["ruleset_version"]),
            ("Time zone", publication.timezone),
            ("Last answer", f"{report.one('rehearsed')['last_received_at']} UTC"),
        ],
    }
    return Page("method/index.html", "method.html", "How it is measured", values)


def _write_index(source: Source, folder: Path) -> None:
    """Write the page of all periods and the feed of new reports, from what each report says of itself."""
    found = [
        json.loads(path.read_text("utf-8")) | {"name": path.parent.name}
        for path in folder.glob(f"*/{_ABOUT}")
    ]
    reports = sorted(found, key=lambda each: (each["last_date"], each["first_date"]), reverse=True)
    longest = sorted(reports, key=lambda each: (each["last_date"], each["first_date"]))
    newest = next((each for each in longest if each["last_date"] == reports[0]["last_date"]), None)
    values = {
        "title": f"Punctuality reports: {source.publisher}",
        "publisher": source.publisher,
        "period": "all reports",
        "root": "",
        "pages": [],
        "reports": reports,
        "newest": newest,
        "today": _today(source),
        "has_method": False,
    }
    _write_changed(folder / "index.html", render("periods.html", values))
    _write_changed(folder / "feed.atom", _feed(source, reports))


def _today(source: Source) -> str:
    """Say what is known of dates that are not over; empty if there are none."""
    [(first, n_requests, n_passed)] = source.rows(_TODAY)
    if not n_requests:
        return ""
    return (
        f"So far since {day_text(first)}, not comparable with dates that are over: {n_requests:,} requests, "
        f"{n_passed:,} passages seen."
    )


_TODAY = """
with closing as (select closed_date from quality.closing)

select
    min(days.service_date),
    coalesce(sum(days.n_requests), 0),
    (select count(passed_at) from core.stop_visits, closing where service_date > closed_date)
from core.service_days as days, closing
where days.service_date > closed_date
"""


def _feed(source: Source, reports: Sequence[Mapping[str, Any]]) -> str:
    """Return an Atom feed with an entry for each report; addresses are relative to the feed."""
    space = "http://www.w3.org/2005/Atom"
    feed = etree.Element(f"{{{space}}}feed", nsmap={None: space})

    def add(parent: Any, name: str, text: str = "", **attributes: str) -> Any:  # noqa: ANN401 - lxml has no types
        element = etree.SubElement(parent, f"{{{space}}}{name}", **attributes)
        element.text = text or None
        return element

    place = uuid5(NAMESPACE_URL, source.publisher)
    add(feed, "title", f"Punctuality reports: {source.publisher}")
    add(feed, "id", place.urn)
    add(feed, "updated", f"{source.publication.published_at:%Y-%m-%dT%H:%M:%SZ}")
    author = add(feed, "author")
    add(author, "name", source.publisher)
    for each in reports:
        entry = add(feed, "entry")
        add(entry, "title", each["title"])
        add(entry, "id", uuid5(place, each["name"]).urn)
        add(entry, "updated", f"{each['last_date']}T23:59:59Z")
        add(entry, "link", href=f"{each['name']}/index.html")
        add(entry, "summary", each["answer"])
    return str(etree.tostring(feed, pretty_print=True, xml_declaration=True, encoding="utf-8"), "utf-8")


def _write_changed(path: Path, text: str) -> bool:
    """Write a file if its text is another; tell whether it was."""
    try:
        if path.read_text("utf-8") == text:
            return False
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    write_text(path, text)
    return True


def _remove_others(place: Path, kept: set[Path]) -> None:
    """Remove the files of a report that it no longer has."""
    for path in [path for path in place.rglob("*") if path.is_file() and path not in kept]:
        path.unlink()
    for path in sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()

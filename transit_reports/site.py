"""Writes a report as pages and CSV files, each only if it changed, and the index of all reports."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from transit_base.files import locked, write_changed
from transit_exports.scratch import opened_with_scratch
from transit_exports.settings import ExportSettings
from transit_exports.source import Source
from transit_reports.announced import news_page, timetable_page
from transit_reports.compare import compare_page, lines_compared_page
from transit_reports.data import data_page
from transit_reports.disruptions import disruptions_page, lifts_page
from transit_reports.figures import heat_classes
from transit_reports.index import ABOUT, write_index
from transit_reports.language import (
    N_,
    SOURCE,
    _,
    folder_of,
    language,
    language_name,
    languages,
    weekday,
    written_in,
)  # fmt: skip
from transit_reports.line import line_of, lines_with_pages
from transit_reports.lines import lines_page
from transit_reports.method import method_page
from transit_reports.overview import headline, overview_page
from transit_reports.page import Page
from transit_reports.pdf import print_page, printer
from transit_reports.periods import ReportError, ReportPeriod, period_named, period_of, standard_periods
from transit_reports.rendering import render
from transit_reports.report import Report
from transit_reports.stop import stop_of, stops_with_pages
from transit_reports.stops import stop_list_page, stops_page
from transit_reports.words import listed

_SCRATCH = "report"
_PDF = "overview.pdf"  # beside the first page of each language
_SECTION_OF = {"line": "lines/index.html", "stop": "stops/index.html", "compare": "compare/index.html"}
_SECTIONS = [
    (N_("Overview"), "index.html"),
    (N_("Lines"), "lines/index.html"),
    (N_("Stops"), "stops/index.html"),
    (N_("Compare"), "compare/index.html"),
    (N_("Disruptions"), "disruptions/index.html"),
    (N_("Lifts"), "lifts/index.html"),
    (N_("Timetable"), "timetable/index.html"),
    (N_("News"), "news/index.html"),
    (N_("Data"), "data/index.html"),
    (N_("Method"), "method/index.html"),
]
_MOST_COMPARED = 6  # lines, each with each


@dataclass(slots=True)
class ReportSummary:
    """A report that was written: its first page, the sentence that it answers with, and its pages."""

    page: Path
    answer: str
    n_pages: int = 0
    n_files: int = 0
    n_changed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest:
    """What is asked for.

    first, last: the period; without both, the last date that is over, its week and its month.
    lines:       the lines whose pages are written, by number or code; none for all. Two or more are compared.
    against:     the name of a period to compare with, such as `2026-02`, besides the one before.
    languages:   codes; pages in the first are in the folder of the report, those in others in folders below.
    is_printed:  write the overview as PDF too.
    """

    first: date | None = None
    last: date | None = None
    lines: Sequence[str] = ()
    against: str = ""
    languages: Sequence[str] = (SOURCE,)
    is_printed: bool = False


def write_reports(settings: ExportSettings, folder: Path, asked: ReportRequest) -> list[ReportSummary]:
    """Write the report of a period into a folder of its name, and the index of all reports.

    folder: of all reports; its first page is `index.html`.

    ReportError refuses a period of which nothing is known, a line or a language that there is not, and a PDF
    without a browser; NotPublishedError before the first publication. Files that did not change are left
    alone.
    """
    unknown = [code for code in asked.languages if code not in languages()]
    if unknown or not asked.languages:
        raise ReportError(f"no report in {listed(unknown)}: there are {listed(languages())}")
    if asked.is_printed:
        printer()
    with opened_with_scratch(settings, _SCRATCH) as source, locked(settings.lock(_SCRATCH)):
        has_dates = asked.first is not None or asked.last is not None
        publication = source.publication
        periods = (
            [period_of(publication, asked.first, asked.last)] if has_dates else standard_periods(publication)
        )
        if not periods:
            raise ReportError("the published file has no service date that is over: build and publish later")
        summaries = [_Writer(source, folder, period, asked).write() for period in periods]
        for code in asked.languages:
            with written_in(code):
                write_index(source, folder, asked.languages)
    return summaries


class _Writer:
    """Writes the report of a period."""

    def __init__(self, source: Source, folder: Path, period: ReportPeriod, asked: ReportRequest) -> None:
        self._asked, self._place = asked, folder / period.name
        there = frozenset(f"{path.relative_to(self._place)}" for path in self._place.glob("*/*/index.html"))
        self._report = Report(source, period, asked.lines, there if asked.lines else frozenset())
        self._kept = {self._place / ABOUT}
        self._summary = ReportSummary(self._place / "index.html", "")

    def write(self) -> ReportSummary:
        """Write all pages in all languages."""
        period, lines = self._report.period, self._asked.lines
        codes = lines_with_pages(self._report)
        unknown = [name for name in lines if not any(name in self._report.names_of(code) for code in codes)]
        if unknown:
            raise ReportError(f"no line is called {' or '.join(unknown)} in {period.title}")
        about: dict[str, Any] = {"first_date": f"{period.dates.first}", "last_date": f"{period.dates.last}"}
        for code in self._asked.languages:
            with written_in(code):
                answer = headline(self._report)
                about[code] = {"title": period.title, "answer": answer}
                self._summary.answer = self._summary.answer or answer
                for page in self._pages(codes):
                    self._write_page(page)
        self._change(self._place / ABOUT, json.dumps(about, indent=1, ensure_ascii=False) + "\n")
        if self._asked.is_printed:
            self._print()
        if not lines:
            _remove_others(self._place, self._kept)
        return self._summary

    def _pages(self, codes: Sequence[str]) -> Iterator[Page]:
        """Yield the pages in the language of now."""
        report, asked = self._report, self._asked
        yield overview_page(report)
        yield lines_page(report)
        yield stops_page(report)
        yield stop_list_page(report)
        yield disruptions_page(report)
        yield lifts_page(report)
        yield timetable_page(report)
        yield news_page(report)
        yield data_page(report)
        yield method_page(report)
        yield from self._comparisons(codes)
        yield from (line_of(report, code) for code in codes)
        yield from (stop_of(report, code) for code in ([] if asked.lines else stops_with_pages(report)))

    def _comparisons(self, codes: Sequence[str]) -> Iterator[Page]:
        """Yield the pages that compare; those written before with another period are made anew."""
        report, asked = self._report, self._asked
        others: list[Page] = []
        for name in sorted({asked.against, *self._compared_before()} - {"", report.period.before.name}):
            try:
                others.append(compare_page(report, period_named(report.source.publication, name)))
            except ReportError:
                if name == asked.against:
                    raise
        if asked.lines and len(codes) > 1:
            if len(codes) > _MOST_COMPARED:
                raise ReportError(
                    f"{len(codes)} lines are too many to compare each with each: ask for {_MOST_COMPARED}"
                )
            others.append(lines_compared_page(report, codes))
        yield compare_page(report, report.period.before, [(page.title, page.address) for page in others])
        yield from others

    def _compared_before(self) -> Iterator[str]:
        for path in self._place.glob("compare/*/index.html"):
            if not path.parent.name.startswith("lines_"):
                yield path.parent.name

    def _write_page(self, page: Page) -> None:
        """Write a page, and in the first language the CSV of each figure beside it."""
        first = self._asked.languages[0]
        path = self._place / folder_of(language(), first) / page.address
        self._summary.n_pages += 1
        self._change(path, render(page.template, self._common(page) | dict(page.values)))
        if language() == first:
            for figure in page.figures:
                self._change(path.with_name(f"{figure.name}.csv"), figure.csv())

    def _common(self, page: Page) -> dict[str, Any]:
        report, first = self._report, self._asked.languages[0]
        is_first = language() == first
        up = page.root if is_first else f"{page.root}../"  # to the folder of the report
        section = _SECTION_OF.get(page.address.split("/")[0], page.address)
        overview = self._place / folder_of(language(), first)
        return {
            "title": f"{page.title}: {report.source.publisher}, {report.period.title}",
            "heading": page.title,
            "publisher": report.source.publisher,
            "period": report.period.title,
            "when": report.period.when,
            "rules": report.rules_text,
            "root": page.root,
            "csv_root": "" if is_first else f"{up}{page.address.removesuffix('index.html')}",
            "pages": [
                *((_(name), address, address == section) for name, address in _SECTIONS),
                (_("All reports"), "../index.html" if is_first else f"../../{language()}/index.html", False),
            ],
            "others": [],
            "translations": [
                (code, language_name(code), f"{up}{folder_of(code, first)}{page.address}")
                for code in self._asked.languages
                if code != language()
            ],
            "weekdays": [weekday(day) for day in range(1, 8)],
            "heat_classes": heat_classes(),
            "pdf": _PDF if self._asked.is_printed or (overview / _PDF).exists() else "",
        }

    def _print(self) -> None:
        """Print the overview of each language; those whose page did not change are left alone."""
        for code in self._asked.languages:
            page = self._place / folder_of(code, self._asked.languages[0]) / "index.html"
            pdf = page.with_name(_PDF)
            if not pdf.exists() or pdf.stat().st_mtime_ns < page.stat().st_mtime_ns:
                print_page(page, pdf)
                self._summary.n_changed += 1
            self._summary.n_files += 1

    def _change(self, path: Path, text: str) -> None:
        self._kept |= {path, path.with_name(_PDF)}
        self._summary.n_files += 1
        self._summary.n_changed += write_changed(path, text)


def _remove_others(place: Path, kept: set[Path]) -> None:
    """Remove the files of a report that it no longer has."""
    for path in [path for path in place.rglob("*") if path.is_file() and path not in kept]:
        path.unlink()
    for path in sorted((path for path in place.rglob("*") if path.is_dir()), reverse=True):
        if not any(path.iterdir()):
            path.rmdir()

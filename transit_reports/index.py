"""The first page of all reports, and the feed of new ones."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urljoin
from uuid import NAMESPACE_URL, uuid5

from lxml import etree

from transit_base.files import write_changed
from transit_exports.source import Source
from transit_reports.language import (
    SOURCE,
    _,
    day_text,
    folder_of,
    language,
    language_name,
    number,
    written_in,
)
from transit_reports.rendering import render

ABOUT = "report.json"  # in the folder of each report: what the index says of it
_FEED = "feed.atom"


def write_operators(folder: Path, codes: Sequence[str]) -> None:
    """Write the page that leads to the reports of each operator, whose folders are in a folder."""
    operators = sorted(
        path.parent.name for path in folder.glob("*/index.html") if (path.parent / _FEED).exists()
    )
    for code in codes:
        with written_in(code):
            place, up = folder_of(code, codes[0]), "../" if code != codes[0] else ""
            values = {
                "title": _("Reports"),
                "publisher": ", ".join(operators),
                "period": _("all reports"),
                "root": "",
                "pages": [],
                "translations": _translations(code, codes),
                "operators": [(name, f"{up}{name}/{place}index.html") for name in operators],
            }
            write_changed(folder / place / "index.html", render("operators.html", values))


def write_index(source: Source, folder: Path, codes: Sequence[str]) -> None:
    """Write the page of all periods and the feed of new reports, from what each report says of itself."""
    first, code = codes[0], language()
    up = "" if code == first else "../"
    found = [(path.parent.name, json.loads(path.read_text("utf-8"))) for path in folder.glob(f"*/{ABOUT}")]
    all_reports = [
        about[code]
        | {"name": name, "first_date": about["first_date"], "last_date": about["last_date"]}
        | {"address": f"{up}{name}/{folder_of(code, first)}index.html"}
        for name, about in found
        if code in about
    ]
    reports = sorted(all_reports, key=lambda each: (each["last_date"], each["first_date"]), reverse=True)
    longest = sorted(reports, key=lambda each: (each["last_date"], each["first_date"]))
    newest = next((each for each in longest if each["last_date"] == reports[0]["last_date"]), None)
    values = {
        "title": _("Punctuality reports: {publisher}", publisher=source.publisher),
        "publisher": source.publisher,
        "period": _("all reports"),
        "root": "",
        "pages": [],
        "translations": _translations(code, codes),
        "reports": reports,
        "newest": newest,
        "today": _today(source),
    }
    place = folder / folder_of(code, first)
    write_changed(place / "index.html", render("periods.html", values))
    write_changed(place / _FEED, _feed(source, reports, folder_of(code, first)))


def _translations(code: str, codes: Sequence[str]) -> list[tuple[str, str, str]]:
    """Return the other languages of a first page: their codes, names and addresses."""
    up = "" if code == codes[0] else "../"
    return [
        (other, language_name(other), f"{up}{folder_of(other, codes[0])}index.html")
        for other in codes
        if other != code
    ]


def _today(source: Source) -> str:
    """Say what is known of dates that are not over; empty if there are none."""
    [(first, n_requests, n_passed)] = source.rows(_TODAY)
    if not n_requests:
        return ""
    return _(
        "So far since {day}, not comparable with dates that are over: {n_requests} requests, {n_passed} "
        "passages seen.",
        day=day_text(first), n_requests=number(n_requests), n_passed=number(n_passed),
    )  # fmt: skip


_TODAY = """
with closing as (select closed_date from quality.operators)

select
    min(days.service_date),
    coalesce(sum(days.n_requests), 0),
    (select count(passed_at) from core.stop_visits, closing where service_date > closed_date)
from core.service_days as days, closing
where days.service_date > closed_date
"""


def _feed(source: Source, reports: Sequence[Mapping[str, Any]], place: str) -> str:
    """Return an Atom feed with an entry for each report.

    place: of the feed in the folder of reports, such as `it/`. Addresses are absolute where it is known at
    which address that folder is served, and else relative to the feed, as from disk.
    """
    address = source.settings.report_address
    base = f"{address.rstrip('/')}/{place}" if address else ""
    space = "http://www.w3.org/2005/Atom"
    feed = etree.Element(f"{{{space}}}feed", nsmap={None: space})

    def add(parent: Any, name: str, text: str = "", **attributes: str) -> Any:  # noqa: ANN401 - lxml has no types
        element = etree.SubElement(parent, f"{{{space}}}{name}", **attributes)
        element.text = text or None
        return element

    publication = uuid5(
        NAMESPACE_URL, f"{source.publisher}/{language()}" if language() != SOURCE else source.publisher
    )
    add(feed, "title", _("Punctuality reports: {publisher}", publisher=source.publisher))
    add(feed, "id", publication.urn)
    add(feed, "updated", f"{source.publication.published_at:%Y-%m-%dT%H:%M:%SZ}")
    if base:
        add(feed, "link", rel="self", href=urljoin(base, _FEED))
    add(feed, "link", href=urljoin(base, "index.html"))
    author = add(feed, "author")
    add(author, "name", source.publisher)
    for each in reports:
        entry = add(feed, "entry")
        add(entry, "title", each["title"])
        add(entry, "id", uuid5(publication, each["name"]).urn)
        add(entry, "updated", f"{each['last_date']}T23:59:59Z")
        add(entry, "link", href=urljoin(base, each["address"]))
        add(entry, "summary", each["answer"])
    return str(etree.tostring(feed, pretty_print=True, xml_declaration=True, encoding="utf-8"), "utf-8")

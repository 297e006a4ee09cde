"""Writes the pages for people: the index of all datasets, and the page of each."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from markupsafe import Markup

from transit_exports.formats import FORMATS
from transit_exports.manifest import Dataset, Manifest
from transit_exports.rendering import from_markdown, render, source_of
from transit_exports.settings import NO_LICENCE, ExportSettings, licence_address

_MEGABYTE = 1_000_000
_PACKAGE = "transit_exports"


class _First(NamedTuple):
    """What a reporter asks first: title, answer, and the datasets that answer; the first there is counts."""

    title: str
    answer: str
    subjects: Sequence[str]


_FIRST = (
    _First(
        "On time, network",
        "What share of all passages was on time, with its 95 % interval.",
        ("on_time_months", "network_punctuality_daily"),
    ),
    _First(
        "On time, by line",
        "What share of the passages of a line was on time, by direction, with its 95 % interval.",
        ("on_time_lines", "punctuality_daily"),
    ),
    _First(
        "Waits",
        "How much longer riders of frequent lines waited than the timetable says, by line and month.",
        ("excess_waiting", "headways_daily"),
    ),
    _First(
        "Trips that ran",
        "What share of the departures of a line ran, by direction and month, between bounds.",
        ("trips_delivered", "service_delivered"),
    ),
    _First(
        "Disruptions",
        "What was disrupted, since when, and for how many minutes.",
        ("service_disruptions", "disruptions"),
    ),
)
_SECTIONS = {
    "headline": ("Answers", "A table for each question: the figure, its interval, and a sentence to cite."),
    "marts": ("Figures by line, stop and period", "Counts, sums and shares; any period adds up."),
    "core": ("What was planned and what was observed", "Each passage, trip, departure and episode."),
    "feeds": ("Feeds for other programs", "GTFS, GTFS Realtime and TIDES."),
    "quality": ("Quality of the data", "What was checked and found."),
}
_OTHERS = ("Other datasets", "Exported one by one.")


def index(settings: ExportSettings, publisher: str, datasets: Sequence[Dataset], dcat: str) -> str:
    """Return the page that lists all datasets: what reporters ask first, then groups.

    Its script, the only one that the page admits, searches titles, meanings and columns. Without it the page
    has no search and is complete.
    """
    licence, contact = settings.licence, settings.contact
    first, sections = [*_first({each.subject for each in datasets})], [*_sections(datasets)]
    first_title = "For reporters: these five" if len(first) == len(_FIRST) else "For reporters"
    groups = [("reporters", "For reporters")] * bool(first)
    groups += [(section["name"], section["title"]) for section in sections]
    values = {
        "title": f"Datasets of {publisher}",
        "publisher": publisher,
        "period": "datasets",
        "root": "",
        "pages": [(title, f"#{name}", False) for name, title in groups],
        "navigation": "Groups of datasets",
        "publisher_url": settings.publisher_url,
        "licence": licence,
        "licence_url": None if licence == NO_LICENCE else licence_address(licence),
        "contact": contact,
        "contact_url": contact and address_of(contact),
        "dcat": dcat,
        "first": first,
        "first_title": first_title,
        "sections": sections,
        "script": Markup(_script()),  # noqa: S704 - a file of ours
        "script_source": source_of(_script()),
    }
    return render("index.html", values, _PACKAGE)


def dataset_page(title: str, markdown: str, *, publisher: str, is_listed: bool) -> str:
    """Return the page of a dataset from its README; `is_listed` links the index."""
    values = {
        "title": title,
        "publisher": publisher,
        "period": "dataset",
        "root": "",
        "pages": [],
        "content": from_markdown(markdown),
        "is_listed": is_listed,
    }
    return render("dataset.html", values, _PACKAGE)


def address_of(contact: str) -> str:
    """Return the address behind a contact: a page, or one of e-mail."""
    return contact if contact.startswith("http") else f"mailto:{contact}"


@cache
def _script() -> str:
    return files(_PACKAGE).joinpath("templates", "search.js").read_text("utf-8")


def _first(subjects: set[str]) -> Iterator[dict[str, str]]:
    for each in _FIRST:
        found = next((subject for subject in each.subjects if subject in subjects), None)
        if found is not None:
            yield {"title": each.title, "answer": each.answer, "subject": found}


def _sections(datasets: Sequence[Dataset]) -> Iterator[dict[str, Any]]:
    for group, (title, text) in [*_SECTIONS.items(), ("", _OTHERS)]:
        found = [_card(each) for each in datasets if _group(each) == group]
        if found:
            yield {"name": f"group-{group or 'others'}", "title": title, "text": text, "datasets": found}


def _group(dataset: Dataset) -> str:
    return dataset.newest.group if dataset.newest.group in _SECTIONS else ""


def _card(dataset: Dataset) -> dict[str, Any]:
    newest = dataset.newest
    text = " ".join([table["meaning"] for table in newest.tables] or newest.notes).replace("`", "")
    columns = [column["name"] for table in newest.tables for column in table["columns"]]
    words = " ".join([newest.title, dataset.subject, text, *newest.keywords, *columns]).lower()
    formats = [
        {"manifest": each, "name": _format_name(each), "size": size(each.n_data_bytes)}
        for each in dataset.formats
    ]
    title = newest.title.removesuffix(f", {newest.publisher}")  # the page has it once, at the top
    return {
        "subject": dataset.subject, "title": title, "newest": newest, "text": text, "words": words,
        "formats": formats,
    }  # fmt: skip


def _format_name(manifest: Manifest) -> str:
    form = FORMATS.get(manifest.format)
    return form.title if form else manifest.format


def size(n_bytes: int) -> str:
    """Write a size in MB or kB."""
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= _MEGABYTE else f"{n_bytes / 1e3:,.1f} kB"

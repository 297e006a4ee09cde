"""Writes the pages for people: the index of all datasets, and the page of each."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from transit_exports.formats import FORMATS
from transit_exports.manifest import Dataset, Manifest
from transit_exports.settings import NO_LICENCE, ExportSettings, licence_address

_MEGABYTE = 1_000_000
# What people come to ask, and the datasets that answer it: the first of them that there is.
_QUESTIONS = (
    ("How punctual is the network?", ("on_time_months", "network_punctuality_monthly")),
    ("How punctual is each line?", ("on_time_lines", "punctuality_monthly")),
    ("How punctual is each stop?", ("on_time_stops", "punctuality_by_stop")),
    ("How long do riders of frequent lines wait?", ("excess_waiting", "headways_daily")),
    ("Which trips ran, and which did not?", ("trips_delivered", "service_delivered")),
    ("Which lifts were out of use?", ("lifts", "lift_reliability")),
    ("What was disrupted, and for how long?", ("service_disruptions", "disruptions")),
    ("What ran, for a program that reads GTFS?", ("gtfs-retrospective",)),
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
    """Return the page that lists all datasets in groups, with a search over titles, meanings and columns."""
    licence, contact = settings.licence, settings.contact
    return _render(
        "index.html",
        title=f"Datasets of {publisher}",
        publisher=publisher,
        publisher_url=settings.publisher_url,
        licence=licence,
        licence_url=None if licence == NO_LICENCE else licence_address(licence),
        contact=contact,
        contact_url=contact and address_of(contact),
        dcat=dcat,
        questions=[*_questions({each.subject for each in datasets})],
        sections=[*_sections(datasets)],
    )


def dataset_page(title: str, markdown: str, *, is_listed: bool) -> str:
    """Return the page of a dataset from its README; `is_listed` links the index."""
    content = MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown)
    content = content.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    return _render("dataset.html", title=title, content=Markup(content), is_listed=is_listed)  # noqa: S704 - without HTML of others


def address_of(contact: str) -> str:
    """Return the address behind a contact: a page, or one of e-mail."""
    return contact if contact.startswith("http") else f"mailto:{contact}"


@cache
def _environment() -> Environment:
    loader = PackageLoader("transit_exports")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _render(name: str, **values: Any) -> str:  # noqa: ANN401 - what a template takes
    return _environment().get_template(name).render(values) + "\n"


def _questions(subjects: set[str]) -> Iterator[tuple[str, str]]:
    for question, answers in _QUESTIONS:
        found = next((each for each in answers if each in subjects), None)
        if found is not None:
            yield question, found


def _sections(datasets: Sequence[Dataset]) -> Iterator[dict[str, Any]]:
    for group, (title, text) in [*_SECTIONS.items(), ("", _OTHERS)]:
        found = [_card(each) for each in datasets if _group(each) == group]
        if found:
            yield {"title": title, "text": text, "datasets": found}


def _group(dataset: Dataset) -> str:
    return dataset.newest.group if dataset.newest.group in _SECTIONS else ""


def _card(dataset: Dataset) -> dict[str, Any]:
    newest = dataset.newest
    text = " ".join(table["meaning"] for table in newest.tables) or " ".join(newest.notes).replace("`", "")
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

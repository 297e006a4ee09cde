"""Makes the Data Docs self-contained, without scripts or other files; writes their first page."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from lxml import html
from markupsafe import Markup

from transit_base.files import write_text
from transit_etl.stage.quality_history import QualityHistory

# What runs, is loaded from another file, or leads elsewhere: the footer links to the maker of the pages.
_REMOVED = "//script | //footer | //link | //img[starts-with(@src, 'http')]"
_REMOTE_URL = re.compile(r"""url\(["']?https?://[^)]*\)""")  # in a style sheet

# Whatever a page holds, it runs no script, loads nothing and sends nothing.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"

_TEMPLATES = files("transit_etl.stage").joinpath("templates")
_TIME, _DAY = "%Y-%m-%d %H:%M:%S", "%d %b"


@dataclass(frozen=True, slots=True)
class ResultPage:
    """The page of a dataset's result that was kept last; the link is relative to the first page."""

    link: str
    window: str
    received_at: datetime


def make_self_contained(folder: Path) -> None:
    """Rewrite every page below a folder so that it loads nothing from elsewhere and can run no script."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    for path in folder.rglob("*.html"):
        page = html.document_fromstring(path.read_bytes(), parser=parser)
        for element in page.xpath(_REMOVED):
            element.drop_tree()
        for element in page.xpath("//*[@*[starts-with(name(), 'on')]]"):
            for handler in [name for name in element.attrib if name.startswith("on")]:
                del element.attrib[handler]
        for sheet in page.iter("style"):
            sheet.text = _REMOTE_URL.sub("none", sheet.text or "")
        policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        page.head.insert(0, html.fragment_fromstring(policy))
        page.head.append(html.fragment_fromstring(f"<style>{_style()}</style>"))
        path.write_text(html.tostring(page, doctype="<!DOCTYPE html>", encoding="unicode"), encoding="utf-8")


def escaped(document: Any) -> Any:  # noqa: ANN401 - any JSON
    """Escape every text in a JSON document: Great Expectations puts texts into its pages as they are."""
    if isinstance(document, str):
        return escape(document)
    if isinstance(document, dict):
        return {escape(key): escaped(value) for key, value in document.items()}
    return [escaped(value) for value in document] if isinstance(document, list) else document


def write_first_page(
    path: Path,
    operator: str,
    datasets: Iterable[str],
    history: QualityHistory,
    results: Mapping[str, ResultPage],
) -> None:
    """Write the page that says of each dataset what was received last, what failed, and the days before.

    operator: empty where there is one alone.
    datasets: all that have rules, in their order.
    results: the page of the last result of each, where there is one.
    """
    values = {
        "operator": operator,
        "answer": _answer(history),
        "last_days": f"last {len(history.days)} days" if len(history.days) > 1 else "last day",
        "days": history.days,
        "set_aside": history.set_aside,
        "noted": history.noted,
        "time_format": _TIME,
        "day_format": _DAY,
        "datasets": [_dataset(name, history, results.get(name)) for name in datasets],
    }
    path.write_text(_rendered("first_page.html", values), encoding="utf-8")


def write_operators_page(path: Path, histories: Mapping[str, QualityHistory]) -> None:
    """Write the page that leads to those of each operator, with what became of what was received."""
    answers = {operator: _answer(history) for operator, history in histories.items()}
    write_text(path, _rendered("operators.html", {"answers": answers}))


def _answer(history: QualityHistory) -> str:
    """Say in one sentence what was received in the days of a history, and what became of it."""
    days = [each for of_dataset in history.by_day.values() for each in of_dataset]
    if not days:
        return "Nothing was received yet."
    n_batches, n_rows = sum(each.n_batches for each in days), sum(each.n_rows for each in days)
    n_aside, n_rejected = sum(each.n_set_aside for each in days), sum(each.n_rejected for each in days)
    when = (
        f"from {history.days[-1]} to {history.days[0]}" if len(history.days) > 1 else f"on {history.days[0]}"
    )
    if not n_aside and not n_rejected:
        return f"Of {n_rows:,} rows in {n_batches:,} batches received {when}, all kept every rule."
    entries = "1 entry" if n_aside == 1 else f"{n_aside:,} entries"
    batches = "1 batch was" if n_rejected == 1 else f"{n_rejected:,} batches were"
    return (
        f"Of {n_rows:,} rows in {n_batches:,} batches received {when}, {entries} went to quarantine, and "
        f"{batches if n_rejected else 'no batch was'} kept out of the lake."
    )


def _dataset(name: str, history: QualityHistory, result: ResultPage | None) -> dict[str, Any]:
    """Return what the page says of a dataset; of another window than the last, the result says which."""
    last, days = history.last.get(name), history.by_day.get(name, ())
    is_other = result is not None and last is not None and result.window != last.window
    return {
        "name": name,
        "last": last,
        "days": days,
        "n_set_aside": sum(each.n_set_aside for each in days),
        "result_link": result.link if result else None,
        "result_of": f"{result.received_at:{_TIME}}" if result and is_other else "",
    }


@cache
def _style() -> str:
    return _TEMPLATES.joinpath("pages.css").read_text("utf-8")


def _rendered(template: str, values: Mapping[str, object]) -> str:
    style = Markup(_style())  # noqa: S704 - a file of ours
    return _templates().get_template(template).render(policy=_POLICY, style=style, **values) + "\n"


@cache
def _templates() -> Environment:
    return Environment(
        loader=PackageLoader("transit_etl.stage"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

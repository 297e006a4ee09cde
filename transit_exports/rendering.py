"""Fills in the templates of pages; all have one style, which the content policy of a page admits."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import count
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

_NUMBER = ' style="text-align:right"'  # the policy admits no style of an element


def render(template: str, values: Mapping[str, Any], package: str) -> str:
    """Return a page: a template of a package, which may build upon `base.html`, the frame of all pages."""
    return environment_of(package).get_template(template).render(values) + "\n"


@cache
def environment_of(package: str) -> Environment:
    """Return what fills in the templates of a package and those of the style."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("transit_exports", "style")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals |= {"style": Markup(_style()), "style_source": style_source()}  # noqa: S704 - a file of ours
    return environment


def from_markdown(text: str) -> Markup:
    """Return a text in Markdown as HTML; in it HTML is text, and no picture is shown."""
    content = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image").render(text)
    head, *tables = content.replace(_NUMBER, ' class="number"').split("<table>")
    numbers = count(1)
    whole = head + "".join(f"{_frame(next(numbers))}<table>{table}" for table in tables)
    return Markup(whole.replace("</table>", "</table></div>"))  # noqa: S704 - HTML of others is escaped


def style_source() -> str:
    """Return what a content policy admits the style by."""
    return source_of(_style())


def source_of(text: str) -> str:
    """Return what a content policy admits a style or a script within a page by: its SHA-256."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _frame(number: int) -> str:
    """Begin what a table scrolls in, also by the keyboard; each has a name of its own."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="Table {number}">'


@cache
def _style() -> str:
    return files("transit_exports").joinpath("style", "style.css").read_text("utf-8")

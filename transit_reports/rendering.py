"""Fills in the templates of pages; all have one style, which the content policy of a page admits."""

from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from jinja2.ext import InternationalizationExtension
from markupsafe import Markup

from transit_reports.language import gettext, language, ngettext, number, short_day


def render(template: str, values: Mapping[str, Any], package: str = "transit_reports") -> str:
    """Return a page: a template of a package, which may build upon those of reports."""
    return _environment(package).get_template(template).render(values) + "\n"


def style_source() -> str:
    """Return what a content policy admits the style by."""
    return f"'sha256-{b64encode(sha256(_style().encode()).digest()).decode()}'"


@cache
def _style() -> str:
    return files("transit_reports").joinpath("templates", "style.css").read_text("utf-8")


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("transit_reports")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.add_extension(InternationalizationExtension)
    environment.install_gettext_callables(gettext, ngettext)  # type: ignore[attr-defined]
    environment.globals |= {"language": language, "number": number, "short_day": short_day}
    environment.globals |= {"style": Markup(_style()), "style_source": style_source()}  # noqa: S704 - a file of ours
    return environment

"""Fills in the templates of reports, in the language of now."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment
from jinja2.ext import InternationalizationExtension

from transit_exports.rendering import environment_of
from transit_reports.figures import language_of
from transit_reports.language import gettext, language, ngettext, number, short_day


def render(template: str, values: Mapping[str, Any]) -> str:
    """Return a page of a report, in the style of all pages."""
    return _environment().get_template(template).render(values) + "\n"


@cache
def _environment() -> Environment:
    environment = environment_of("transit_reports").overlay(extensions=[InternationalizationExtension])
    environment.globals = environment.globals | {
        "language": language,
        "language_of": language_of,
        "number": number,
        "short_day": short_day,
    }
    environment.install_gettext_callables(gettext, ngettext)  # type: ignore[attr-defined]
    return environment

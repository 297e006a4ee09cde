"""The command `recipe`: a query of `sql/analyses`, for the line and dates that are asked for."""

import re
from collections.abc import Iterator
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from transit_base.errors import TransitError
from transit_base.installed import part_of_project
from transit_etl.cli.options import FROM, TO, Json, moment
from transit_etl.cli.sql import AsFormat, Output, asked_format
from transit_etl.settings import load_settings

if TYPE_CHECKING:
    import pyarrow as pa

# The variables of DuckDB that recipes read, and the options that set them.
OPTIONS = {
    "lines": "--line", "from_date": "--from", "to_date": "--to", "moment": "--at", "ruleset": "--ruleset",
}  # fmt: skip


class RecipeError(TransitError):
    """There is no such recipe, or it does not take an option; the message says what there is."""


def recipe(
    name: Annotated[str | None, typer.Argument(help="A recipe; without one, they are listed.")] = None,
    *,
    line: Annotated[str | None, typer.Option("--line", help="The code of a line, or its number.")] = None,
    from_date: Annotated[date | None, FROM] = None,
    to_date: Annotated[date | None, TO] = None,
    at: Annotated[
        datetime | None,
        typer.Option("--at", metavar="INSTANT", parser=moment, help="An instant: 2026-03-29T08:00Z."),
    ] = None,
    ruleset: Annotated[str | None, typer.Option("--ruleset", help="One of core.authority_rulesets.")] = None,
    as_format: AsFormat = None,
    output: Output = None,
    as_json: Json = False,
) -> None:
    """Answer a question that analysts often ask, from the published warehouse.

    Without dates it is the period that the recipe names, and without a line, all lines.

    Example: transit-etl recipe on_time_share_of_a_line_by_hour --line 18 --from 2026-03-02 --to 2026-03-08
    """
    from transit_etl.cli.formats import write
    from transit_etl.cli.lines import codes_of
    from transit_etl.queries import query_all

    form = asked_format(as_format, as_json=as_json)
    if name is None:
        write([_listed()], form, output)
        return
    text = _text_of(name)
    asked = {"lines": line, "from_date": from_date, "to_date": to_date, "moment": at, "ruleset": ruleset}
    given: dict[str, object] = {variable: value for variable, value in asked.items() if value is not None}
    taken = _variables(text)
    if unknown := [OPTIONS[variable] for variable in given if variable not in taken]:
        takes = ", ".join(OPTIONS[variable] for variable in taken) or "no option"
        raise RecipeError(f"{name} does not take {', '.join(unknown)}: it takes {takes}")
    settings = load_settings()
    if line is not None:
        given["lines"] = codes_of(settings, line)
    write(query_all(settings, text, given), form, output)


def recipes() -> dict[str, str]:
    """Return the text of each recipe by its name, in order."""
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(_folder().glob("*.sql"))}


def _folder() -> Path:
    return part_of_project("sql") / "analyses"


def _text_of(name: str) -> str:
    known = recipes()
    if name not in known:
        near = get_close_matches(name, known, n=2)
        hint = f": is it {' or '.join(near)}?" if near else "; transit-etl recipe lists them"
        raise RecipeError(f"there is no recipe {name!r}{hint}")
    return known[name]


def _variables(text: str) -> list[str]:
    """Return the variables of DuckDB that a recipe reads."""
    return [variable for variable in OPTIONS if f"getvariable('{variable}')" in text]


def _listed() -> "pa.Table":
    import pyarrow as pa

    def _rows() -> Iterator[dict[str, str]]:
        for name, text in recipes().items():
            question = " ".join(re.findall(r"^-- (.*)$", text, re.MULTILINE)).partition("?")[0] + "?"
            options = " ".join(OPTIONS[variable] for variable in _variables(text))
            yield {"recipe": name, "options": options, "question": question}

    return pa.Table.from_pylist(list(_rows()))

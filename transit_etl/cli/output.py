"""What the commands print: results on stdout, as tables or as JSON, and errors on stderr."""

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

# Control characters other than tab and line end, marks that turn the direction of writing, lone surrogates.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


class PlainConsole(Console):
    """A console that prints text as it is: no markup, no emoji codes, and control characters escaped.

    Text of the upstream may hold any of them; this is where all that the commands print passes.
    """

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, markup=False, emoji=False, highlight=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render as rich does, then escape what a terminal would obey."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def printable(text: str) -> str:
    r"""Return a text with escapes such as `\x1b` for what a terminal would obey, or cannot show."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


_LABELS = {  # of fields whose names alone do not say what is meant
    "allowance_share": "allowance used",
    "planned": "requests planned",
    "sent": "requests sent",
    "received": "answers",
    "windows": "raw files",
    "n_open": "raw files being written",
    "recovered": "raw files of killed collectors",
}
# What is written into a file or a pipe is not cut to the width of a terminal.
out = PlainConsole(width=None if sys.stdout.isatty() else 4096)
err = PlainConsole(stderr=True)


def print_report(report: object, *, as_json: bool) -> None:
    """Print a report, a dataclass: its fields one by one, or as one JSON object."""
    values = fields_of(report)
    if as_json:
        print_json(values)
    else:
        shown = {name: value for name, value in values.items() if value is not False}
        print_fields({_label(name): _readable(value, name) for name, value in shown.items()})


def print_fields(values: Mapping[str, str]) -> None:
    """Print labelled texts below each other; an empty one is left out."""
    print_labelled(values.items())


def print_labelled(texts: Iterable[tuple[str, str]]) -> None:
    """Print texts next to their labels, as `print_fields` does; a label may come again."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    for label, value in texts:
        if value:
            grid.add_row(label, Text(value))
    out.print(grid)


def print_text(text: object) -> None:
    """Print one text in one line, which a terminal may fold."""
    out.print(str(text), soft_wrap=True)


def print_json(value: Any) -> None:  # noqa: ANN401 - anything JSON can hold, and dataclasses, dates and paths
    """Print a value as JSON: in one line, or indented on a terminal."""
    out.print_json(json.dumps(value, default=_plain), indent=2 if out.is_terminal else None)


def print_step(label: str, text: object) -> None:
    """Print on stderr that a step of several is done, and what came of it."""
    err.print(f"{label:<11}{text}", soft_wrap=True)


def print_error(message: object, *, is_failure: bool = True) -> None:
    """Print a message on stderr in one line, which a terminal may fold."""
    style = "red" if is_failure else None
    err.print(f"transit-etl: {message}", style=style, soft_wrap=True)


def fields_of(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass
    """Return the fields of a dataclass by name; unlike `asdict` it leaves the values as they are."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _plain(value: object) -> object:
    if is_dataclass(value):
        return fields_of(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _label(name: str) -> str:
    return _LABELS.get(name) or name.removeprefix("n_").removeprefix("is_").replace("_", " ")


def _number(value: float, name: str) -> str:
    if name.endswith("_share"):
        return f"{value:.1%}"
    if name.endswith("seconds"):
        return f"{value:,.1f}"
    return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"


def _readable(value: Any, name: str = "") -> str:  # noqa: ANN401 - any value of a report or a row
    if value is None or value is True:
        return "yes" if value else ""
    if isinstance(value, float):
        return _number(value, name)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_readable(each)}" for key, each in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(str(each) for each in value)
    return str(value)

"""Writes the tables of `docs/lineage.md`, and its drawing, from the models; texts are written in the page."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from textwrap import wrap

from transit_etl.warehouse.dbt_manifest import PROJECT, Manifest, parsed_manifest
from transit_etl.warehouse.models import Described, Model, described_tables, models

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "lineage.md"
DRAWING = ROOT / "docs" / "_static" / "lineage.svg"
STEP = re.compile(r"^## \d+\. (.*)\n(?:(?!^#).*\n)*?<!-- models: (.*) -->", re.MULTILINE)
TABLE = re.compile(r"<!-- (models|readers of|parameters):? ?(.*) -->\n(?:\|.*\n)*<!-- end -->")
PARAMETERS = "inference_parameters"
BOX_WIDTH, BOX_HEIGHT, GAP = 380, 62, 24


@dataclass(frozen=True)
class Step:
    """A step of the way, as the page has it."""

    title: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class Box:
    """A step in the drawing, and its upper left corner."""

    step: Step
    x: int
    y: int


Models = Mapping[str, Model]


def steps(page: str) -> list[Step]:
    """Return the steps of the page: its numbered headings and the models named below them."""
    return [Step(title, tuple(names.split(", "))) for title, names in STEP.findall(page)]


def ancestors(name: str, known: Models) -> set[str]:
    """Return a model and every model that it reads, directly or not."""
    return {name}.union(*(ancestors(read, known) for read in known[name].reads & known.keys()))


def with_tables(page: str, manifest: Manifest) -> str:
    """Return the page with each of its tables written anew."""
    known = models(manifest)
    rows: dict[str, Callable[[str], Iterator[str]]] = {
        "models": lambda names: _model_rows(names.split(", "), known),
        "readers of": lambda name: _reader_rows(name, known),
        "parameters": lambda _: _parameter_rows(described_tables(manifest)),
    }

    def _table(match: re.Match[str]) -> str:
        marker = match[0].splitlines()[0]
        return "\n".join([marker, *rows[match[1]](match[2]), "<!-- end -->"])

    return TABLE.sub(_table, page)


def drawing(way: Sequence[Step], known: Models) -> str:
    """Return the drawing as SVG: a box for each step, below the steps that it reads."""
    edges = _edges(way, known)
    boxes = _boxes(way, edges)
    width = max(box.x for box in boxes) + BOX_WIDTH
    height = max(box.y for box in boxes) + BOX_HEIGHT
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-2 -2 {width + 4} {height + 4}" font-size="12">',
        f'<rect x="-2" y="-2" width="{width + 4}" height="{height + 4}" fill="white"/>',
        '<marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">',
        '<path d="M0,1 L7,4 L0,7" fill="none" stroke="black"/></marker>',
        *(_arrow(boxes[first], boxes[last]) for first, last in sorted(edges)),
        *(line for number, box in enumerate(boxes, start=1) for line in _box(number, box)),
        "</svg>\n",
    ]
    return "\n".join(lines)


def _model_rows(names: Sequence[str], known: Models) -> Iterator[str]:
    yield "| model | what it holds | reads |"
    yield "|---|---|---|"
    for model in (known[name] for name in names):
        reads = ", ".join(f"`{read}`" for read in sorted(model.reads & known.keys()))
        yield f"| `{model.folder / model.name}` | {model.grain} | {reads} |"


def _reader_rows(name: str, known: Models) -> Iterator[str]:
    yield "| model | what it holds |"
    yield "|---|---|"
    for model in known.values():
        if name in model.reads:
            yield f"| `{model.folder / model.name}` | {model.grain} |"


def _parameter_rows(described: Sequence[Described]) -> Iterator[str]:
    """Give the values of the seed, and the meanings that its description gives."""
    [columns] = [each.columns for each in described if each.name == PARAMETERS]
    with (PROJECT / "seeds" / f"{PARAMETERS}.csv").open(encoding="utf-8", newline="") as file:
        values = next(csv.DictReader(file))
    yield "| parameter | value | meaning |"
    yield "|---|---|---|"
    for name, value in values.items():
        yield f"| `{name}` | {value} | {columns[name]['description']} |"


def _edges(way: Sequence[Step], known: Models) -> set[tuple[int, int]]:
    """Return the pairs of steps of which the second reads the first, unless other pairs lead there too."""
    step_of = {name: number for number, step in enumerate(way) for name in step.models}
    edges = {
        (step_of[read], number)
        for name, number in step_of.items()
        for read in known[name].reads & step_of.keys()
        if step_of[read] != number
    }

    def _leads(first: int, last: int) -> bool:
        return first == last or any(start == first and _leads(end, last) for start, end in edges)

    return {
        (first, last)
        for first, last in edges
        if not any(start == first and end != last and _leads(end, last) for start, end in edges)
    }


def _boxes(way: Sequence[Step], edges: set[tuple[int, int]]) -> list[Box]:
    row_of: list[int] = []
    boxes = []
    for number, step in enumerate(way):
        row = 1 + max((row_of[first] for first, last in edges if last == number), default=-1)
        boxes.append(Box(step, row_of.count(row) * (BOX_WIDTH + GAP), row * (BOX_HEIGHT + GAP)))
        row_of.append(row)
    return boxes


def _box(number: int, box: Box) -> Iterator[str]:
    x = box.x + 8
    size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
    yield f'<rect x="{box.x}" y="{box.y}" {size} rx="4" fill="#f4f6f8" stroke="black"/>'
    yield f'<text x="{x}" y="{box.y + 18}" font-family="sans-serif">{number}. {escape(box.step.title)}</text>'
    for line, names in enumerate(wrap(", ".join(box.step.models), 58)):
        y = box.y + 36 + 15 * line
        yield f'<text x="{x}" y="{y}" font-family="monospace" font-size="10">{names}</text>'


def _arrow(first: Box, last: Box) -> str:
    start, end = first.x + BOX_WIDTH // 2, last.x + BOX_WIDTH // 2
    path = f"M{start},{first.y + BOX_HEIGHT} L{end},{last.y}"
    return f'<path d="{path}" stroke="black" marker-end="url(#tip)"/>'


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    read = parsed_manifest()
    PAGE.write_text(with_tables(text, read), encoding="utf-8")
    DRAWING.write_text(drawing(steps(text), models(read)), encoding="utf-8")

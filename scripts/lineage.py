"""Writes the tables of `docs/lineage.md`, and a drawing of each stage, from the models.

The texts are written in the page.
"""

import csv
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten

from transit_etl.warehouse.dbt_manifest import PROJECT, Manifest, parsed_manifest
from transit_etl.warehouse.models import Described, Model, described_tables, models

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "lineage.md"
DRAWINGS = ROOT / "docs" / "_static" / "lineage"
SECTION = re.compile(r"^<!-- stage: (\w+) -->$", re.MULTILINE)
TABLE = re.compile(r"<!-- (stage|parameters):? ?(.*) -->\n(?:\|.*\n)*<!-- end -->")
PARAMETERS = "inference_parameters"
BOX_WIDTH, BOX_HEIGHT, GAP = 226, 44, 20
BOXES_IN_ROW = 4
MOST_WITH_ARROWS = 16  # of more models in a stage the arrows would hide each other
MOST_LETTERS, MOST_SMALL_LETTERS = 29, 42  # that fit into a box
MOST_GRAIN_LETTERS = 195  # that can be read in a cell of a table
MOST_NAMES = 10  # of models that a cell lists

Models = Mapping[str, Model]


@dataclass(frozen=True)
class Box:
    """A model in a drawing, and its upper left corner."""

    model: Model
    x: int
    y: int


def stage_models(stage: str, known: Models) -> list[Model]:
    """Return the models of a stage, each after those of the stage that it reads."""
    own = {name: model for name, model in known.items() if model.folder.as_posix() == stage}
    return sorted(own.values(), key=lambda model: (_level(model, own), model.name))


def depth(name: str, known: Models) -> int:
    """Return how many models the longest way from a model without others before it to this one has."""
    return 1 + max((depth(read, known) for read in known[name].reads & known.keys()), default=0)


def with_tables(page: str, manifest: Manifest) -> str:
    """Return the page with each of its tables written anew."""
    known = models(manifest)
    rows: dict[str, Callable[[str], Iterator[str]]] = {
        "stage": lambda stage: _model_rows(stage_models(stage, known), known),
        "parameters": lambda _: _parameter_rows(described_tables(manifest)),
    }

    def _table(match: re.Match[str]) -> str:
        marker = match[0].splitlines()[0]
        return "\n".join([marker, *rows[match[1]](match[2]), "<!-- end -->"])

    return TABLE.sub(_table, page)


def drawing(stage: str, known: Models) -> str:
    """Return the drawing of a stage as SVG: a box for each model, below those of the stage that it reads.

    A box names the earlier stages that the model reads; in a stage of many models also those of its own,
    instead of arrows.
    """
    boxes = _boxes(stage_models(stage, known))
    width = max(box.x for box in boxes.values()) + BOX_WIDTH
    height = max(box.y for box in boxes.values()) + BOX_HEIGHT
    view = f'viewBox="-2 -2 {width + 4} {height + 4}" width="{width + 4}"'
    has_arrows = len(boxes) <= MOST_WITH_ARROWS
    edges = sorted(_edges(boxes)) if has_arrows else []
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {view} font-size="12">',
        f'<rect x="-2" y="-2" width="{width + 4}" height="{height + 4}" fill="white"/>',
        '<marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto">',
        '<path d="M0,1 L7,4 L0,7" fill="none" stroke="#456"/></marker>',
        *(_arrow(boxes[first], boxes[last]) for first, last in edges),
        *(line for box in boxes.values() for line in _box(box, known, names_own=not has_arrows)),
        "</svg>\n",
    ]
    return "\n".join(lines)


def write() -> None:
    """Write the page and its drawings."""
    text, manifest = PAGE.read_text(encoding="utf-8"), parsed_manifest()
    PAGE.write_text(with_tables(text, manifest), encoding="utf-8")
    DRAWINGS.mkdir(exist_ok=True)
    for stage in SECTION.findall(text):
        (DRAWINGS / f"{stage}.svg").write_text(drawing(stage, models(manifest)), encoding="utf-8")


def _level(model: Model, own: Models) -> int:
    return 1 + max((_level(own[read], own) for read in model.reads & own.keys()), default=0)


def _model_rows(stage: Sequence[Model], known: Models) -> Iterator[str]:
    yield "| model | what it holds | reads |"
    yield "|---|---|---|"
    for model in stage:
        names = [f"`{read}`" for read in sorted(model.reads & known.keys())]
        is_long = len(names) > MOST_NAMES
        reads = f"{len(names)} models, {names[0]} to {names[-1]}" if is_long else ", ".join(names)
        yield f"| `{model.name}` | {shorten(model.grain, MOST_GRAIN_LETTERS, placeholder=' …')} | {reads} |"


def _parameter_rows(described: Sequence[Described]) -> Iterator[str]:
    """Give the values of the seed, and the meanings that its description gives."""
    [columns] = [each.columns for each in described if each.name == PARAMETERS]
    with (PROJECT / "seeds" / f"{PARAMETERS}.csv").open(encoding="utf-8", newline="") as file:
        values = next(csv.DictReader(file))
    yield "| parameter | value | meaning |"
    yield "|---|---|---|"
    for name, value in values.items():
        yield f"| `{name}` | {value} | {columns[name]['description']} |"


def _edges(boxes: Mapping[str, Box]) -> set[tuple[str, str]]:
    """Return the pairs of models of which the second reads the first, unless other pairs lead there too."""
    edges = {(read, name) for name, box in boxes.items() for read in box.model.reads & boxes.keys()}

    def _leads(first: str, last: str) -> bool:
        return first == last or any(start == first and _leads(end, last) for start, end in edges)

    return {
        (first, last)
        for first, last in edges
        if not any(start == first and end != last and _leads(end, last) for start, end in edges)
    }


def _boxes(stage: Sequence[Model]) -> dict[str, Box]:
    """Place the models in rows by level; a level with many models takes several rows."""
    own = {model.name: model for model in stage}
    boxes: dict[str, Box] = {}
    row, column, level_before = 0, 0, 1
    for model in stage:
        level = _level(model, own)
        if level != level_before or column == BOXES_IN_ROW:
            row, column, level_before = row + 1, 0, level
        boxes[model.name] = Box(model, column * (BOX_WIDTH + GAP), row * (BOX_HEIGHT + GAP))
        column += 1
    return boxes


def _box(box: Box, known: Models, *, names_own: bool) -> Iterator[str]:
    x, stage = box.x + 8, box.model.folder
    size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
    read = [known[name] for name in sorted(box.model.reads & known.keys())]
    own = [each.name for each in read if each.folder == stage] if names_own else []
    earlier = sorted({each.folder.as_posix() for each in read} - {stage.as_posix()})
    name = box.model.name
    letters = 12 if len(name) <= MOST_LETTERS else 9
    yield f'<rect x="{box.x}" y="{box.y}" {size} rx="4" fill="#f4f6f8" stroke="#456"/>'
    yield (f'<text x="{x}" y="{box.y + 18}" font-family="monospace" font-size="{letters}">{name}</text>')
    names = shorten(", ".join([*own, *earlier]), MOST_SMALL_LETTERS, placeholder=" …")
    yield (
        f'<text x="{x}" y="{box.y + 35}" font-family="sans-serif" font-size="10" fill="#456">{names}</text>'
    )


def _arrow(first: Box, last: Box) -> str:
    start, end = first.x + BOX_WIDTH // 2, last.x + BOX_WIDTH // 2
    path = f"M{start},{first.y + BOX_HEIGHT} L{end},{last.y}"
    return f'<path d="{path}" stroke="#456" marker-end="url(#tip)"/>'


if __name__ == "__main__":
    write()

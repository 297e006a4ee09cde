"""Prints how large the project is: what is written, computed, published, documented and set.

python -m scripts.size

One line each: a name and a number. Lines are those that git tracks. Sentences are those of the documents,
without code and tables.
"""

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from statistics import quantiles

from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.contract_summary import promised_columns
from transit_etl.warehouse.describing.dbt_manifest import Manifest, is_demanded_at_once, parsed_manifest
from transit_etl.warehouse.describing.models import Model, models

ROOT = Path(__file__).parents[1]
PACKAGES = (
    "transit_base",
    "transit_etl",
    "transit_estimates",
    "transit_exports",
    "transit_reports",
    "transit_airflow",
)
GENERATED = ("docs/contract.yaml",)
LAST = "trip_trajectories"


def main() -> None:
    """Print every figure."""
    for name, figure in figures(parsed_manifest()):
        print(f"{name:<64}{figure:>9,}")  # noqa: T201 - a program that prints


def figures(manifest: Manifest) -> Iterator[tuple[str, int]]:
    """Yield each figure with its name."""
    nodes = [*manifest["nodes"].values()]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    known = models(manifest)
    depths = _depths(known)
    columns = promised_columns(ROOT / "docs" / "contract.yaml")
    for folder in PACKAGES:
        yield f"lines of Python: {folder}", _lines(f"{folder}/*.py")
    yield "lines of Python: transit_emulator", _lines("transit_emulator/*.py")
    yield "lines of Python: tests", _lines("tests/*.py")
    yield "lines of Python: scripts and benchmarks", _lines("scripts/*.py", "benchmarks/*.py")
    yield "lines of SQL: models", _lines("sql/models/*.sql")
    yield "lines of SQL: macros and functions", _lines("sql/macros/*.sql", "sql/engines/*.sql")
    yield "lines of YAML: models and seeds", _lines("sql/models/*.yml", "sql/seeds/*.yml")
    yield "lines that are generated", _lines(*GENERATED)
    yield "lines that git tracks, locks left out", _lines("*") - _lines("*.lock")
    yield "models", len(known)
    yield "models on the longest path", max(depths.values())
    yield f"models on the longest path to {LAST}", depths[LAST]
    yield "nodes of a build", sum(map(_is_run, nodes))
    yield "tables and views promised", len({(column.schema, column.table) for column in columns})
    yield "columns promised", len(columns)
    yield "parameters: planner", sum(len(fields(getattr(DEFAULTS, group.name))) for group in fields(DEFAULTS))
    yield "parameters: inference", len(_columns(manifest, "inference_parameters"))
    yield "parameters: rulesets", len(_columns(manifest, "rulesets"))
    yield "parameters: settings", len(Settings.model_fields)
    yield "functions that are given all settings", sum(_takes_settings(path) for path in _code())
    contracts = settings["tool"]["importlinter"]["contracts"]
    yield "exceptions of the import rules", sum(len(each.get("ignore_imports", ())) for each in contracts)
    texts = [path.read_text(encoding="utf-8") for path in _documents()]
    yield "words of the documents", sum(len(text.split()) for text in texts)
    yield "words of the README", len((ROOT / "README.md").read_text(encoding="utf-8").split())
    lengths = [len(sentence.split()) for text in texts for sentence in _sentences(text)]
    yield "words of a sentence, p90", round(quantiles(lengths, n=10)[-1])


@cache
def _tracked(pattern: str) -> list[Path]:
    command = ["git", "-C", str(ROOT), "ls-files", pattern]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.splitlines()]


def _lines(*patterns: str) -> int:
    paths = {path for pattern in patterns for path in _tracked(pattern)}
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _code() -> Iterator[Path]:
    return (path for folder in PACKAGES for path in _tracked(f"{folder}/*.py"))


def _documents() -> list[Path]:
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *_tracked("docs/*.md")]


def _sentences(text: str) -> Iterator[str]:
    without_code = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    prose = re.sub(r"^[|#].*$", "", without_code, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=- |\d+\. )", prose):
        yield from (each for each in re.split(r"(?<=[.:?!])\s+", paragraph) if each.strip())


def _takes_settings(path: Path) -> int:
    functions = (
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return sum(
        any(
            argument.annotation and ast.unparse(argument.annotation).strip("\"'") == "Settings"
            for argument in (*node.args.args, *node.args.kwonlyargs)
        )
        for node in functions
    )


def _columns(manifest: Manifest, name: str) -> list[str]:
    return [
        column for node in manifest["nodes"].values() if node["name"] == name for column in node["columns"]
    ]


def _is_run(node: Manifest) -> bool:
    is_ephemeral = node["config"].get("materialized") == "ephemeral"
    return (
        node["resource_type"] in ("model", "seed", "test")
        and not is_ephemeral
        and not is_demanded_at_once(node)
    )


def _depths(known: Mapping[str, Model]) -> dict[str, int]:
    """Return of each model how many models the longest path to it has."""

    @cache
    def _of(name: str) -> int:
        return 1 + max((_of(read) for read in known[name].reads & known.keys()), default=0)

    return {name: _of(name) for name in known}


if __name__ == "__main__":
    main()

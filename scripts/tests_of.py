"""Lists the test files that cover a folder of the project, by what they import and name.

    python -m scripts.tests_of [FOLDER…]

A test file covers the packages that it imports from, the folders that it names by their path, and of the
tables that it names the stage of the model and all stages before. What helpers in `tests` import and name
counts for the tests that import them, and what `conftest.py` does for the tests of its folder. Without a
folder, one line for each says how many test files cover it; else these are listed, for `pytest` to run.
"""

import ast
import re
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from transit_etl.warehouse.describing.models import stages

ROOT = Path(__file__).parents[1]
_PLAIN = ("benchmarks", "dags", "deploy", "docs", "expectations", "scripts", "sql", "sql/analyses")
_TABLE = re.compile(r"\b(?:staging|intermediate|core|marts|quality|headline)\.([a-z]\w+)")
_SHARED = "transit_etl"  # settings, paths, clock: tests import them whatever they test


@cache
def folders() -> tuple[str, ...]:
    """List the packages, the models of each stage, and the other folders that tests are about."""
    packages = [path.parent for path in ROOT.glob("transit_*/**/__init__.py")]
    models = {f"sql/models/{stage}" for stage in stages()}
    return tuple(sorted({path.relative_to(ROOT).as_posix() for path in packages} | models | {*_PLAIN}))


def test_files() -> list[Path]:
    """List the test files, as paths below the project."""
    return sorted(path.relative_to(ROOT) for path in (ROOT / "tests").rglob("test_*.py"))


@cache
def covered_by(test: Path) -> frozenset[str]:
    """Return the folders that a test file covers."""
    found: set[str] = set()
    fixtures = [folder / "conftest.py" for folder in test.parents[:-2]]
    ahead = [test, *(path for path in fixtures if (ROOT / path).is_file())]
    seen = {*ahead}
    while ahead:
        file = ahead.pop()
        found |= _named_in(file)
        for module in _imported(file):
            if module.parts[0] == "tests" and module not in seen:
                seen.add(module)
                ahead.append(module)
            found.add(module.parent.as_posix())
    if test.parent != Path("tests"):
        found.discard(_SHARED)
    return frozenset(found & {*folders()})


def covering(folder: str) -> list[Path]:
    """Return the test files that cover a folder, or one below it."""
    below = {each for each in folders() if each == folder or each.startswith(f"{folder}/")}
    return [test for test in test_files() if below & covered_by(test)]


@cache
def _imported(file: Path) -> list[Path]:
    """Return the files of the project that a file imports; of a package its `__init__.py`."""
    names: list[str] = []
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.Import):
            names += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{name.name}" for name in node.names]
    return [file for file in map(_file_of, names) if file]


@cache
def _file_of(name: str) -> Path | None:
    """Return the file of a module, or of the module that has an object of this name; None for a library's."""
    while name:
        path = Path(*name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if (ROOT / file).is_file():
                return file
        name = name.rpartition(".")[0]
    return None


@cache
def _named_in(file: Path) -> set[str]:
    """Return the folders that are named by a text, by a path put together of texts, or as a package."""
    texts = {
        node.value.rstrip("/")
        for node in ast.walk(_tree(file))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    paths = {"/".join(_parts(node)) for node in ast.walk(_tree(file)) if isinstance(node, ast.BinOp)}
    models = {stage for text in texts for table in _TABLE.findall(text) for stage in _stages_of(table)}
    named = {folder.as_posix() for text in texts | paths for folder in (Path(text), *Path(text).parents)}
    packages = {text.replace(".", "/") for text in texts if text.startswith("transit_")}
    return named | models | packages


@cache
def _stages_of(table: str) -> list[str]:
    """Return the folder of the model that makes a table, and those before it; none for any other table."""
    files = [file for name in (table, f"staging_{table}") for file in ROOT.glob(f"sql/models/*/{name}.sql")]
    last = max((stages().index(file.parent.name) for file in files), default=-1)
    return [f"sql/models/{stage}" for stage in stages()[: last + 1]]


def _parts(node: ast.expr) -> list[str]:
    """Return the texts of a path: `ROOT / "deploy" / "systemd"`, `part_of_project("sql") / "analyses"`."""
    if isinstance(node, ast.Call) and len(node.args) == 1:
        return _parts(node.args[0])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return [*_parts(node.left), *_parts(node.right)]
    return [node.value] if isinstance(node, ast.Constant) and isinstance(node.value, str) else []


@cache
def _tree(file: Path) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def main(arguments: Sequence[str]) -> None:
    """Print the test files of folders, or how many each folder has."""
    if arguments:
        lines = sorted({str(test) for folder in arguments for test in covering(folder.rstrip("/"))})
    else:
        lines = [
            f"{sum(folder in covered_by(test) for test in test_files()):4}  {folder}" for folder in folders()
        ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main(sys.argv[1:])

"""Reads what the dbt project says of its models: what each holds and reads, what its columns mean."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from transit_etl import paths

PROJECT = paths.part_of_project("sql")
_REF = re.compile(r"""(?:ref|built)\(["'](\w+)["']\)|source\(["']\w+["'], ["'](\w+)["']\)""")
_MACRO = re.compile(r"\{% macro (\w+)\(.*?\{%-? endmacro %\}", re.DOTALL)
_DOC = re.compile(r"\{\{ doc\('(\w+)'\) \}\}")
_DOCS = re.compile(r"\{% docs (\w+) %\}(.*?)\{% enddocs %\}", re.DOTALL)


@dataclass(frozen=True)
class Model:
    """A model: its folder below `sql/models`, the first sentence of its file, and the tables it reads."""

    name: str
    folder: Path
    grain: str
    reads: frozenset[str]


@dataclass(frozen=True)
class Described:
    """A table as the yml files describe it: its schema, and the entries of its columns by name.

    `key` names the columns that identify a row, `values` the values that its checks allow in a column.
    """

    schema: str
    name: str
    description: str
    meta: Mapping[str, str]
    columns: Mapping[str, Mapping[str, Any]]
    key: str
    values: Mapping[str, str]


def models() -> dict[str, Model]:
    """Read every model of the dbt project, with what it reads itself or through a macro."""
    by_macro = {
        macro[1]: _references(macro[0])
        for path in sorted((PROJECT / "macros").glob("*.sql"))
        for macro in _MACRO.finditer(path.read_text(encoding="utf-8"))
    }
    return {path.stem: _model(path, by_macro) for path in sorted((PROJECT / "models").rglob("*.sql"))}


def _model(path: Path, by_macro: Mapping[str, Sequence[str]]) -> Model:
    text = path.read_text(encoding="utf-8")
    comment = re.search(r"^(?:-- .*\n)+", text, re.MULTILINE)
    words = " ".join(line.removeprefix("-- ") for line in comment[0].splitlines()) if comment else ""
    grain = re.split(r"(?<=\.) ", words)[0]
    called = re.findall(r"\b(\w+)\(", text)
    reads = {*_references(text), *(read for macro in called for read in by_macro.get(macro, ()))}
    return Model(path.stem, path.parent.relative_to(PROJECT / "models"), grain, frozenset(reads))


def _references(text: str) -> list[str]:
    return [model or source for model, source in _REF.findall(text)]


def described_tables() -> list[Described]:
    """Read the descriptions of all models, seeds and other tables, in the order of the files."""
    docs = dict(_DOCS.findall((PROJECT / "models" / "dictionary.md").read_text(encoding="utf-8")))
    found: list[Described] = []
    paths_found = [*(PROJECT / "models").rglob("*.yml"), *(PROJECT / "seeds").glob("*.yml")]
    for path in sorted(each for each in paths_found if not each.stem.endswith("tests")):
        content = read_yaml(path)
        folder = path.parent.relative_to(PROJECT).parts
        schema = folder[1] if len(folder) > 1 else "core"
        found.extend(_described(each, schema, docs) for each in _tables_in(content))
    return found


def read_yaml(path: Path) -> Any:  # noqa: ANN401 - what such a file may hold
    """Read a yml file of the project."""
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _tables_in(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from content.get("models", ())
    for seed in content.get("seeds", ()):
        yield {**seed, "config": {**seed.get("config", {}), "meta": {"source": "setting"}}}
    for source in content.get("sources", ()):
        for table in source["tables"]:
            yield {**table, "config": {**table.get("config", {}), "schema": source["schema"]}}


def _described(table: Mapping[str, Any], schema: str, docs: Mapping[str, str]) -> Described:
    config = table.get("config", {})
    checks = [check for check in table.get("data_tests", ()) if isinstance(check, dict)]
    return Described(
        schema=config.get("schema", schema),
        name=table["name"].removeprefix("staging_"),
        description=table["description"].strip(),
        meta=config.get("meta", {}),
        columns={
            column["name"]: {**column, "description": _text(column["description"], docs)}
            for column in table.get("columns", ())
        },
        key=next(_keys(checks), config.get("meta", {}).get("key", "")),
        values=dict(_known_values(checks)),
    )


def _text(description: str, docs: Mapping[str, str]) -> str:
    return _DOC.sub(lambda found: docs[found[1]], description)


def _keys(checks: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the key that each check `grain` names."""
    return (", ".join(check["grain"]["arguments"]["columns"]) for check in checks if "grain" in check)


def _known_values(checks: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the column and the values of each rule `known values of …`."""
    for check in checks:
        for name, rule in check.get("holds", {}).get("arguments", {}).get("rules", {}).items():
            column = name.removeprefix("known values of ")
            if column != name and (listed := re.search(rf"\b{column} in \((.*?)\)", rule)):
                yield column, listed[1].replace("'", "")

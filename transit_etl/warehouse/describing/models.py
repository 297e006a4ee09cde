"""Says what the dbt project says of its models: what each holds and reads, what its columns mean."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from transit_etl.warehouse.describing.dbt_manifest import PROJECT, Manifest

_TABLES = ("model", "seed", "source")  # the types of dbt's resources that are tables or views


@dataclass(frozen=True)
class Model:
    """A model: its schema and its folder, the first sentence of its file, and the tables it reads."""

    name: str
    schema: str
    folder: Path
    grain: str
    reads: frozenset[str]


@dataclass(frozen=True, slots=True)
class Deprecation:
    """Since when a table or column is deprecated, and what replaces it: `deprecated` in its meta."""

    since: date
    replaced_by: str

    def __str__(self) -> str:
        return f"Deprecated since {self.since}: use {self.replaced_by}."


@dataclass(frozen=True)
class Described:
    """A table as the yml files describe it: its schema, and the entries of its columns by name.

    `key` names the columns that identify a row, of which those in `nullable_key` may be null; `never_null`
    those of any key that may not. `values` are what its checks allow in a column, `null` among them, and
    `rules` what they demand of each row, by name.
    """

    schema: str
    name: str
    description: str
    meta: Mapping[str, Any]
    columns: Mapping[str, Mapping[str, Any]]
    key: str
    values: Mapping[str, str]
    nullable_key: frozenset[str] = frozenset()
    never_null: frozenset[str] = frozenset()
    rules: Mapping[str, str] = field(default_factory=dict)

    @property
    def deprecation(self) -> Deprecation | None:
        """What says that the table is deprecated."""
        return _deprecation(self.meta)

    @property
    def deprecations(self) -> dict[str, Deprecation]:
        """What says that columns are deprecated, by their names."""
        found = {
            name: _deprecation(entry.get("config", {}).get("meta", {}))
            for name, entry in self.columns.items()
        }
        return {name: each for name, each in found.items() if each}


@dataclass(frozen=True, slots=True)
class DatedBy:
    """The date of a table's rows: a build replaces those of its service dates and of as many days around."""

    column: str
    days_around: int


def stages() -> list[str]:
    """Return the folders of models in the order in which they are computed (`dbt_project.yml`)."""
    project = yaml.load((PROJECT / "dbt_project.yml").read_bytes(), Loader=yaml.CSafeLoader)
    return [str(stage) for stage in project["vars"]["stages"]]


def models(manifest: Manifest) -> dict[str, Model]:
    """Return every model, in the order of the files, with what it reads itself or through a macro."""
    nodes = sorted(_resources(manifest, "model"), key=lambda node: Path(node["path"]))
    return {node["name"]: _model(node, manifest) for node in nodes}


def described_tables(manifest: Manifest) -> list[Described]:
    """Return the descriptions of all models, seeds and other tables."""
    checks = defaultdict(list)
    for check in _resources(manifest, "test"):
        if check.get("test_metadata"):
            checks[check["attached_node"]].append(check["test_metadata"])
    return [_described(table, checks[table["unique_id"]]) for table in _resources(manifest, *_TABLES)]


def tables_by_date(manifest: Manifest) -> dict[tuple[str, str], DatedBy]:
    """Return the tables of which a run of dbt replaces some dates; the others it replaces whole."""
    return {
        (config["schema"], node["alias"]): DatedBy(
            config["meta"].get("date_column", "service_date"), config["meta"].get("days_around", 0)
        )
        for node in _resources(manifest, "model")
        if (config := node["config"])["materialized"] == "incremental"
        and config["incremental_strategy"] == "service_dates"
    }


def _resources(manifest: Manifest, *types: str) -> Iterator[Mapping[str, Any]]:
    every = (*manifest["nodes"].values(), *manifest["sources"].values())
    return (each for each in every if each["resource_type"] in types)


def _model(node: Mapping[str, Any], manifest: Manifest) -> Model:
    known = {**manifest["nodes"], **manifest["sources"]}
    reads = frozenset(known[each]["name"] for each in node["depends_on"]["nodes"])
    schema: str = node["config"]["schema"]
    return Model(node["name"], schema, Path(node["path"]).parent, _grain(node["raw_code"]), reads)


def _grain(sql: str) -> str:
    """Return the first sentence of the comment at the head of a model, or below its configuration."""
    comment = re.search(r"^(?:-- .*\n)+", sql, re.MULTILINE)
    words = " ".join(line.removeprefix("-- ") for line in comment[0].splitlines()) if comment else ""
    return re.split(r"(?<=\.) ", words)[0]


def _described(table: Mapping[str, Any], checks: list[Mapping[str, Any]]) -> Described:
    is_seed = table["resource_type"] == "seed"
    meta = {"source": "setting"} if is_seed else table["config"].get("meta", {})
    return Described(
        schema=table["config"].get("schema") or table["schema"],
        name=table["name"].removeprefix("staging_"),
        description=table["description"].strip(),
        meta=meta,
        columns=table["columns"],
        key=next(_keys(checks), meta.get("key", "")),
        values=dict(_known_values(checks)),
        nullable_key=frozenset(_of_keys(checks, "may_be_null")),
        never_null=frozenset(_of_keys(checks, "columns")) - {*_of_keys(checks, "may_be_null")},
        rules={name: rule for check in checks for name, rule in check["kwargs"].get("rules", {}).items()},
    )


def _deprecation(meta: Mapping[str, Any]) -> Deprecation | None:
    entry = meta.get("deprecated")
    return Deprecation(date.fromisoformat(str(entry["since"])), entry["replaced_by"]) if entry else None


def _keys(checks: list[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the key that each check `grain` names."""
    return (", ".join(check["kwargs"]["columns"]) for check in checks if check["name"] == "grain")


def _of_keys(checks: list[Mapping[str, Any]], argument: str) -> Iterator[str]:
    """Yield the columns that an argument of each check `grain` names."""
    return (
        column for check in checks if check["name"] == "grain" for column in check["kwargs"].get(argument, ())
    )


def _known_values(checks: list[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield the column and the values of each rule `known values of …`."""
    for check in checks:
        for name, rule in check["kwargs"].get("rules", {}).items():
            column = name.removeprefix("known values of ")
            if column != name and (listed := re.search(rf"\b{column} in \((.*?)\)", rule)):
                or_null = ", null" if rule.startswith("coalesce(") else ""
                yield column, listed[1].replace("'", "") + or_null

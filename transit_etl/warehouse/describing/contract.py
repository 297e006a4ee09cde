"""Writes the data contract of the published file (Open Data Contract Standard 3.1), one document per schema.

A document names one schema of one database, as the standard has it. It promises what the models say: tables,
columns, types and units; and what each build checks: the keys, values and rules on rows that checks of dbt
demand, and the rules of single columns (`column_rules`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from transit_base import promised
from transit_base.errors import MISSHAPEN, first_line
from transit_etl.settings import BuildSettings
from transit_etl.warehouse.database import WarehouseError
from transit_etl.warehouse.describing.column_rules import ColumnRules, column_rules
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.dictionary import ColumnEntry, Dictionary, TableEntry
from transit_etl.warehouse.describing.dictionary_files import replace_pages
from transit_etl.warehouse.describing.models import Deprecation, Described, described_tables

CONTRACT_VERSION = "5.0.0"  # docs/contract.md says which change of a table needs which change of it
DEPRECATION_DAYS = 180
ENDING = ".odcs.yaml"
Contract = dict[str, Any]  # as the standard's JSON schema describes it

_PURPOSES = {
    "core": "What was asked and seen: requests, network, timetables, visits, trips, disruptions, news.",
    "marts": "Counts and sums by line, stop and hour, and the shares and waits made of them.",
    "quality": "What the file is, what it was built from, and what was odd in the answers.",
    "headline": "One view for each question: a figure, its interval, and a sentence to cite.",
}
_LOGICAL_TYPES = {
    "varchar": "string", "uuid": "string", "bigint": "integer", "integer": "integer",
    "double": "number", "decimal": "number", "boolean": "boolean", "date": "date", "timestamp": "timestamp",
    "time": "time",
}  # fmt: skip
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_KNOWN_VALUES = "known values of "  # begins the name of a rule that `Described.values` has


class ContractError(WarehouseError):
    """A data contract cannot be read; the message names the file or folder."""


def contracts(dictionary: Dictionary, manifest: Manifest, settings: BuildSettings) -> dict[str, Contract]:
    """Return the contract of each promised schema, by its name."""
    described = {(each.schema, each.name): each for each in described_tables(manifest)}
    return {schema: _contract(schema, dictionary, described, settings) for schema in promised.SCHEMAS}


def write_contract(folder: Path, documents: Mapping[str, Contract]) -> None:
    """Write a file for each schema into a folder, which is replaced in one step, if any differs."""
    replace_pages(folder, {f"{schema}{ENDING}": _as_yaml(document) for schema, document in documents.items()})


def read_contract(folder: Path) -> dict[str, Contract]:
    """Read the files that `write_contract` wrote, by schema; ContractError if there are none, or others."""
    found = {path.name.removesuffix(ENDING): path for path in sorted(folder.glob(f"*{ENDING}"))}
    if not found:
        raise ContractError(f"there is no data contract in {folder}: `transit-etl publish` writes one")
    return {schema: _read(path) for schema, path in found.items()}


def _read(path: Path) -> Contract:
    try:
        document: Contract = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        if not _VERSION.fullmatch(document["version"]):
            raise ContractError(f"{path} is no data contract: its version is not three numbers")
        [each["name"] for table in document["schema"] for each in (table, *table["properties"])]
    except (*MISSHAPEN, yaml.YAMLError) as error:
        raise ContractError(f"{path} is no data contract: {first_line(error)}") from error
    return document


def _as_yaml(document: Contract) -> bytes:
    text: str = yaml.dump(document, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True, width=120)
    return text.encode()


def _contract(
    schema: str,
    dictionary: Dictionary,
    described: Mapping[tuple[str, str], Described],
    settings: BuildSettings,
) -> Contract:
    tables = [each for each in dictionary.tables if each.schema_name == schema]
    document: Contract = {
        "apiVersion": "v3.1.0",
        "kind": "DataContract",
        "id": f"transit-etl-{schema}",
        "name": f"transit-etl: schema {schema}",
        "version": CONTRACT_VERSION,
        "status": "active",
        "domain": "public transport",
        "dataProduct": "transit-etl",
        "description": {
            "purpose": _PURPOSES[schema],
            "usage": "Open it read-only with DuckDB 1.4 or later. A publication replaces it in one step.",
            "limitations": "Instants are UTC. A figure of which too little is known is null, with a reason.",
        },
        "servers": [
            {
                "server": "published",
                "type": "duckdb",
                "description": "The published file, with the folder `detail` beside it where it has one.",
                "database": "warehouse.duckdb",
                "schema": schema,
            }
        ],
        "schema": [
            _table(table, [*dictionary.columns_of(table)], described.get((schema, table.table_name)))
            for table in tables
        ],
        "slaProperties": [*_service_levels(schema, settings)],
        "customProperties": [
            {
                "property": "compatibility",
                "value": "additive",
                "description": "Within a major version tables and columns are only added.",
            },
            {
                "property": "deprecationDays",
                "value": DEPRECATION_DAYS,
                "description": "So long at least a table or column stays after it was declared deprecated.",
            },
        ],
    }
    if settings.publisher_contact:
        document["support"] = [_support(settings.publisher_contact)]
    return document


def _support(contact: str) -> dict[str, str]:
    is_address = "@" in contact and "://" not in contact
    return {
        "channel": "publisher",
        "url": f"mailto:{contact}" if is_address else contact,
        "tool": "email" if is_address else "other",
        "scope": "interactive",
    }


def _service_levels(schema: str, settings: BuildSettings) -> Iterator[dict[str, Any]]:
    """Yield how old the file may become, and how long what it holds is kept."""
    freshness: dict[str, Any] = {
        "property": "freshness",
        "value": settings.check_published_hours,
        "unit": "h",
        "description": "An older publication is reported (TRANSIT_CHECK_PUBLISHED_HOURS).",
    }
    if schema == "quality":  # a document can point at its own tables alone
        freshness["element"] = "publication.published_at"
    yield freshness
    yield {
        "property": "retention",
        "value": "unlimited",
        "description": "Rows of past service dates stay in the file.",
    }
    yield {
        "property": "retention",
        "value": settings.raw_keep_days or "unlimited",
        **({"unit": "d"} if settings.raw_keep_days else {}),
        "description": (
            "The answers that rows were made of stay in the data folder (TRANSIT_RAW_KEEP_DAYS), and then in "
            "the backup."
        ),
    }


def _table(table: TableEntry, columns: Sequence[ColumnEntry], described: Described | None) -> dict[str, Any]:
    nullable = described.nullable_key if described else frozenset()
    checked = nullable | described.never_null if described else nullable
    named = table.key_columns.split(", ")
    key = named if checked.issuperset(named) else []  # the dictionary says others too
    quality = [*_rules(described)] if described else []
    if set(key) & set(nullable):  # a primary key of the standard has no null
        quality.insert(
            0,
            {
                "type": "library",
                "metric": "duplicateValues",
                "arguments": {"properties": key},
                "mustBe": 0,
                "description": "These columns together identify a row; some of them may be null.",
            },
        )
        primary = []
    else:
        primary = key
    return {
        "name": table.table_name,
        "physicalName": table.table_name,
        "logicalType": "object",
        "description": table.meaning,
        **_deprecated(described.deprecation if described else None),
        "properties": [_column(column, primary, described) for column in columns],
        **({"quality": quality} if quality else {}),
    }


def _column(column: ColumnEntry, primary: Sequence[str], described: Described | None) -> dict[str, Any]:
    name = column.column_name
    base, is_list = column.type.removesuffix("[]"), column.type.endswith("[]")
    logical = _LOGICAL_TYPES[base.partition("(")[0]]
    rules = column_rules(column)
    entry: dict[str, Any] = {"name": name, "logicalType": "array" if is_list else logical}
    if is_list:
        entry["items"] = {"logicalType": logical, "physicalType": base}
    elif options := _bounds(rules, logical):
        entry["logicalTypeOptions"] = options
    entry |= {"physicalType": column.type, "description": column.meaning}
    if name in primary:
        entry |= {"primaryKey": True, "primaryKeyPosition": primary.index(name) + 1}
    if rules.is_never_null or (described and name in described.never_null):
        entry["required"] = True
    if column.example and not is_list:
        entry["examples"] = [column.example]
    if described and (values := described.values.get(name)):
        entry["quality"] = [
            {
                "type": "library",
                "metric": "invalidValues",
                "arguments": {"validValues": values.removesuffix(", null").split(", ")},
                "mustBe": 0,
            }
        ]
    facts = {"unit": column.unit, "source": column.source, "allowedValues": column.allowed_values}
    properties = [{"property": fact, "value": value} for fact, value in facts.items() if value]
    deprecation = described.deprecations.get(name) if described else None
    return entry | _deprecated(deprecation, properties)


def _bounds(rules: ColumnRules, logical: str) -> dict[str, float]:
    number = int if logical == "integer" else float
    limits = {"minimum": rules.minimum, "maximum": rules.maximum}
    return {name: number(limit) for name, limit in limits.items() if limit is not None}


def _rules(described: Described) -> Iterator[dict[str, Any]]:
    """Yield the rules on rows that checks hold and that are plain SQL; those of known values are columns'."""
    for name, rule in described.rules.items():
        if not name.startswith(_KNOWN_VALUES) and "{{" not in rule:
            yield {
                "type": "sql",
                "description": name,
                "query": f"select count(*) from ${{table}} where not coalesce({rule}, false)",
                "mustBe": 0,
            }


def _deprecated(
    deprecation: Deprecation | None, properties: Sequence[Mapping[str, str]] = ()
) -> dict[str, Any]:
    """Return the custom properties of a table or column, with since when it is deprecated, and by what."""
    every = [*properties]
    if deprecation:
        every += [
            {"property": "deprecatedSince", "value": deprecation.since.isoformat()},
            {"property": "replacedBy", "value": deprecation.replaced_by},
        ]
    return {
        **({"tags": ["deprecated"]} if deprecation else {}),
        **({"customProperties": every} if every else {}),
    }

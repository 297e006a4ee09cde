"""Keeps what a data contract promises of each column in one line, to compare later contracts with."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from transit_base.errors import MISSHAPEN, first_line
from transit_base.files import write_text
from transit_etl.warehouse.describing.contract import Contract, ContractError, read_contract
from transit_etl.warehouse.describing.contract_changes import facts_of, version_of, version_text
from transit_etl.warehouse.describing.dictionary import FoundColumn

_FIELDS = ("physicalType", "primaryKeyPosition", "required")
_FACTS = ("unit", "deprecatedSince", "replacedBy")
_VERSION = "version"


def write_summary(path: Path, contracts: Mapping[str, Contract]) -> None:
    """Write the version, and a line for each promised column and each deprecated table, as YAML."""
    lines = [f"{_VERSION}: {version_text(version_of(contracts))}"]
    for schema, document in contracts.items():
        for table in document["schema"]:
            place = f"{schema}.{table['name']}"
            if "deprecatedSince" in facts_of(table):
                lines.append(f"{place}: {_line(table)}")
            lines += [f"{place}.{column['name']}: {_line(column)}" for column in table["properties"]]
    write_text(path, "\n".join(lines) + "\n")


def read_earlier(path: Path) -> dict[str, Contract]:
    """Read a folder of contracts, or the file that `write_summary` wrote: contracts of these facts alone.

    Raises ContractError, which names the path, if it is neither.
    """
    if not path.is_file():
        return read_contract(path)
    try:
        lines = yaml.load(path.read_bytes(), Loader=yaml.CSafeLoader)
        version = str(lines.pop(_VERSION))
        found: dict[str, Contract] = {}
        for place, facts in lines.items():
            schema, name, *column = place.split(".")
            document = found.setdefault(schema, {"version": version, "schema": []})
            if not document["schema"] or document["schema"][-1]["name"] != name:
                document["schema"].append({"name": name, "properties": []})
            table = document["schema"][-1]
            if column:
                table["properties"].append({"name": column[0], **_entry(facts)})
            else:
                table |= _entry(facts)
        version_of(found)
    except (*MISSHAPEN, yaml.YAMLError) as error:
        raise ContractError(f"{path} is no summary of a data contract: {first_line(error)}") from error
    return found


def promised_columns(path: Path) -> list[FoundColumn]:
    """List the columns that a summary promises; ContractError if it is none."""
    return [
        FoundColumn(schema, table["name"], column["name"], column["physicalType"], number)
        for schema, document in read_earlier(path).items()
        for table in document["schema"]
        for number, column in enumerate(table["properties"], 1)
    ]


def _line(entry: Mapping[str, Any]) -> str:
    facts = {name: value for name, value in facts_of(entry).items() if name in _FACTS}
    said = {name: entry[name] for name in _FIELDS if name in entry} | facts
    flow = yaml.dump(said, Dumper=yaml.CSafeDumper, sort_keys=False, default_flow_style=True, width=1000)
    return str(flow).strip()


def _entry(facts: Mapping[str, Any]) -> dict[str, Any]:
    entry = {name: facts[name] for name in _FIELDS if name in facts}
    if "primaryKeyPosition" in entry:
        entry["primaryKey"] = True
    properties = [{"property": name, "value": facts[name]} for name in _FACTS if name in facts]
    return {**entry, "customProperties": properties}

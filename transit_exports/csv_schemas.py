"""Writes beside each CSV what its columns are: a Table Schema (frictionless) and CSV on the Web metadata."""

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transit_base.files import write_text
from transit_exports.parts import Part
from transit_exports.source import Column, Source, Table
from transit_exports.types import type_names

PACKAGE = "datapackage.json"


def with_schemas(csv_parts: Sequence[tuple[Table, Part]]) -> list[Part]:
    """Return the parts of CSV files with those of their schemas, and a descriptor of them all."""
    parts = []
    for table, part in csv_parts:
        parts.append(part)
        for suffix, describe in ((".schema.json", _table_schema), ("-metadata.json", _csvw)):
            stem = part.path.removesuffix(".csv") if suffix == ".schema.json" else part.path
            write = partial(_write, describe(table, Path(part.path).name))
            parts.append(Part(f"{stem}{suffix}", "", write, part.month))
    tables = {table.place: table for table, _ in csv_parts}
    files = {place: [part.path for table, part in csv_parts if table.place == place] for place in tables}
    resources = [_resource(table, files[place]) for place, table in tables.items()]
    return [*parts, Part(PACKAGE, "", partial(_write_package, resources))]


def _table_schema(table: Table, _file: str) -> dict[str, Any]:
    return {
        "fields": [_field(column) for column in table.columns],
        **({"primaryKey": list(table.key)} if table.key else {}),
        "missingValues": [""],
    }


def _field(column: Column) -> dict[str, str]:
    unit = {"unit": column.unit} if column.unit else {}
    return {
        "name": column.name,
        "type": type_names(column).table_schema,
        "description": column.meaning,
        **unit,
    }


def _csvw(table: Table, file: str) -> dict[str, Any]:
    return {
        "@context": ["http://www.w3.org/ns/csvw", {"@language": "en"}],
        "url": file,
        "dc:title": table.title,
        "dc:description": table.meaning,
        "dialect": {"lineTerminators": ["\r\n"], "encoding": "utf-8", "header": True},
        "tableSchema": {
            "columns": [
                {
                    "name": column.name,
                    "titles": column.name,
                    "datatype": type_names(column).csvw,
                    "dc:description": column.meaning,
                    **({"schema:unitText": column.unit} if column.unit else {}),
                }
                for column in table.columns
            ],
            **({"primaryKey": list(table.key)} if table.key else {}),
        },
    }


def _resource(table: Table, files: Sequence[str]) -> dict[str, Any]:
    """Describe a table for the descriptor; its files of all months are one."""
    return {
        "profile": "tabular-data-resource",
        "name": table.label,
        "title": table.title,
        "description": table.meaning,
        "path": list(files) if len(files) > 1 else files[0],
        "format": "csv",
        "encoding": "utf-8",
        "schema": _table_schema(table, ""),
    }


def _write_package(resources: Sequence[dict[str, Any]], source: Source, path: Path) -> int:
    package = {
        "profile": "tabular-data-package",
        "contributors": [{"title": source.publisher, "role": "publisher"}],
        "resources": list(resources),
    }
    return _write(package, source, path)


def _write(content: dict[str, Any], _source: Source, path: Path) -> int:
    """Write a description; it has no rows."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    return 0

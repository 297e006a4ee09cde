"""Puts schemas into a TIDES package: those of the standard as they are, and those of our own tables."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from pathlib import Path

from transit_base.files import write_text
from transit_exports.parts import Part
from transit_exports.source import Column, Source

EVIDENCE, ESTIMATES = "stop_visit_evidence", "passage_estimates"
FOLDER = "schemas"  # of the package
PROFILE = f"{FOLDER}/tides-datapackage-profile.json"
_STANDARD = files("transit_exports") / "tides_specification"
_TYPES = {
    "BIGINT": "integer", "INTEGER": "integer", "HUGEINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean",
    "DATE": "date", "TIMESTAMP": "datetime",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class SideTable:
    """A table for which TIDES has no columns: its key, and the table of the warehouse that has the others."""

    title: str
    key: Mapping[str, str]  # type by column
    of: str
    without: Collection[str]  # columns of `of` that the key replaces

    def columns(self, source: Source) -> list[Column]:
        """Return the columns beside the key: what the table of the warehouse has."""
        return [column for column in source.table(self.of).columns if column.name not in self.without]


SIDE_TABLES = {
    EVIDENCE: SideTable(
        "What TIDES has no column for: bounds, quality and estimates of each visit",
        {"service_date": "date", "trip_id_performed": "string", "trip_stop_sequence": "integer"},
        "core.stop_visits",
        ("operator", "service_date", "trip_id"),
    ),
    ESTIMATES: SideTable(
        "What TIDES has no table for: an estimate of each passage that was due, observed or not",
        {"service_date": "date", "trip_id_scheduled": "string", "scheduled_stop_sequence": "integer"},
        "core.trip_trajectories",
        ("operator", "service_date", "stop_sequence"),
    ),
}


def schema_of(table: str) -> str:
    """Return the path of a table's schema in the package."""
    return f"{FOLDER}/{table}.schema.json"


def schema_parts() -> list[Part]:
    """Return the files of the schemas: the standard's as they are, with its licence, and our own."""
    return [
        *(
            Part(f"{FOLDER}/{name}", "", partial(_copy, name))
            for name in sorted(file.name for file in _STANDARD.iterdir())
        ),
        *(Part(schema_of(name), "", partial(_describe, table)) for name, table in SIDE_TABLES.items()),
    ]


def write_json(path: Path, content: object) -> int:
    """Write what JSON can hold; it has no rows."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")
    return 0


def _copy(name: str, _source: Source, path: Path) -> int:
    write_text(path, (_STANDARD / name).read_text("utf-8"))
    return 0


def _describe(table: SideTable, source: Source, path: Path) -> int:
    """Write the schema of a table that is not of the standard."""
    schema = {
        "primaryKey": [*table.key],
        "missingValues": [""],
        "fields": [
            *(
                {"name": name, "type": kind, "constraints": {"required": True}}
                for name, kind in table.key.items()
            ),
            *map(_field, table.columns(source)),
        ],
    }
    return write_json(path, schema)


def _field(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": _TYPES.get(column.type, "string"), "description": column.meaning}

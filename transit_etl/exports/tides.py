"""Plans a TIDES package: visits and trips in its tables, and next to them what these have no column for."""

import json
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transit_etl.exports.copying import CSV, copy
from transit_etl.exports.parts import Part
from transit_etl.exports.periods import Period
from transit_etl.exports.request import Request
from transit_etl.exports.source import Column, Source
from transit_etl.exports.statements import statement
from transit_etl.files import write_text

# The version of the standard that the columns are of.
_SPECIFICATION = (
    "https://raw.githubusercontent.com/TIDES-transit/TIDES/67bca7c580f1b3658dc2488f5081fa39563cd58a/spec"
)
VEHICLES, EVIDENCE = "vehicles", "stop_visit_evidence"
_EVIDENCE_SCHEMA = f"{EVIDENCE}.schema.json"
_KEY = ("service_date", "trip_id_performed", "trip_stop_sequence")
_NOT_EVIDENCE = ("operator", "service_date", "trip_id", "trip_stop_sequence")
_TITLES = {
    "stop_visits": "Stop visits",
    "trips_performed": "Trips performed",
    VEHICLES: "Vehicles: the interface tells none, and the standard asks for one",
    EVIDENCE: "What TIDES has no column for: bounds, quality and estimates of each visit",
}
_TYPES = {
    "BIGINT": "integer", "INTEGER": "integer", "HUGEINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean",
    "DATE": "date", "TIMESTAMP": "datetime",
}  # fmt: skip
NOTES = [
    "The package follows TIDES, Transit ITS Data Exchange Specification; `datapackage.json` describes it.",
    "The interface gives one time at a stop; it stands for arrival and departure. It names no vehicle.",
    f"`{EVIDENCE}` has a row for each row of `stop_visits`, by the same key: how certain each time is.",
    "A visit that is `Missing` was due and not seen passing; that is no proof that no vehicle came.",
]


def tides_parts(source: Source, _request: Request, period: Period) -> list[Part]:
    """Return the files of a package: each table by month, and the descriptor."""
    parts = []
    for month in period.months():
        suffix = f"{month.first:%Y_%m}"
        for table, query in _queries(source, month).items():
            path = f"{table}_{suffix}.csv"
            parts.append(Part(path, table, partial(_write, query), month.month))
    parts.append(Part(f"{VEHICLES}.csv", VEHICLES, partial(_write, statement("tides_vehicles", {}))))
    return [
        *parts,
        Part(_EVIDENCE_SCHEMA, "", _describe_evidence),
        Part("datapackage.json", "", partial(_describe, parts, period)),
    ]


def _queries(source: Source, month: Period) -> dict[str, str]:
    operator, condition = {"operator": source.publication.operator}, month.holds("service_date")
    visits = statement("tides_visits", operator, condition=condition)
    evidence = ", ".join(map(_plain, _evidence(source)))
    return {
        "stop_visits": statement("tides_stop_visits", {}, visits=visits),
        "trips_performed": statement("tides_trips_performed", operator, condition=condition),
        EVIDENCE: (
            f"select service_date, trip_id as trip_id_performed, trip_stop_sequence, {evidence} "
            f"from ({visits}) order by service_date, trip_id, trip_stop_sequence"
        ),
    }


def _evidence(source: Source) -> Sequence[Column]:
    """Return the columns of the visits that the table of evidence has, whatever these are."""
    visits = source.table("core.stop_visits").columns
    return [column for column in visits if column.name not in _NOT_EVIDENCE]


def _plain(column: Column) -> str:
    """Return the SQL of a column as the standard writes its type."""
    name = column.quoted
    return f"tides_time({name}) as {name}" if column.type == "TIMESTAMP" else name


def _write(query: str, source: Source, path: Path) -> int:
    return copy(source, query, CSV, path)


def _describe(parts: Sequence[Part], period: Period, source: Source, path: Path) -> int:
    """Write the descriptor of the package; it has no rows."""
    publication = source.publication
    package = {
        "profile": f"{_SPECIFICATION}/tides-datapackage-profile.json",
        "name": re.sub("[^-a-z0-9._/]", "-", f"{publication.operator}-{period.first}-{period.last}"),
        "title": f"{publication.operator}, {period.first} to {period.last}",
        "description": " ".join(NOTES),
        "agency": publication.operator,
        "version": f"build-{publication.build_number}",
        "resources": [_resource(part) for part in parts],
    }
    _write_json(path, package)
    return 0


def _resource(part: Part) -> dict[str, Any]:
    resource = {
        "profile": "tabular-data-resource",
        "name": Path(part.path).stem,
        "path": part.path,
        "title": _TITLES[part.table],
        "format": "csv",
        "encoding": "utf-8",
    }
    if part.table == EVIDENCE:
        return {**resource, "schema": _EVIDENCE_SCHEMA}
    return {**resource, "tides-table": part.table, "schema": f"{_SPECIFICATION}/{part.table}.schema.json"}


def _describe_evidence(source: Source, path: Path) -> int:
    """Write the schema of the table of evidence; it has no rows."""
    keys = zip(_KEY, ("date", "string", "integer"), strict=True)
    schema = {
        "primaryKey": [*_KEY],
        "missingValues": [""],
        "fields": [
            *({"name": name, "type": kind, "constraints": {"required": True}} for name, kind in keys),
            *map(_field, _evidence(source)),
        ],
    }
    _write_json(path, schema)
    return 0


def _write_json(path: Path, content: Any) -> None:  # noqa: ANN401 - anything JSON can hold
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def _field(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": _TYPES.get(column.type, "string"), "description": column.meaning}

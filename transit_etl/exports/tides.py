"""Plans a TIDES package: visits and trips in its tables, and next to them what these have no column for."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from transit_etl.exports.copying import copy_in_turn
from transit_etl.exports.manifest import README
from transit_etl.exports.parts import Part
from transit_etl.exports.periods import Period
from transit_etl.exports.request import Request
from transit_etl.exports.source import NO_LICENCE, Column, Source, licence_address
from transit_etl.exports.statements import statement
from transit_etl.files import write_text

# The version of the standard that the columns are of.
_SPECIFICATION = (
    "https://raw.githubusercontent.com/TIDES-transit/TIDES/67bca7c580f1b3658dc2488f5081fa39563cd58a/spec"
)
VEHICLES, EVIDENCE, ESTIMATES = "vehicles", "stop_visit_evidence", "passage_estimates"


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
        ("operator", "service_date", "position"),
    ),
}
_TITLES = {
    "stop_visits": "Stop visits",
    "trips_performed": "Trips performed",
    VEHICLES: "Vehicles: the interface tells none, and the standard asks for one",
    **{name: table.title for name, table in SIDE_TABLES.items()},
}
_TYPES = {
    "BIGINT": "integer", "INTEGER": "integer", "HUGEINT": "integer", "DOUBLE": "number", "BOOLEAN": "boolean",
    "DATE": "date", "TIMESTAMP": "datetime",
}  # fmt: skip
NOTES = [
    "The package follows TIDES, Transit ITS Data Exchange Specification; `datapackage.json` describes it.",
    "The interface gives one time at a stop; it stands for arrival and departure. It names no vehicle.",
    f"`{EVIDENCE}` has a row for each row of `stop_visits`, by the same key: how certain each time is.",
    f"`{ESTIMATES}` has a row for each passage due, observed or not, with bounds and probabilities.",
    "A visit that is `Missing` was due and not seen passing; that is no proof that no vehicle came.",
]


def tides_parts(source: Source, _request: Request, period: Period) -> list[Part]:
    """Return the files of a package: each table by month, written a day at a time, and the descriptor."""
    parts = []
    for month in period.months():
        suffix = f"{month.first:%Y_%m}"
        days = [_queries(source, day) for day in month.days()]
        for table in days[0]:
            queries = [day[table] for day in days]
            parts.append(Part(f"{table}_{suffix}.csv", table, partial(_write, queries), month.month))
    parts.append(Part(f"{VEHICLES}.csv", VEHICLES, partial(_write, [statement("tides_vehicles", {})])))
    return [
        *parts,
        *(
            Part(_schema_of(name), "", partial(_describe_side_table, table))
            for name, table in SIDE_TABLES.items()
        ),
        Part("datapackage.json", "", partial(_describe, parts, period)),
    ]


def _queries(source: Source, day: Period) -> dict[str, str]:
    operator, condition = {"operator": source.publication.operator}, day.holds("service_date")
    visits = statement("tides_visits", operator, condition=condition)
    return {
        "stop_visits": statement("tides_stop_visits", {}, visits=visits),
        "trips_performed": statement("tides_trips_performed", operator, condition=condition),
        **{
            name: statement(
                f"tides_{name}",
                operator,
                condition=condition,
                visits=visits,
                columns=", ".join(map(_plain, table.columns(source))),
            )
            for name, table in SIDE_TABLES.items()
        },
    }


def _schema_of(table: str) -> str:
    return f"{table}.schema.json"


def _plain(column: Column) -> str:
    """Return the SQL of a column as the standard writes its type."""
    name = column.quoted
    return f"tides_time({name}) as {name}" if column.type == "TIMESTAMP" else name


def _write(queries: Sequence[str], source: Source, path: Path) -> int:
    return copy_in_turn(source, queries, path)


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
        **_licences(source.licence),
        "contributors": [{"title": source.publisher, "role": "publisher"}],
        "sources": [
            {
                "title": "Passenger information interface",
                "product": "transit-etl",
                "product_version": publication.version,
            }
        ],
        "resources": [_resource(part) for part in parts],
    }
    _write_json(path, package)
    return 0


def _licences(text: str) -> dict[str, Any]:
    """Return the licence by its address; one that has none by the file that names it."""
    if text == NO_LICENCE:
        return {}
    return {"licenses": [{"path": licence_address(text) or README, "title": text}]}


def _resource(part: Part) -> dict[str, Any]:
    resource = {
        "profile": "tabular-data-resource",
        "name": Path(part.path).stem,
        "path": part.path,
        "title": _TITLES[part.table],
        "format": "csv",
        "encoding": "utf-8",
    }
    if part.table in SIDE_TABLES:
        return {**resource, "schema": _schema_of(part.table)}
    return {**resource, "tides-table": part.table, "schema": f"{_SPECIFICATION}/{part.table}.schema.json"}


def _describe_side_table(table: SideTable, source: Source, path: Path) -> int:
    """Write the schema of a table that is not of the standard; it has no rows."""
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
    _write_json(path, schema)
    return 0


def _write_json(path: Path, content: Any) -> None:  # noqa: ANN401 - anything JSON can hold
    write_text(path, json.dumps(content, ensure_ascii=False, indent=2) + "\n")


def _field(column: Column) -> dict[str, str]:
    return {"name": column.name, "type": _TYPES.get(column.type, "string"), "description": column.meaning}

"""Plans a TIDES package: visits and trips in its tables, and next to them what these have no column for."""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from transit_exports.copying import copy_in_turn
from transit_exports.csv_schemas import PACKAGE
from transit_exports.manifest import README
from transit_exports.parts import Part
from transit_exports.periods import Period
from transit_exports.request import Request
from transit_exports.settings import NO_LICENCE, licence_address
from transit_exports.source import Column, Source
from transit_exports.statements import statement
from transit_exports.tides_schemas import (
    ESTIMATES,
    EVIDENCE,
    SIDE_TABLES,
    schema_of,
    schema_parts,
    write_json,
)
from transit_exports.validation import CHECKED_ROWS

VEHICLES = "vehicles"
_TITLES = {
    "stop_visits": "Stop visits",
    "trips_performed": "Trips performed",
    VEHICLES: "Vehicles: the interface tells none, and the standard asks for one",
    **{name: table.title for name, table in SIDE_TABLES.items()},
}
NOTES = [
    "The package follows TIDES, Transit ITS Data Exchange Specification; `datapackage.json` describes it.",
    "The interface gives one time at a stop; it stands for arrival and departure. It names no vehicle.",
    "`trips_performed` has the trips that were seen, and those known not to have run, which are `Canceled`.",
    "A departure of which no bus was seen is in neither table: it may have run unseen.",
    "An actual time is of a passage that was observed; predictions are in `stop_visit_evidence` alone.",
    "A visit that is `Missing` was due and not seen passing; that is no proof that no vehicle came.",
    f"`{EVIDENCE}` has a row for each row of `stop_visits`, by the same key: how certain each time is.",
    f"`{ESTIMATES}` has a row for each passage due, observed or not, with bounds and probabilities.",
    f"frictionless checked the first {CHECKED_ROWS:,} rows of each file by the schemas in the package.",
]


def tides_parts(source: Source, _request: Request, period: Period) -> list[Part]:
    """Return the files of a package: each table by month, written a day at a time, schemas and descriptor."""
    parts = []
    for month in period.months():
        suffix = f"{month.first:%Y_%m}"
        days = [_queries(source, day) for day in month.days()]
        for table in days[0]:
            queries = [day[table] for day in days]
            parts.append(Part(f"{table}_{suffix}.csv", table, partial(_write, queries), month.month))
    parts.append(Part(f"{VEHICLES}.csv", VEHICLES, partial(_write, [statement("tides_vehicles", {})])))
    return [*parts, *schema_parts(), Part(PACKAGE, "", partial(_describe, parts, period))]


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
        # not that of the standard, which readers would look for at its address; `schemas` has it
        "profile": "tabular-data-package",
        "name": re.sub("[^-a-z0-9._/]", "-", f"{publication.operator}-{period.first}-{period.last}"),
        "title": f"{publication.operator}, {period.first} to {period.last}",
        "description": " ".join(NOTES),
        "agency": publication.operator,
        "version": f"{period.first}-{period.last}",
        **_licences(source.settings.licence),
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
    return write_json(path, package)


def _licences(text: str) -> dict[str, Any]:
    """Return the licence by its address; one that has none by the file that names it."""
    if text == NO_LICENCE:
        return {}
    return {"licenses": [{"path": licence_address(text) or README, "title": text}]}


def _resource(part: Part) -> dict[str, Any]:
    return {
        "profile": "tabular-data-resource",
        "name": Path(part.path).stem,
        "path": part.path,
        "title": _TITLES[part.table],
        "format": "csv",
        "encoding": "utf-8",
        **({} if part.table in SIDE_TABLES else {"tides-table": part.table}),
        "schema": schema_of(part.table),
    }

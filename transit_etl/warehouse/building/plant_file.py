"""Reads the optional reference file of lifts and other plant, with their names."""

import re
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_etl.settings import BuildSettings
from transit_etl.warehouse.building.reference_files import (
    ReferenceFileError,
    Row,
    read_entries,
    replace_entries,
)

_HOURS = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_LAST_HOUR = 30


class PlantName(NamedTuple):
    """A name by which a lift or other plant is called; both hours are None where it is to run at all times.

    Hours are seconds of the service day, as in GTFS: 01:00 of the night is 90,000.
    """

    plant: str
    category: str
    name: str
    opens_seconds: int | None
    closes_seconds: int | None


def read_plant_names(path: Path) -> list[PlantName]:
    """Read a CSV with plant and category, and with `names` (other spellings, apart by `;`) and `hours`.

    `hours` are those of service, such as `06:30-24:00`. ReferenceFileError names the line that is wrong.
    """
    return read_entries(path, what="plant file", lists="plant", entries_of=_names_of)


def plant_names(settings: BuildSettings) -> list[PlantName]:
    """Read the reference file of the settings; without one no plant is named."""
    return read_plant_names(settings.plant_file) if settings.plant_file else []


def load_plant_names(connection: duckdb.DuckDBPyConnection, operator: str, names: list[PlantName]) -> None:
    """Replace what the build database knows of plant."""
    replace_entries(connection, "plant_names", PlantName, operator, names)


def _names_of(row: Row, place: str) -> list[PlantName]:
    plant, category, names, hours = (
        (row.get(field) or "").strip() for field in ("plant", "category", "names", "hours")
    )
    if not plant or not category:
        raise ReferenceFileError(f"{place}: no {'category' if plant else 'plant'}")
    opens, closes = _hours_of(hours, place) if hours else (None, None)
    spellings = [plant, *(name.strip() for name in names.split(";") if name.strip())]
    return [PlantName(plant, category, name, opens, closes) for name in spellings]


def _hours_of(text: str, place: str) -> tuple[int, int]:
    found = _HOURS.fullmatch(text.replace(" ", ""))
    numbers = [int(part) for part in found.groups()] if found else []
    if not numbers or max(numbers[1::2]) > 59 or max(numbers[::2]) > _LAST_HOUR:  # noqa: PLR2004 - minutes
        raise ReferenceFileError(f"{place}: hours {text!r} are not like 06:30-24:00")
    opens, closes = numbers[0] * 3600 + numbers[1] * 60, numbers[2] * 3600 + numbers[3] * 60
    if opens >= closes:
        raise ReferenceFileError(f"{place}: hours {text!r} end before they begin; write 25:00 for 1 at night")
    return opens, closes

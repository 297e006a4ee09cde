"""Reads the optional reference file of lifts and other plant, with their names."""

import csv
import io
import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import duckdb

from transit_etl.settings import Settings
from transit_etl.warehouse.database import WarehouseError

_TABLE = """
create schema if not exists intermediate;
create table if not exists intermediate.plant_names (
    operator varchar, plant varchar, category varchar, name varchar,
    opens_seconds bigint, closes_seconds bigint
);
delete from intermediate.plant_names;
"""
_INSERT = """
insert into intermediate.plant_names
select
    ?, unnest(?::varchar[]), unnest(?::varchar[]), unnest(?::varchar[]),
    unnest(?::bigint[]), unnest(?::bigint[])
"""
_HOURS = re.compile(r"(\d{1,2}):(\d{2})-(\d{1,2}):(\d{2})")
_LAST_HOUR = 30


class PlantFileError(WarehouseError):
    """The reference file of plant cannot be used; the message says where it is wrong."""


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

    `hours` are those of service, such as `06:30-24:00`. PlantFileError names the line that is wrong.
    """
    try:
        rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig")), strict=True)
        names = [
            name
            for number, row in enumerate(rows, start=2)
            for name in _names_of(row, f"{path}, line {number}")
        ]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise PlantFileError(f"cannot read the plant file {path}: {error}") from error
    if not names:
        raise PlantFileError(f"{path} lists no plant")
    return list(dict.fromkeys(names))


def plant_names(settings: Settings) -> list[PlantName]:
    """Read the reference file of the settings; without one no plant is named."""
    return read_plant_names(settings.plant_file) if settings.plant_file else []


def load_plant_names(connection: duckdb.DuckDBPyConnection, operator: str, names: list[PlantName]) -> None:
    """Replace what the build database knows of plant."""
    connection.execute(_TABLE)
    columns = [[getattr(name, field) for name in names] for field in PlantName._fields]
    connection.execute(_INSERT, [operator, *columns])


def _names_of(row: Mapping[str, str | None], place: str) -> list[PlantName]:
    plant, category, names, hours = (
        (row.get(field) or "").strip() for field in ("plant", "category", "names", "hours")
    )
    if not plant or not category:
        raise PlantFileError(f"{place}: no {'category' if plant else 'plant'}")
    opens, closes = _hours_of(hours, place) if hours else (None, None)
    spellings = [plant, *(name.strip() for name in names.split(";") if name.strip())]
    return [PlantName(plant, category, name, opens, closes) for name in spellings]


def _hours_of(text: str, place: str) -> tuple[int, int]:
    found = _HOURS.fullmatch(text.replace(" ", ""))
    numbers = [int(part) for part in found.groups()] if found else []
    if not numbers or max(numbers[1::2]) > 59 or max(numbers[::2]) > _LAST_HOUR:  # noqa: PLR2004 - minutes
        raise PlantFileError(f"{place}: hours {text!r} are not like 06:30-24:00")
    opens, closes = numbers[0] * 3600 + numbers[1] * 60, numbers[2] * 3600 + numbers[3] * 60
    if opens >= closes:
        raise PlantFileError(f"{place}: hours {text!r} end before they begin; write 25:00 for 1 at night")
    return opens, closes

"""Settings of a data folder of the test's own, with a rehearsed warehouse published in it."""

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.rehearsed import Rehearsed
from transit_etl.export_settings import export_settings
from transit_etl.paths import published_database
from transit_etl.settings import Settings
from transit_exports import ExportSettings


@pytest.fixture
def published(rehearsed: Rehearsed, tmp_path: Path) -> ExportSettings:
    """Settings of a data folder with nothing but the published file of the rehearsed hours."""
    settings = settings_in(tmp_path / "data", publisher="City of Tests", licence="CC-BY-4.0")
    settings.database.parent.mkdir(parents=True)
    settings.database.hardlink_to(published_database(rehearsed.settings.data_dir))
    return settings


@pytest.fixture
def placed(published: ExportSettings) -> ExportSettings:
    """Settings of a published warehouse whose stops have places, as a file of stops gives them."""
    change(
        published,
        "insert into intermediate.stop_names "
        "select operator, stop_code, 'Stop ' || stop_code, 44.4 + hash(stop_code) % 1000 / 1e6, 8.9 "
        "from core.stops",
    )
    return published


def settings_in(data_dir: Path, **given: str) -> ExportSettings:
    """Return the settings of exports from and into a data folder, apart from what is given."""
    return replace(export_settings(Settings(data_dir=data_dir)), **given)  # type: ignore[arg-type]


def change(settings: ExportSettings, *statements: str) -> None:
    """Change a published file of the test's own; it shares its bytes with others until then."""
    path = settings.database
    copied = path.read_bytes()
    path.unlink()
    path.write_bytes(copied)
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)

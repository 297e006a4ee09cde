"""Settings of a data folder of the test's own, with a rehearsed warehouse published in it."""

from pathlib import Path

import duckdb
import pytest

from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import published_database
from transit_etl.settings import Settings


@pytest.fixture
def published(rehearsed: Rehearsed, tmp_path: Path) -> Settings:
    """Settings of a data folder with nothing but the published file of the rehearsed hours."""
    settings = Settings(data_dir=tmp_path / "data", publisher="City of Tests", export_licence="CC-BY-4.0")
    target = published_database(settings.data_dir)
    target.parent.mkdir(parents=True)
    target.hardlink_to(published_database(rehearsed.settings.data_dir))
    return settings


@pytest.fixture
def placed(published: Settings) -> Settings:
    """Settings of a published warehouse whose stops have places, as a file of stops gives them."""
    change(
        published,
        "insert into intermediate.stop_names "
        "select operator, stop_code, 'Stop ' || stop_code, 44.4 + hash(stop_code) % 1000 / 1e6, 8.9 "
        "from core.stops",
    )
    return published


def change(settings: Settings, *statements: str) -> None:
    """Change a published file of the test's own; it shares its bytes with others until then."""
    path = published_database(settings.data_dir)
    copied = path.read_bytes()
    path.unlink()
    path.write_bytes(copied)
    with duckdb.connect(path) as connection:
        for statement in statements:
            connection.execute(statement)

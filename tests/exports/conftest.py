"""Settings of a data folder of the test's own, with a rehearsed warehouse published in it."""

from pathlib import Path

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

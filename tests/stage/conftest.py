"""An empty data folder for every test."""

from pathlib import Path

import pytest

from tests.stage.landing import OPERATOR, Folder
from transit_etl.settings import Settings


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Give an empty data folder of operator x in Rome."""
    return Folder(Settings(data_dir=tmp_path / "data", operator=OPERATOR))

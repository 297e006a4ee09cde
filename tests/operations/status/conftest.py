from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.operations.status.installations import NOW
from transit_etl.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    shift = (NOW - datetime.now(UTC)).total_seconds()  # the clock shows NOW, however long other tests took
    return Settings(data_dir=tmp_path / "data", clock_shift_seconds=shift)

"""Builds the stories' lake, and the rehearsed one, once for all tests that only read them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from transit_etl import warehouse
from transit_etl.settings import Settings

Rows = list[dict[str, Any]]


@pytest.fixture
def ask(built: Settings) -> Callable[[str], Rows]:
    """Ask the published stories a question."""

    def _ask(sql: str) -> Rows:
        rows: Rows = warehouse.query(built, sql).to_pylist()
        return rows

    return _ask


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an empty data folder."""
    return Settings(data_dir=tmp_path / "data", operator="testville")

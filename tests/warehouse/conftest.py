"""Builds the stories' lake, and the rehearsed one, once for all tests that only read them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.warehouse import stories
from tests.warehouse.rehearsed import Rehearsed, rehearse_a_busy_hour
from transit_etl import warehouse
from transit_etl.settings import Settings

Rows = list[dict[str, Any]]


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Settings of a data folder whose stories are built, checked and published."""
    settings = Settings(data_dir=tmp_path_factory.mktemp("stories"), operator="testville")
    stories.write(settings.data_dir)
    warehouse.build(settings)
    warehouse.publish(settings)
    return settings


@pytest.fixture(scope="session")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    """Give a rehearsed hour and a half of the small network, built and published."""
    return rehearse_a_busy_hour(tmp_path_factory.mktemp("rehearsed"))


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

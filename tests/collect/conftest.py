"""Stores of the request budget for the tests of what processes share."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.collect.postgresql import serving_postgresql


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """Return the URL of a server that runs while the tests do."""
    with serving_postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty store, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/budget.sqlite"
    url: str = request.getfixturevalue("postgresql_url")
    with psycopg.connect(url) as connection:
        connection.execute("DROP TABLE IF EXISTS request_budget")
    return url

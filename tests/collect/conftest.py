"""Stores of the request budget for the tests of what processes share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.xdist_group("postgresql"))])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each sort; the credentials of a test are its own, so that a server may be shared."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/state/budget.sqlite"
    server = os.environ.get("TEST_POSTGRESQL_URL")
    if not server:
        pytest.skip("no PostgreSQL server: set TEST_POSTGRESQL_URL to try one")
    _forget_all(server)
    return server


def _forget_all(server: str) -> None:
    import psycopg  # noqa: PLC0415 - an optional extra

    with psycopg.connect(server.replace("+psycopg", "")) as connection:
        connection.execute("DROP TABLE IF EXISTS request_budget")

"""What every test has: an environment without the caller's settings, and one journey to share."""

import os
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from hypothesis import settings

from tests.journey import journey, upstream
from tests.published import built, rehearsed
from transit_etl.settings import PREFIX

__all__ = ["built", "journey", "rehearsed", "upstream"]

settings.register_profile("without a deadline", deadline=None)  # a busy machine breaks no test
settings.load_profile("without a deadline")


def pytest_configure(config: pytest.Config) -> None:
    """Give Airflow, which reads its home when it is imported, one that is not the user's."""
    assert config.cache is not None
    os.environ["AIRFLOW_HOME"] = str(config.cache.mkdir("airflow"))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run a group of tests apart: each worker would make what the group shares, for minutes."""
    if getattr(session.config.option, "loadgroup", False):  # set by pytest-xdist on its workers
        grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
        if any("@" not in item.nodeid for item in grouped):
            why = "this pytest-xdist keeps no groups of tests together under this pytest"
            os.write(2, f"{why}\n".encode())  # a worker's exception does not reach who looks on
            raise pytest.UsageError(why)


@pytest.fixture(scope="session", autouse=True)
def _without_the_callers_settings() -> Iterator[None]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    with patch.dict(os.environ, kept, clear=True):
        yield

"""What every test has: an environment without what is the caller's, and one journey to share."""

import os
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import settings

from tests.journey import journey, upstream
from tests.published import built, manifest, rehearsed
from transit_etl.settings import PREFIX
from transit_etl.stage import runner
from transit_etl.stage.data_docs import keep_results

__all__ = ["built", "journey", "manifest", "rehearsed", "upstream"]

settings.register_profile("without a deadline", deadline=None)  # a busy machine breaks no test
settings.load_profile("without a deadline")


def pytest_configure(config: pytest.Config) -> None:
    """Give Airflow, which reads its home when it is imported, one that is not the user's."""
    assert config.cache is not None
    os.environ["AIRFLOW_HOME"] = str(config.cache.mkdir("airflow"))


# What takes minutes to make, for all tests of a session that use it.
_SHARED = ("built", "journey", "rehearsed", "pages")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Keep tests on one worker that share what takes minutes, or a fixture of their module."""
    if item.get_closest_marker("xdist_group") or not isinstance(item, pytest.Function):
        return
    known = item._fixtureinfo.name2fixturedefs  # noqa: SLF001 - pytest tells it nowhere else
    shared = [name for name in _SHARED if name in known]
    if shared:
        item.add_marker(pytest.mark.xdist_group(shared[0]))
    elif any(definitions[-1].scope == "module" for definitions in known.values()):
        item.add_marker(pytest.mark.xdist_group(item.nodeid.split("::")[0]))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run a group of tests apart: each worker would make what the group shares, for minutes."""
    if getattr(session.config.option, "loadgroup", False):  # set by pytest-xdist on its workers
        grouped = [item for item in session.items if item.get_closest_marker("xdist_group")]
        if any("@" not in item.nodeid for item in grouped):
            why = "this pytest-xdist keeps no groups of tests together under this pytest"
            os.write(2, f"{why}\n".encode())  # a worker's exception does not reach who looks on
            raise pytest.UsageError(why)


@pytest.fixture(scope="session", autouse=True)
def _without_the_callers_settings(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[None]:
    """Hide the caller's variables, settings files and budgets, also from programs that tests start."""
    assert pytestconfig.cache is not None
    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    home = {name: str(tmp_path_factory.mktemp("user")) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME")}
    home["XDG_CACHE_HOME"] = str(pytestconfig.cache.mkdir("user"))  # what dbt knows of the models
    project = {f"{PREFIX}PROJECT_DIR": str(tmp_path_factory.mktemp("project"))}
    with patch.dict(os.environ, {**kept, **home, **project}, clear=True):
        yield


@pytest.fixture(autouse=True)
def _staged_without_pages(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let staging in the process of a test keep results, and build no pages of them, which takes a second.

    Tests marked `pages_about_quality` are about these pages.
    """
    if not request.node.get_closest_marker("pages_about_quality"):
        monkeypatch.setattr(
            runner, "keep_results", lambda settings, last, _operators: keep_results(settings, last, ())
        )


@pytest.fixture(autouse=True)
def _with_a_budget_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no two tests share a request budget, although they name the same upstream."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ".user-state"))

"""Runs the tour once for every test that needs what it leaves."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import httpx2
import pytest

from tests.browser.conftest import browser, page, requests_elsewhere
from tests.documents.commands import INSTEAD
from tests.documents.documents import TOUR
from tests.documents.sessions import Session, Step, blocks, run
from transit_emulator.process import emulator_process

__all__ = ["browser", "page", "requests_elsewhere"]


class Tour(NamedTuple):
    """The session of the tour, and what each of its steps printed."""

    session: Session
    printed: list[tuple[Step, str]]


@pytest.fixture(scope="session")
def tour(tmp_path_factory: pytest.TempPathFactory) -> Tour:
    """Run the tour from top to bottom."""
    session = Session(tmp_path_factory.mktemp("tour"), {}, INSTEAD)
    printed = [pair for block in blocks(TOUR) for pair in run(block, session)]
    return Tour(session, printed)


@pytest.fixture(scope="session")
def readme_session(tour: Tour, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Return a session with data like a demonstration's, and an emulator in place of a real interface."""
    with emulator_process() as server:
        about = httpx2.get(f"http://127.0.0.1:{server.port}/", timeout=10).json()
        shift = datetime.fromisoformat(about["suggested_now"]) - datetime.now(UTC)
        settings = {
            "TRANSIT_TOKEN": "demo-token",
            "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
            "TRANSIT_CLOCK_SHIFT_SECONDS": str(shift.total_seconds()),
        }
        instead = {**INSTEAD, "https://example.org/api/v1/": server.base_url}
        session = Session(tmp_path_factory.mktemp("readme"), settings, instead)
        shutil.copytree(tour.session.folder / "data" / "tour", session.folder / "data" / "demo")
        yield session

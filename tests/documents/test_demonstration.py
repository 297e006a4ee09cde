"""`make demo`: it ends well, and leaves the figures that the README asks for."""

import re
from pathlib import Path

import pytest

from scripts.demo_findings import ANSWERS, NEXT
from tests.documents.commands import INSTEAD
from tests.documents.documents import README
from tests.documents.sessions import Session, blocks, run
from tests.small_feed import write_feed

pytestmark = [pytest.mark.long, pytest.mark.whole_command, pytest.mark.timeout(1800)]
QUESTION = next(block for block in blocks(README) if "TRANSIT_DATA_DIR=data/demo" in block.text)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, {}, INSTEAD, timeout_seconds=1500)


def test_the_readmes_query_returns_figures_after_the_demonstration(session: Session) -> None:
    shown = session.run("make demo")
    exported = session.run(NEXT.replace("PLACE", "data/demo"))
    ((_, answer),) = run(QUESTION, session)

    assert "Done in" in shown
    assert all(question in shown for question in ANSWERS)
    assert re.search("│ (ASC|SG|MM) +│", shown) is None  # names, not codes, of categories
    assert "punctuality_by_stop-geojson" in exported
    assert " % (95 % interval: " in answer


@pytest.mark.exhaustive
def test_the_demonstration_runs_on_another_network(session: Session) -> None:
    write_feed(session.folder / "feed.zip")
    shown = session.run("GTFS=feed.zip make demo")

    assert "Done in" in shown

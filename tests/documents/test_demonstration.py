"""`make demo`: it ends well, and leaves the figures that the README asks for."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts.demo_findings import ANSWERS, NEXT
from tests.documents.commands import INSTEAD
from tests.documents.documents import README
from tests.documents.sessions import Session, blocks, run

pytestmark = [pytest.mark.long, pytest.mark.whole_command, pytest.mark.timeout(1800)]
QUESTION = next(block for block in blocks(README) if "TRANSIT_DATA_DIR=data/demo" in block.text)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    return Session(tmp_path, {}, INSTEAD, timeout_seconds=1500)


def write_feed(path: Path) -> None:
    """Write a feed of one line, five stops, and a bus every ten minutes in each direction, all year round."""
    today = datetime.now(UTC).date()
    first, last = (today + timedelta(days=days) for days in (-60, 60))
    there = [f"out,08:{3 * n:02}:00,08:{3 * n:02}:00,s{n},{n}" for n in range(5)]
    back = [f"in,08:{3 * n:02}:00,08:{3 * n:02}:00,s{4 - n},{n}" for n in range(5)]
    tables = {
        "agency": ["agency_id,agency_name,agency_url,agency_timezone", "1,A,http://a.example,Europe/Rome"],
        "calendar": [
            "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,start_date,end_date",
            f"always,1,1,1,1,1,1,1,{first:%Y%m%d},{last:%Y%m%d}",
        ],
        "stops": ["stop_id,stop_code,stop_name", *(f"s{n},{n:04},Stop {n}" for n in range(5))],
        "routes": ["route_id,route_short_name,route_long_name,route_type", "r,1,One,3"],
        "trips": [
            "route_id,service_id,trip_id,trip_headsign,direction_id",
            "r,always,out,East,0",
            "r,always,in,West,1",
        ],
        "stop_times": ["trip_id,arrival_time,departure_time,stop_id,stop_sequence", *there, *back],
        "frequencies": [
            "trip_id,start_time,end_time,headway_secs",
            "out,05:00:00,23:00:00,600",
            "in,05:00:00,23:00:00,600",
        ],
    }
    with ZipFile(path, "w") as archive:
        for name, lines in tables.items():
            archive.writestr(f"{name}.txt", "\n".join(lines) + "\n")


def test_the_readmes_query_returns_figures_after_the_demonstration(session: Session) -> None:
    shown = session.run("make demo")
    exported = session.run(NEXT.replace("PLACE", "data/demo"))
    ((_, answer),) = run(QUESTION, session)

    assert "Done in" in shown
    assert all(question in shown for question in ANSWERS)
    assert "ASC" not in shown
    assert "punctuality_by_stop-geojson" in exported
    assert " % (95 % interval: " in answer


def test_the_demonstration_runs_on_another_network(session: Session) -> None:
    write_feed(session.folder / "feed.zip")
    shown = session.run("GTFS=feed.zip make demo")

    assert "Done in" in shown

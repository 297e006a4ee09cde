"""`make up` and `make down`: everything runs on this machine, and stops."""

import socket
from pathlib import Path

import pytest

from tests.documents.commands import INSTEAD
from tests.documents.sessions import Session

pytestmark = [pytest.mark.long, pytest.mark.whole_command, pytest.mark.timeout(900)]
PORTS = (8080, 8400)  # Airflow and the emulator


def is_taken(port: int) -> bool:
    """Tell whether a program of this machine listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.skipif(
    any(map(is_taken, PORTS)), reason="one of the ports of `make up` is taken on this machine"
)
def test_what_make_up_starts_answers_and_make_down_stops_it(tmp_path: Path) -> None:
    session = Session(tmp_path, {}, INSTEAD)
    try:
        printed = session.run("make up")

        assert "http://localhost:8080" in printed
        assert all(map(is_taken, PORTS))
    finally:
        session.run("make down")

    assert not any(map(is_taken, PORTS))

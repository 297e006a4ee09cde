"""`make up` and `make down`: everything runs on this machine, and stops."""

import socket
from pathlib import Path

import httpx2
import psutil
import pytest
from playwright.sync_api import Page

from scripts.stack import Stack
from tests.documents.commands import INSTEAD
from tests.documents.sessions import Session
from transit_airflow.plugin import TransitPages

pytestmark = [pytest.mark.long, pytest.mark.whole_command, pytest.mark.timeout(900)]
AIRFLOW = "http://localhost:8080"
PORTS = (8080, 8400)  # Airflow and the emulator


def is_taken(port: int) -> bool:
    """Tell whether a program of this machine listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def login(password: str) -> httpx2.Response:
    """Ask Airflow for a token."""
    user = {"username": "admin", "password": password}
    return httpx2.post(f"{AIRFLOW}/auth/token", json=user, timeout=30)


def listening_addresses(session: Session) -> set[str]:
    """Return the addresses on which the programs that `make up` started accept connections."""
    programs = Stack(session.folder / "data" / "up").programs()
    return {
        connection.laddr.ip
        for program in programs
        for process in program.processes()
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }


def end_emulator(session: Session) -> None:
    """Kill the emulator that `make up` started."""
    for program in Stack(session.folder / "data" / "up").programs():
        if program.name == "emulator":
            for process in program.processes():
                process.kill()
                process.wait()


def logs(session: Session) -> list[Path]:
    """List the logs of the programs."""
    return sorted((session.folder / "data" / "up").glob("*.log"))


def look_at_the_pages(page: Page, password: str) -> None:
    """Log in, and look at Airflow's first page and at those of transit-etl, as a reader does."""
    page.goto(AIRFLOW)
    page.get_by_label("Username").fill("admin")
    page.get_by_label("Password").fill(password)
    page.keyboard.press("Enter")
    page.get_by_text("Triggerer").wait_for()
    with page.expect_response("**/monitor/health") as answer:
        page.reload()
    assert {"healthy"} == {part["status"] for part in answer.value.json().values()}
    for address in [view["href"] for view in TransitPages.external_views]:
        shown = page.goto(f"{AIRFLOW}/{address}")
        assert shown is not None
        assert shown.ok or "yet: " in page.inner_text("body"), address  # nothing was staged or built yet


def test_what_make_up_starts_answers_and_make_down_stops_it(tmp_path: Path, page: Page) -> None:
    session = Session(tmp_path, {}, INSTEAD)
    try:
        printed = session.run("make up")

        assert "http://localhost:8080" in printed
        assert all(map(is_taken, PORTS))
        assert {"127.0.0.1"} == listening_addresses(session)
        password = printed.split("password ")[1].split()[0]
        look_at_the_pages(page, password)
        assert 401 == login("not the password").status_code
        assert 401 == httpx2.get(f"{AIRFLOW}/api/v2/dags", timeout=30).status_code
        token = {"Authorization": f"Bearer {login(password).json()['access_token']}"}
        assert httpx2.get(f"{AIRFLOW}/api/v2/dags", headers=token, timeout=30).is_success
        assert 400 == httpx2.get(AIRFLOW, headers={"Host": "elsewhere.test"}, timeout=30).status_code
        assert password not in session.run("make up")
        end_emulator(session)
        assert "The emulator had ended" in session.run("make up")
        assert all(map(is_taken, PORTS))
        assert not [path for path in logs(session) if password in path.read_text(errors="replace")]
    finally:
        session.run("make down")

    assert not any(map(is_taken, PORTS))

"""The pages inside Airflow are for its users alone, and serve nothing but what lies below their folders."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from airflow.api_fastapi.app import create_auth_manager
from airflow.api_fastapi.auth.managers.simple.user import SimpleAuthManagerUser
from airflow.api_fastapi.core_api.security import get_user
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from transit_airflow import live
from transit_airflow.app import make_app
from transit_airflow.plugin import PREFIX, LateApp, TransitPages
from transit_etl import paths
from transit_etl.operations import Examination, examine
from transit_etl.settings import Settings

PATHS = [
    "/live", "/live/", "/reports", "/reports/", "/reports/index.html", "/reports/2026-03/line/18/index.html",
    "/quality/", "/dictionary/", "/dictionary/index.md", "/models/", "/nothing", "/nothing/at/all", "/",
    "/docs", "/openapi.json", "/redoc", "/reports/../../state", "/static/x",
]  # fmt: skip
SECRET = "a secret"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a data folder with a report, and a file that is no page."""
    folder = paths.performance_dir(tmp_path)
    (folder / "2026-03").mkdir(parents=True)
    (folder / "index.html").write_text("<h1>all reports</h1>")
    (folder / "2026-03" / "index.html").write_text("<h1>March</h1>")
    (folder / "2026-03" / "lines.csv").write_text("line\n18\n")
    (folder / "outside").symlink_to(tmp_path)
    (tmp_path / "secret.html").write_text(SECRET)
    paths.dictionary_dir(tmp_path).mkdir(parents=True)
    (paths.dictionary_dir(tmp_path) / "index.md").write_text("# Dictionary\n\n<script>alert(1)</script>\n")
    paths.models_dir(tmp_path).mkdir(parents=True)
    (paths.models_dir(tmp_path) / "index.html").write_text("<h1>Models</h1>")
    monkeypatch.setenv("TRANSIT_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def app() -> FastAPI:
    create_auth_manager()
    return make_app()


@pytest.fixture
def anonymous(app: FastAPI, data: Path) -> TestClient:
    assert data.is_dir()
    return TestClient(app, follow_redirects=False, raise_server_exceptions=False)


@pytest.fixture
def user(app: FastAPI, data: Path) -> Iterator[TestClient]:
    assert data.is_dir()
    app.dependency_overrides[get_user] = lambda: SimpleAuthManagerUser(username="u", role="viewer")
    with TestClient(app, follow_redirects=False) as client:
        yield client


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_who_is_not_logged_in_is_refused_whatever_is_asked_for(
    anonymous: TestClient, method: str, path: str
) -> None:
    answer = anonymous.request(method, path)

    assert answer.status_code in {401, 403}
    assert SECRET not in answer.text


def test_every_route_of_the_application_is_guarded(app: FastAPI) -> None:
    routes = [route for route in app.routes if isinstance(route, APIRoute)]

    assert 3 == len(routes) == len(app.routes)  # no mount, no description of the interface
    for route in routes:
        calls = [each.call for dependency in route.dependant.dependencies for each in dependency.dependencies]
        assert get_user in calls, route.path


def test_a_broken_log_in_shows_nothing(app: FastAPI, anonymous: TestClient) -> None:
    def broken() -> None:
        raise RuntimeError

    app.dependency_overrides[get_user] = broken

    assert 500 == anonymous.get("/reports/").status_code


@pytest.mark.parametrize(
    ("path", "text", "media_type"),
    [
        ("/reports/", "all reports", "text/html"),
        ("/reports/index.html?x=1", "all reports", "text/html"),
        ("/reports/2026-03/", "March", "text/html"),
        ("/reports/2026-03/lines.csv", "18", "text/csv"),
        ("/dictionary/", "Dictionary", "text/html"),
    ],
)
def test_a_user_is_shown_what_was_written(user: TestClient, path: str, text: str, media_type: str) -> None:
    answer = user.get(path)

    assert 200 == answer.status_code
    assert text in answer.text
    assert answer.headers["content-type"].startswith(media_type)
    assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert "frame-ancestors 'self'" in answer.headers["content-security-policy"]
    assert "<script" not in answer.text


def test_the_page_about_models_alone_runs_a_script_as_an_origin_of_its_own(user: TestClient) -> None:
    answer = user.get("/models/")

    assert (200, "<h1>Models</h1>") == (answer.status_code, answer.text)
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert {"sandbox allow-scripts allow-forms", "form-action 'none'", "frame-ancestors 'self'"} <= {
        *policy.split("; ")
    }
    assert "allow-same-origin" not in policy
    others = [
        user.get(path).headers["content-security-policy"] for path in ("/reports/", "/dictionary/", "/live")
    ]
    assert [] == [other for other in others if "script-src" in other]


def test_the_address_of_a_folder_leads_to_its_first_page_below_any_prefix(user: TestClient) -> None:
    answer = user.get("/reports/2026-03")

    assert (307, "2026-03/") == (answer.status_code, answer.headers["location"])


@pytest.mark.parametrize(
    "path",
    [
        "/reports/../../secret.html", "/reports/%2e%2e/%2e%2e/secret.html", "/reports//etc/passwd",
        "/reports/outside/secret.html", "/models/../../secret.html",
        "/reports/%00", f"/reports/{'x' * 5000}", "/quality/nothing.html",
        "/state/folder.lock", "/live/more",
    ],
)  # fmt: skip
def test_nothing_else_is_shown(user: TestClient, path: str) -> None:
    answer = user.get(path)

    assert 404 == answer.status_code
    assert SECRET not in answer.text


def test_before_anything_was_written_it_says_what_writes_it(user: TestClient) -> None:
    answer = user.get("/quality/")

    assert (404, True) == (answer.status_code, "transit-etl stage" in answer.text)


def test_the_live_page_is_read_in_the_background(user: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(settings: Settings, **_: bool) -> Examination:
        time.sleep(live.FIRST_SECONDS * 3)
        return original(settings, asks=False)

    original = examine
    monkeypatch.setattr(live, "examine", slow)

    assert "being read" in user.get("/live").text
    for _ in range(100):
        text = user.get("/live").text
        if "being read" not in text:
            break
        time.sleep(0.1)
    assert "Requests of the last minute" in text
    assert "nobody polls now" in text


def test_what_cannot_be_read_is_said(user: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(settings: Settings, **_: bool) -> Examination:
        raise OSError(settings.operator + " is <away>")

    monkeypatch.setattr(live, "examine", broken)

    assert "cannot be read: emulated is &lt;away&gt;" in user.get("/live").text


@pytest.mark.parametrize("path", ["/live", "/reports/", "/dictionary/"])
def test_a_bad_setting_is_named_to_users_and_to_nobody_else(
    user: TestClient, app: FastAPI, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("TRANSIT_WINDOW_SECONDS", "<b>soon</b>")
    shown = user.get(path)
    app.dependency_overrides.clear()
    refused = TestClient(app, raise_server_exceptions=False).get(path)

    assert 500 == shown.status_code
    assert "TRANSIT_WINDOW_SECONDS" in shown.text
    assert "<b>" not in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert (401, False) == (refused.status_code, "TRANSIT" in refused.text)


def test_the_live_page_sends_no_request(user: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Settings] = []
    monkeypatch.setattr("transit_etl.operations.check.upstream.ask_once", asked.append)
    for _ in range(100):
        if "Requests of the last minute" in user.get("/live").text:
            break
        time.sleep(0.1)

    assert [] == asked


def test_the_navigation_of_airflow_leads_to_pages_that_there_are(user: TestClient) -> None:
    addresses = [view["href"] for view in TransitPages.external_views]

    assert 5 == len(addresses)
    assert all(f"/{address}".startswith(f"{PREFIX}/") for address in addresses)
    known = [user.get(f"/{address}".removeprefix(PREFIX)).status_code for address in addresses]
    assert [200, 200, 404, 200, 200] == known  # no batch was validated


def test_a_program_that_shows_no_page_imports_nothing_large() -> None:
    large = "print(*sorted({'duckdb', 'altair', 'fastapi', 'pandas'} & {*sys.modules}))"
    without, with_plugin = (
        subprocess.run(
            [sys.executable, "-c", f"import sys, {module}; {large}"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for module in ("airflow.plugins_manager", "transit_airflow.plugin")
    )

    assert without == with_plugin


def test_the_application_is_made_when_it_is_asked_first(data: Path) -> None:
    create_auth_manager()
    client = TestClient(LateApp(), raise_server_exceptions=False)

    assert data.is_dir()
    assert [401, 401] == [client.get(path).status_code for path in ("/live", "/reports/")]

"""The page about the models in a browser: from disk, and below the content policy that Airflow gives it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, Route, expect

from transit_airflow.app import policy_of
from transit_etl.paths import models_dir
from transit_etl.settings import Settings

pytestmark = [pytest.mark.browser, pytest.mark.long, pytest.mark.timeout(600)]
SERVED = "http://127.0.0.1:9/models/"
VISITS = "#!/model/model.transit.stop_visits"
Show = Callable[[str], None]


@pytest.fixture
def asked(page: Page) -> list[str]:
    """Return the addresses that the page asked for, without its data; it grows while the test runs."""
    addresses: list[str] = []

    def keep(request: Request) -> None:
        if not request.url.startswith("data:"):
            addresses.append(request.url)

    page.on("request", keep)
    return addresses


@pytest.fixture
def complaints(page: Page) -> list[str]:
    """Return the errors and warnings on the console; it grows while the test runs."""
    messages: list[str] = []

    def keep(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            messages.append(message.text)

    page.on("console", keep)
    return messages


@pytest.fixture(params=["disk", "airflow"])
def show(request: pytest.FixtureRequest, page: Page, built: Settings) -> Show:
    """Show a part of the page as a reader does who opens the file, or as one of Airflow does."""
    path = models_dir(built.data_dir) / "index.html"
    if request.param == "disk":
        return lambda part: _open(page, path.absolute().as_uri() + part)
    headers = {"Content-Security-Policy": policy_of("models"), "Content-Type": "text/html; charset=utf-8"}

    def answer(route: Route) -> None:
        route.fulfill(body=path.read_bytes(), headers=headers)

    page.route(f"{SERVED}**", answer)
    return lambda part: _open(page, SERVED + part)


def _open(page: Page, address: str) -> None:
    page.goto("about:blank")  # another part of the same page would not load it again
    page.goto(address)


def test_it_shows_models_columns_search_and_lineage_and_asks_nobody_for_anything(
    page: Page, show: Show, asked: list[str], complaints: list[str]
) -> None:
    show("")
    expect(page.locator("h2")).to_contain_text("The models of transit-etl")

    show(VISITS)
    expect(page.get_by_role("heading", name="stop_visits")).to_be_visible()
    expect(page.locator(".column-row", has_text="passed_before").first).to_contain_text("timestamp")

    page.get_by_placeholder("Search for models").fill("lift_reliability")
    expect(page.get_by_role("heading", name="search results")).to_contain_text("lift_reliability")

    page.locator(".launcher-btn a").click()
    expect(page.locator(".launcher-content canvas").first).to_be_visible()

    assert [] == complaints
    assert 2 == len([address for address in asked if address != "about:blank"])


def test_a_script_that_got_into_the_page_does_not_run(page: Page, built: Settings, alerts: list[str]) -> None:
    path = models_dir(built.data_dir) / "index.html"
    infected = path.with_name("infected.html")
    script = "<script>alert(1)</script><img src=x onerror=alert(1)></body>"
    before, _, after = path.read_text("utf-8").rpartition("</body>")
    infected.write_text(before + script + after, "utf-8")
    page.goto(infected.as_uri())
    expect(page.locator("h2")).to_contain_text("The models of transit-etl")
    infected.unlink()

    assert [] == alerts


@pytest.mark.parametrize("show", ["airflow"], indirect=True)
def test_its_scripts_have_no_part_in_the_origin_that_serves_it(page: Page, show: Show) -> None:
    show("")

    assert "null" == page.evaluate("self.origin")

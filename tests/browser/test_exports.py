"""The pages of exports in a browser: accessible, with one script that searches, and complete without it."""

from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from tests.browser.test_reports import HOSTILE, NARROW, RULES
from tests.exports.conftest import settings_in
from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import published_database
from transit_exports import ExportSettings, Request, export
from transit_exports.catalogue import write_catalogue
from transit_exports.manifest import File, Manifest, write_manifest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
REQUESTS = [
    Request(("headline.on_time_months",), "csv", allows_incomplete=True),
    Request(("headline.on_time_lines",), "csv", allows_incomplete=True),
    Request(("headline.excess_waiting",), "csv", allows_incomplete=True),
    Request(("headline.trips_delivered",), "csv", allows_incomplete=True),
    Request(("headline.service_disruptions",), "csv", allows_incomplete=True),
    Request(("core.lines",), "csv"),
    Request(("core.lines",), "parquet"),
    Request((), "tides", allows_incomplete=True),
]
N_DATASETS = 7
SCRIPTS = "script, img, iframe, form, base, meta[http-equiv=refresh], [onerror], [onload], [style]"


def settings_for(rehearsed: Rehearsed, folder: Path) -> ExportSettings:
    """Return settings of a data folder with nothing but the published file of the rehearsed hours."""
    settings = settings_in(folder, publisher="City of Tests", licence="CC-BY-4.0", contact="data@city.test")
    settings.database.parent.mkdir(parents=True)
    settings.database.hardlink_to(published_database(rehearsed.settings.data_dir))
    return settings


@pytest.fixture(scope="module")
def index(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Export some tables and a feed; return the page that lists them."""
    settings = settings_for(rehearsed, tmp_path_factory.mktemp("exports"))
    for request in REQUESTS:
        export(settings, request)
    return settings.folder / "index.html"


@pytest.fixture(scope="module")
def pages(index: Path) -> list[Path]:
    """Return the index, and the page of a table and of a feed."""
    return [index, *(index.parent / name / "index.html" for name in ("on_time_lines-csv", "tides"))]


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_no_page_breaks_a_rule_of_accessibility(browser: Browser, pages: list[Path], scheme: str) -> None:
    # axe is a script: it needs a page that does not enforce its content policy.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    for each in pages:
        page.goto(each.as_uri())
        results = Axe().run(page, options=RULES)

        assert 0 == results.violations_count, f"{each}\n{results.generate_report()}"
    context.close()


@pytest.mark.parametrize("runs_scripts", [True, False])
def test_no_page_asks_for_what_its_policy_refuses(
    browser: Browser, pages: list[Path], *, runs_scripts: bool
) -> None:
    context = browser.new_context(java_script_enabled=runs_scripts)
    page = context.new_page()
    messages: list[str] = []

    def keep(message: ConsoleMessage) -> None:
        messages.append(message.text)

    page.on("console", keep)
    for each in pages:
        page.goto(each.as_uri())

        assert page.locator("h1").is_visible(), each
        assert [] == messages, each
    context.close()


def test_without_scripts_all_is_listed_and_there_is_no_search(browser: Browser, index: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(index.as_uri())

    assert page.get_by_label("Search").count() == 1
    assert not page.get_by_label("Search").is_visible()
    assert [True] * N_DATASETS == [each.is_visible() for each in page.get_by_role("article").all()]
    context.close()


def test_the_search_shows_the_datasets_that_have_all_words_and_no_others(page: Page, index: Path) -> None:
    page.goto(index.as_uri())
    articles = page.get_by_role("article")  # those that are not hidden

    expect(articles).to_have_count(N_DATASETS)
    page.get_by_role("searchbox").fill("WAIT excess")
    expect(articles).to_have_count(1)
    expect(page.get_by_role("status")).to_have_text(f"1 of {N_DATASETS} datasets")
    assert not page.get_by_role("heading", name="For reporters").is_visible()
    assert not page.get_by_role("heading", name="Feeds").is_visible()
    page.get_by_role("searchbox").fill("monthly trams")
    expect(articles).to_have_count(0)
    expect(page.get_by_role("status")).to_have_text("No dataset matches.")
    page.get_by_role("navigation").get_by_text("Feeds").click()
    expect(articles).to_have_count(N_DATASETS)


def test_the_first_group_leads_reporters_to_five_datasets(page: Page, index: Path) -> None:
    page.goto(index.as_uri())
    first = page.get_by_role("region", name="For reporters: these five")
    links = first.get_by_role("link").all()

    assert 5 == len(links)
    for link in links:
        link.click()
        expect(page.locator(":target")).to_have_count(1)


def test_no_page_is_wider_than_a_telephone(browser: Browser, pages: list[Path]) -> None:
    page = browser.new_page(viewport={"width": NARROW, "height": 740})
    for each in pages:
        page.goto(each.as_uri())

        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW, each
    page.close()


def test_the_keyboard_reaches_every_link_and_the_search(page: Page, index: Path) -> None:
    page.goto(index.as_uri())
    expected = page.locator("a[href], input").count()
    reached = []
    for _ in range(expected):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.outerHTML"))

    assert "To the content" in reached[0]
    assert expected == len({*reached})
    assert 1 == sum(each.startswith("<input") for each in reached)


def test_print_has_the_datasets_and_neither_the_search_nor_the_links_between_groups(
    page: Page, index: Path
) -> None:
    page.goto(index.as_uri())
    page.emulate_media(media="print")

    assert not page.locator("nav").is_visible()
    assert not page.get_by_label("Search").is_visible()
    assert N_DATASETS == page.get_by_role("article").count()
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.fixture
def hostile(rehearsed: Rehearsed, tmp_path: Path) -> list[Path]:
    """Write the index and the page of datasets whose texts are markup."""
    settings = replace(
        settings_for(rehearsed, tmp_path / "data"),
        publisher=f"{HOSTILE} ![x](http://127.0.0.1:9/x.png) [y](javascript:alert(1))",
        licence=HOSTILE,
        contact=HOSTILE,
    )
    export(settings, Request(("core.lines",), "csv"))
    folder = settings.folder / "hostile"
    folder.mkdir()
    column = {"name": HOSTILE, "type": "text", "unit": "", "meaning": HOSTILE}
    manifest = Manifest(
        dataset=HOSTILE, subject=HOSTILE, title=HOSTILE, format=HOSTILE, media_type="text/csv",
        first_date=HOSTILE, last_date="2026-03-02", timezone="Europe/Rome", is_complete=False,
        incomplete=[HOSTILE], coverage={}, versions={}, published_at="2026-03-03T02:00:00Z",
        publisher=HOSTILE, licence=HOSTILE, version=HOSTILE, keywords=[HOSTILE], signature="",
        tables=[{"name": HOSTILE, "meaning": HOSTILE, "key": [], "columns": [column]}],
        files=[File("x.csv", "x", "", 1, 1, "")],
    )  # fmt: skip
    write_manifest(folder, manifest)
    write_catalogue(settings, settings.publisher)
    return [settings.folder / "index.html", settings.folder / "lines-csv" / "index.html"]


def test_no_text_of_a_dataset_becomes_an_element_or_runs(
    page: Page, hostile: list[Path], requests_elsewhere: list[str], alerts: list[str]
) -> None:
    for each, n_scripts in zip(hostile, (1, 0), strict=True):
        assert "&lt;script&gt;" in each.read_text("utf-8")
        page.goto(each.as_uri())
        page.wait_for_timeout(50)

        assert [] == alerts, each
        assert n_scripts == page.locator(SCRIPTS).count(), each
        assert 0 == page.locator("a[href^='javascript:' i]").count(), each
        assert "{{ 7 * 7 }}" in page.content(), each
    page.goto(hostile[0].as_uri())
    page.get_by_role("searchbox").fill("<script>alert(1)</script>\"'>")
    assert 2 == page.get_by_role("article").count()
    assert [] == alerts
    assert [] == requests_elsewhere


@pytest.mark.long
def test_a_script_that_got_into_a_page_does_not_run(page: Page, pages: list[Path], alerts: list[str]) -> None:
    for each in pages:
        infected = each.with_suffix(".infected.html")
        script = "<script>alert(1)</script><img src=x onerror=alert(1)></body>"
        infected.write_text(each.read_text("utf-8").replace("</body>", script), "utf-8")
        page.goto(infected.as_uri())
        page.wait_for_timeout(50)
        infected.unlink()

        assert 1 <= page.locator("img").count()
        assert [] == alerts, each

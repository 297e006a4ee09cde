"""The pages that `make docs` writes, opened from disk in a browser that can reach this machine only."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from transit_etl.warehouse.describing.contract_summary import promised_columns

pytestmark = [pytest.mark.browser, pytest.mark.long]  # the pages take a minute to build
ROOT = Path(__file__).parents[2]
COLUMNS = promised_columns(ROOT / "docs" / "contract.yaml")
TABLES = sorted({f"dictionary/{column.schema}.{column.table}.html" for column in COLUMNS})
PAGES = sorted(f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md"))
SOME = [*PAGES, "dictionary/index.html", "dictionary/columns.html", "dictionary/core.stop_visits.html"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the pages; a warning fails."""
    folder = tmp_path_factory.mktemp("pages")
    options = ["--quiet", "--fail-on-warning", "-b", "html", "-d", str(folder / "trees")]
    subprocess.run(
        [sys.executable, "-m", "sphinx", *options, str(ROOT / "docs"), str(folder / "html")], check=True
    )
    return folder / "html"


def test_the_first_page_leads_to_every_other(page: Page, pages: Path) -> None:
    page.goto((pages / "index.html").as_uri())
    linked = {link.get_attribute("href") for link in page.locator(".sidebar-tree a").all()}

    assert {*PAGES, *TABLES} - {"index.html"} <= linked


def test_the_search_finds_a_page_and_opens_it(page: Page, pages: Path) -> None:
    page.goto((pages / "index.html").as_uri())
    page.locator("input[name=q]").fill("evidenced")
    page.locator("input[name=q]").press("Enter")
    page.locator("#search-results a", has_text="Concepts").first.click()

    expect(page.locator("h1")).to_contain_text("Concepts")


def test_the_search_finds_a_column_by_a_word_of_its_name(page: Page, pages: Path) -> None:
    page.goto((pages / "dictionary" / "index.html").as_uri())
    page.locator("input[name=q]").fill("bunched")
    page.locator("input[name=q]").press("Enter")
    page.locator("#search-results a", has_text="marts.headways").first.click()

    expect(page.locator("h1")).to_contain_text("marts.headways")


def test_no_page_requests_anything_from_other_machines(
    page: Page, pages: Path, requests_elsewhere: list[str]
) -> None:
    for each in SOME:
        page.goto((pages / each).as_uri())

    assert requests_elsewhere == []


def test_every_page_runs_its_own_scripts_and_no_others(page: Page, pages: Path, alerts: list[str]) -> None:
    refused: list[str] = []
    page.on("console", lambda message: refused.append(message.text))
    for each in (pages / name for name in SOME):
        page.goto(each.as_uri())
        assert [] == [text for text in refused if "Content Security Policy" in text], each
        infected = each.with_suffix(".infected.html")
        script = "<script>alert(1)</script><img src=x onerror=alert(1)></body>"
        infected.write_text(each.read_text().replace("</body>", script))
        page.goto(infected.as_uri())
        infected.unlink()

        assert [] == alerts
        assert refused
        refused.clear()


@pytest.mark.parametrize("name", SOME)
def test_no_page_is_wider_than_the_screen(page: Page, pages: Path, name: str) -> None:
    page.goto((pages / name).as_uri())
    width = page.evaluate("document.documentElement.scrollWidth")

    assert width <= 1280

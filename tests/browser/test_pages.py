"""The pages about data quality and of the emulator, in a browser that can reach this machine only."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.journey import Journey
from transit_etl.paths import quality_pages_dir

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
SUITES = sorted(path.stem for path in (Path(__file__).parents[2] / "expectations").glob("*.json"))


@pytest.fixture
def first_page(journey: Journey) -> str:
    return (quality_pages_dir(journey.data) / "index.html").as_uri()


def test_the_first_page_about_quality_lists_every_suite(page: Page, first_page: str) -> None:
    page.goto(first_page)
    text = page.inner_text("body")

    assert SUITES
    assert [] == [suite for suite in SUITES if suite not in text]


def test_a_dataset_that_was_validated_has_a_page_with_its_rules(page: Page, first_page: str) -> None:
    page.goto(first_page)
    page.locator("a[href*='validations'][href*='passages']").first.click()

    expect(page.locator("body")).to_contain_text("passages")
    assert page.locator("table").count() > 0


def test_no_page_about_quality_requests_anything_from_other_machines(
    page: Page, journey: Journey, requests_elsewhere: list[str]
) -> None:
    pages = sorted(quality_pages_dir(journey.data).rglob("*.html"))
    for each in pages[:5]:
        page.goto(each.as_uri())

    assert pages
    assert [] == requests_elsewhere


def test_the_emulator_describes_itself_and_its_contract(page: Page, journey: Journey) -> None:
    base = journey.settings["TRANSIT_BASE_URL"].removesuffix("api/v1/")
    page.goto(base)

    expect(page.locator("body")).to_contain_text(str(journey.about["network"]))

    page.goto(f"{base}openapi.json")

    expect(page.locator("body")).to_contain_text("/api/v1/passaggi/{codice_fermata}")

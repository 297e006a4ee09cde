"""The pages about data quality in a browser: accessible in light and dark, and without a complaint."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page

from tests.browser.test_reports import RULES
from tests.stage.landing import Folder, answer, line, passage
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, stage

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def first_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stage batches with rows set aside, one kept out, and a note; build the pages."""
    folder = Folder(Settings(data_dir=tmp_path_factory.mktemp("quality"), operator="x"))
    folder.land("lines", [("", [line("018-00", "018"), line("", "19")])])
    lost = [passage(linea="X9") if number < 9 else passage(orario="presto") for number in range(20)]
    folder.land("passages", [("0001", answer(*lost))])
    folder.land("status", [("", "no JSON")])
    stage(folder.settings)
    return build_data_docs(folder.settings)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_first_page_breaks_no_rule_of_accessibility(
    browser: Browser, first_page: Path, scheme: str
) -> None:
    # axe is a script: it needs a page that does not enforce its content policy.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(first_page.as_uri())
    results = Axe().run(page, options=RULES)
    context.close()

    assert 0 == results.violations_count, results.generate_report()


def test_no_page_breaks_its_own_content_policy(page: Page, first_page: Path) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    pages = sorted(first_page.parent.rglob("*.html"))
    for each in pages:
        page.goto(each.as_uri())

    assert len(pages) > 2
    assert [] == complaints

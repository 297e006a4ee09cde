"""Texts of the upstream that hold markup are text on our pages: no script of theirs runs in a browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.stage.landing import Folder, answer, line, passage
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, stage

pytestmark = pytest.mark.browser
MARKUP = [
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>',
    "<a href='javascript:alert(1)' autofocus onfocus=alert(1)>x</a>", "<iframe src='javascript:alert(1)'>",
    "</td></table></style></title><script>alert(1)</script>", "$x ${x} {{ 7 * 7 }}<b>",
    "&lt;script&gt;alert(1)&lt;/script&gt;", "&#60;img src=x onerror=alert(1)&#62;",
    "<style>body { display: none }</style>",
    "<meta http-equiv='refresh' content='0;url=http://127.0.0.1:9/'>",
    "<form action='http://127.0.0.1:9/'><button autofocus onfocus=alert(1)>",
    "<base href='http://127.0.0.1:9/'>",
]  # fmt: skip


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stage answers whose texts are markup, each breaking some rule, and build the pages about quality."""
    folder = Folder(Settings(data_dir=tmp_path_factory.mktemp("hostile"), operator="x"))
    rows = [passage(**{key: text}) for text in MARKUP for key in passage()]
    folder.land("passages", [("0001", answer(*[passage()] * 500, *rows)), *_stops()])
    folder.land("lines", [("", [line("018-00"), *(line(text, text, note=text) for text in MARKUP)])])
    folder.land("status", [("", [dict.fromkeys(("codice", "categoria", "stato"), text) for text in MARKUP])])
    folder.land("news", [("", [{"id": text, "titolo": text, "data": text} for text in MARKUP])])
    stage(folder.settings)
    return build_data_docs(folder.settings).parent


def _stops() -> Iterator[tuple[str, object]]:
    for text in MARKUP:
        yield text, answer(passage(), codice_fermata=text, timestamp=text)


def test_the_markup_reaches_the_pages(pages: Path) -> None:
    assert any("alert(1)" in path.read_text() for path in pages.rglob("*.html")), json.dumps(MARKUP)


def test_no_text_of_the_upstream_becomes_an_element_or_runs(
    page: Page, pages: Path, requests_elsewhere: list[str], alerts: list[str]
) -> None:
    for each in sorted(pages.rglob("*.html")):
        page.goto(each.as_uri())
        page.wait_for_timeout(50)

        assert [] == alerts, each
        assert 0 == page.locator("script, iframe, svg, form, base, [onerror], [onload], [onfocus]").count(), (
            each
        )
        assert page.url == each.as_uri()
    assert [] == requests_elsewhere


def test_the_policy_of_every_page_runs_no_script_even_if_one_got_in(
    page: Page, pages: Path, alerts: list[str]
) -> None:
    for each in sorted(pages.rglob("*.html")):
        assert each.read_text().count("</body>") == 1
        infected = each.with_suffix(".infected.html")
        infected.write_text(each.read_text().replace("</body>", f"{''.join(MARKUP[:4])}</body>"))
        page.goto(infected.as_uri())
        page.wait_for_timeout(50)
        infected.unlink()

        assert [] == alerts, each

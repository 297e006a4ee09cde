"""Reports in a browser: accessible, without scripts, on a telephone, whatever the texts of the upstream."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page

from tests.exports.conftest import change
from tests.reports.conftest import LINK_ALL_NEWS, own, report
from tests.warehouse.rehearsed import DAY
from transit_exports import ExportSettings
from transit_reports import ReportError, ReportRequest, ReportSummary, write_reports

__all__ = ["own", "report"]
pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
NARROW = 375  # CSS pixels
A4_WIDTH = 688  # CSS pixels between the margins
TOO_WIDE = """width => [...document.querySelectorAll("main table, main svg")]
    .filter(each => each.getBoundingClientRect().right > width + 1).map(each => each.closest("figure")?.id)"""
KEPT_WHOLE = """() => [...document.querySelectorAll("figure")]
    .filter(each => !each.querySelector("svg") && getComputedStyle(each).breakInside == "avoid").length"""
COLOUR = """name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim()"""
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)> \u202etxt {{ 7 * 7 }} & Co"


def kinds_of(report: ReportSummary) -> list[Path]:
    """Return a page of each kind."""
    folder = report.page.parent
    line = min(folder.glob("line/*/index.html"))
    sections = (
        "lines", "stops", "stop", "compare", "disruptions", "lifts", "timetable", "news", "data", "method",
    )  # fmt: skip
    found = [
        folder.parent / "index.html", report.page, line, min(folder.glob("stop/*/index.html")),
        *(folder / each / "index.html" for each in sections),
    ]  # fmt: skip
    italian = folder / "it"
    return found + ([italian / "index.html", italian / line.relative_to(folder)] if italian.exists() else [])


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_no_page_breaks_a_rule_of_accessibility(browser: Browser, report: ReportSummary, scheme: str) -> None:
    # axe is a script: it needs a page that does not enforce its content policy.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)  # type: ignore[arg-type]
    page = context.new_page()
    for each in kinds_of(report):
        page.goto(each.as_uri())
        results = Axe().run(page, options=RULES)

        assert 0 == results.violations_count, f"{each}\n{results.generate_report()}"
    context.close()


def test_without_scripts_nothing_is_missing_and_no_console_error_is_printed(
    browser: Browser, report: ReportSummary
) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    errors: list[str] = []

    def keep(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            errors.append(message.text)

    page.on("console", keep)
    for each in kinds_of(report):
        page.goto(each.as_uri())

        assert page.locator("h1").is_visible(), each
        assert [] == errors, each
    context.close()


def test_no_page_is_wider_than_a_telephone(browser: Browser, report: ReportSummary) -> None:
    page = browser.new_page(viewport={"width": NARROW, "height": 740})
    for each in kinds_of(report):
        page.goto(each.as_uri())

        assert page.evaluate("document.documentElement.scrollWidth") <= NARROW, each
    page.close()


def test_the_keyboard_reaches_everything_in_order(page: Page, report: ReportSummary) -> None:
    page.goto(report.page.as_uri())
    page.keyboard.press("Tab")

    assert "To the content" == page.evaluate("document.activeElement.innerText")

    reached = []
    for _ in range(200):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.outerHTML.slice(0, 80)"))
        if page.evaluate("document.activeElement === document.body"):
            break
    n_expected = page.locator("a[href], summary, [tabindex='0']:visible").count()

    assert len({*reached}) >= 10
    assert n_expected - 40 <= len(reached) <= n_expected + 2  # what is folded away is skipped


def test_five_questions_are_answered_within_two_clicks(page: Page, report: ReportSummary) -> None:
    """From the first page of all reports, as whoever gets its address would go."""
    ways = {
        "Which line is the worst?": ["All lines, from the worst"],
        "Which stop is the worst?": ["All stops, from the worst"],
        "What went wrong?": ["All disruptions"],
        "Did the new timetable help?": ["Did a new timetable help?"],
        "How sure is that?": [],
    }
    answers = {
        "Which line is the worst?": "worst for certain is|Which line is the worst cannot be told|Too little",
        "Which stop is the worst?": "leave open that it is the worst|Too little",
        "What went wrong?": "disruptions? held|named no disruption",
        "Did the new timetable help?": "had a new timetable|New timetables began|none had other|is not known",
        "How sure is that?": "95 % interval|It is not known",
    }
    for question, links in ways.items():
        page.goto((report.page.parents[1] / "index.html").as_uri())
        page.get_by_role("link", name="The report of").click()
        for link in links:
            page.get_by_role("link", name=link, exact=True).first.click()
        text = page.locator("main").inner_text().replace("\u00a0", " ")

        assert len(links) <= 1
        assert re.search(answers[question], text), question


def test_print_has_the_figures_whole_and_not_what_can_only_be_clicked(
    browser: Browser, report: ReportSummary
) -> None:
    page = browser.new_page(viewport={"width": A4_WIDTH, "height": 1000})
    page.emulate_media(media="print")
    for each in kinds_of(report):
        page.goto(each.as_uri())

        assert page.locator("h1").is_visible(), each
        assert 0 == page.locator("nav:visible, summary:visible, details:visible, .links:visible").count(), (
            each
        )
        assert [] == page.evaluate(TOO_WIDE, A4_WIDTH), each
        assert 0 == page.evaluate(KEPT_WHOLE), (
            each
        )  # a long table that moves to the next page leaves half of one empty
    page.goto(report.page.as_uri())
    assert page.pdf(format="A4").startswith(b"%PDF")
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_lowest_shares_stand_out_most_and_a_legend_says_which_colour_is_which(
    browser: Browser, report: ReportSummary, scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.goto(min((report.page.parent / "line").glob("*/index.html")).as_uri())
    paper, *shades = [
        luminance(page.evaluate(COLOUR, name)) for name in ("paper", *(f"q{n}" for n in range(5)))
    ]
    contrasts = [(max(shade, paper) + 0.05) / (min(shade, paper) + 0.05) for shade in shades]

    assert sorted(contrasts) == contrasts
    assert [f"{low}–{low + 20}\u00a0%" for low in (80, 60, 40, 20, 0)] == page.locator(
        ".legend"
    ).first.locator("span").all_inner_texts()
    assert not re.search("[Dd]arker|[Ll]ighter", page.locator("main").inner_text())
    context.close()


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as #0b4279, as WCAG defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.long
def test_the_overview_is_printed_as_pdf_by_a_browser(
    own: ExportSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00"], languages=["en", "it"], is_printed=True)
    [written] = write_reports(own, tmp_path / "reports", asked)
    printed = [folder / "overview.pdf" for folder in (written.page.parent, written.page.parent / "it")]

    assert all(pdf.read_bytes().startswith(b"%PDF") for pdf in printed)
    assert 'href="overview.pdf"' in written.page.read_text("utf-8")
    [again] = write_reports(own, tmp_path / "reports", asked)
    assert 0 == again.n_changed

    monkeypatch.setenv("PATH", "")
    with pytest.raises(ReportError, match="no PDF without a browser"):
        write_reports(own, tmp_path / "elsewhere", asked)
    assert not (tmp_path / "elsewhere").exists()


@pytest.fixture
def hostile(own: ExportSettings, tmp_path: Path) -> ReportSummary:
    """Write a report of a network whose names are markup."""
    text = HOSTILE.replace("'", "''")
    change(
        own,
        f"update core.lines set line_number = '{text}', terminus_outbound = '{text}'",
        f"update intermediate.line_destinations set terminus = '{text}'",
        f"update core.scheduled_departures set headsign = '{text}', outcome = 'not_run'",
        f"update marts.disruptions set cause = '{text}', message = '{text}', lines = ['{text}']",
        f"update core.news set title = '{text}', content = '{text}'",
        f"update core.status_episodes set message = '{text}'",
        LINK_ALL_NEWS,
    )
    [written] = write_reports(own, tmp_path / "reports", ReportRequest(first=DAY, last=DAY))
    return written


def test_no_text_of_the_upstream_becomes_an_element_or_runs(
    page: Page, hostile: ReportSummary, requests_elsewhere: list[str], alerts: list[str]
) -> None:
    pages = kinds_of(hostile)
    assert any("&lt;script&gt;" in each.read_text("utf-8") for each in pages)
    for each in pages:
        page.goto(each.as_uri())
        page.wait_for_timeout(50)

        assert [] == alerts, each
        assert 0 == page.locator("script, img, iframe, form, [onerror], [onload]").count(), each
        assert "{{ 7 * 7 }}" in page.content() or each.parent.name not in {"lines", "disruptions"}, each
    assert [] == requests_elsewhere

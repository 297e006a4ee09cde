"""Pages have one style, and their content policy admits it by its digest."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest

from transit_exports.rendering import from_markdown, render, source_of, style_source

ROOT = Path(__file__).parents[2]
PACKAGES = ("transit_exports", "transit_reports", "transit_airflow")


def digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def page() -> str:
    values = {
        "title": "<T>", "publisher": "P", "period": "", "root": "", "pages": [], "content": "",
        "is_listed": False,
    }  # fmt: skip
    return render("dataset.html", values, "transit_exports")


def test_the_policy_of_a_page_admits_its_style_and_nothing_else() -> None:
    [style] = re.findall("<style>(.*?)</style>", page(), re.DOTALL)
    [policy] = re.findall('Content-Security-Policy" content="([^"]*)"', page())

    assert "--paper" in style
    assert digest(style) == style_source()
    assert f"default-src 'none'; style-src {digest(style)}; base-uri 'none'; form-action 'none'" == policy
    assert "<title>&lt;T&gt;</title>" in page()


def test_a_script_is_admitted_by_its_digest() -> None:
    assert digest("alert(1)") == source_of("alert(1)")


def test_there_is_one_style() -> None:
    templates = [path for name in PACKAGES for path in (ROOT / name).rglob("*") if path.suffix == ".html"]
    styles = [path for name in PACKAGES for path in (ROOT / name).rglob("*.css")]

    assert len(templates) > 10
    assert ["base.html"] == [path.name for path in templates if "<style" in path.read_text("utf-8")]
    assert [ROOT / "transit_exports" / "style" / "style.css"] == styles


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>"),
        ("[x](javascript:alert)", "<p>[x](javascript:alert)</p>"),
        ("[x](y.csv)", '<p><a href="y.csv">x</a></p>'),
    ],
)
def test_html_in_markdown_is_text(text: str, expected: str) -> None:
    assert expected == from_markdown(text).strip()


def test_no_picture_is_shown() -> None:
    assert "<img" not in from_markdown("![x](http://other.test/y.png)")


def test_every_table_scrolls_in_a_region_with_a_name_of_its_own() -> None:
    table = "\n\n| a | b |\n|---|---:|\n| 1 | 2 |\n"
    html = from_markdown(f"x{table}{table}\ny")

    assert ["Table 1", "Table 2"] == re.findall('<div class="scroll"[^>]*aria-label="([^"]*)"><table>', html)
    assert 2 == html.count("</table></div>")
    assert 4 == html.count('class="number"')
    assert "style=" not in html

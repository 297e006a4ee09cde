"""Makes the Data Docs self-contained, without scripts or anything from elsewhere; writes their first page."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from lxml import html

# What runs, is loaded from elsewhere, or leads there: the footer links to the maker of the pages.
_REMOVED = "//script | //footer | //link[starts-with(@href, 'http')] | //img[starts-with(@src, 'http')]"
_REMOTE_URL = re.compile(r"""url\(["']?https?://[^)]*\)""")  # in a style sheet

# Whatever a page holds, it runs no script, loads nothing and sends nothing.
_POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
)

_STYLE = """
:root { color-scheme: light; --line: #d9dde3; --soft: #f5f6f8; --good: #1a7f37; --bad: #b3261e; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: #1c2430; background: #fff; }
a { color: #0b57d0; text-decoration: none; } a:hover { text-decoration: underline; }
h1 { font-size: 26px; margin: 0 0 4px; } h4, h5, h6 { font-size: 16px; margin: 8px 0; }
main { max-width: 1180px; margin: 0 auto; padding: 32px 24px; }
nav.navbar.sticky-top { height: auto !important; border-bottom: 1px solid var(--line); padding: 10px 24px; }
ol.breadcrumb { list-style: none; display: flex; gap: 8px; margin: 0; padding: 0; }
ol.breadcrumb li + li::before { content: "/"; margin-right: 8px; color: #8a93a0; }
.container-fluid { padding: 20px 24px; }
.container-fluid > .row { display: flex; gap: 32px; flex-wrap: wrap; }
.container-fluid > .row > :first-child { flex: 0 0 230px; }
.container-fluid > .row > :last-child { flex: 1 1 600px; min-width: 0; }
.card { border: 1px solid var(--line); border-radius: 8px; margin-bottom: 16px; padding: 10px; }
.card:has(.btn-group-toggle), .cooltip, a[data-toggle="collapse"] { display: none; }
ul.nav { list-style: none; margin: 0; padding: 4px; } .nav-item { padding: 2px 0; }
.ge-section { border-top: 1px solid var(--line); padding-top: 8px; }
table { border-collapse: collapse; width: 100%; margin: 8px 0 16px; }
th, td { text-align: left; vertical-align: top; padding: 7px 10px; border-bottom: 1px solid var(--line); }
th { background: var(--soft); font-weight: 600; }
td table { width: auto; } code { background: var(--soft); padding: 1px 4px; border-radius: 4px; }
.fa-check-circle::before { content: "\\2713 held"; color: var(--good); font-style: normal; font-weight: 600; }
.fa-times::before, .fa-exclamation-triangle::before
  { content: "\\2717 broken"; color: var(--bad); font-style: normal; font-weight: 600; }
.badge { border: 1px solid var(--line); border-radius: 6px; padding: 0 6px; background: var(--soft); }
.good { color: var(--good); font-weight: 600; } .bad { color: var(--bad); font-weight: 600; }
.quiet { color: #5c6673; } li { margin: 2px 0; }
@media (max-width: 700px) { main { padding: 16px 12px; } main > table { display: block; overflow-x: auto; } }
"""


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """A dataset's last validation, as the first page shows it. Links are relative to that page."""

    dataset: str
    window: str
    last_received_at: str
    n_rules: int
    broken: tuple[tuple[str, str], ...]
    result_link: str | None


def make_self_contained(folder: Path) -> None:
    """Rewrite every page below a folder so that it loads nothing from elsewhere and can run no script."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True)
    for path in folder.rglob("*.html"):
        page = html.document_fromstring(path.read_bytes(), parser=parser)
        for element in page.xpath(_REMOVED):
            element.drop_tree()
        for sheet in page.iter("style"):
            sheet.text = _REMOTE_URL.sub("none", sheet.text or "")
        page.head.insert(0, html.fragment_fromstring(_POLICY))
        page.head.append(html.fragment_fromstring(f"<style>{_STYLE}</style>"))
        path.write_text(html.tostring(page, doctype="<!DOCTYPE html>", encoding="unicode"), encoding="utf-8")


def escaped(document: Any) -> Any:  # noqa: ANN401 - any JSON
    """Escape every text in a JSON document: Great Expectations puts texts into its pages as they are."""
    if isinstance(document, str):
        return escape(document)
    if isinstance(document, dict):
        return {escape(key): escaped(value) for key, value in document.items()}
    return [escaped(value) for value in document] if isinstance(document, list) else document


def write_first_page(path: Path, summaries: Iterable[DatasetSummary]) -> None:
    """Write the page that lists every dataset: its last window, and which rules held."""
    rows = "".join(_row(one) for one in summaries)
    path.write_text(
        '<!DOCTYPE html><html lang="en"><head>'
        f'{_POLICY}<meta charset="utf-8"><title>Data quality</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style></head><body><main><h1>Data quality</h1>"
        '<p class="quiet">The last validation of every dataset. A row that breaks a row rule waits in '
        "quarantine with its reason; a broken batch rule keeps the whole batch out of the lake.</p>"
        "<table><tr><th>Dataset</th><th>Result</th><th>Broken rules</th><th>Last window</th><th></th></tr>"
        f"{rows}</table></main></body></html>\n",
        encoding="utf-8",
    )


def _row(one: DatasetSummary) -> str:
    if one.result_link is None:
        result, link = '<span class="quiet">not validated yet</span>', ""
    else:
        kind, n_held = ("bad" if one.broken else "good"), one.n_rules - len(one.broken)
        result = f'<span class="{kind}">{n_held} of {one.n_rules} rules held</span>'
        link = f'<a href="{escape(one.result_link)}">result</a> · '
    broken = "".join(f"<li><code>{escape(rule)}</code> {escape(reason)}</li>" for rule, reason in one.broken)
    window = f'{escape(one.window)}<br><span class="quiet">{escape(one.last_received_at)}</span>'
    suite = f'<a href="expectations/{escape(one.dataset)}.html">rules</a>'
    return (
        f"<tr><td><b>{escape(one.dataset)}</b></td><td>{result}</td><td><ul>{broken}</ul></td>"
        f"<td>{window}</td><td>{link}{suite}</td></tr>"
    )

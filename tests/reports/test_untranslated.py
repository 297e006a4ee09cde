"""No text of ours on a page in another language is left in English."""

import re
from collections.abc import Iterator
from datetime import date
from gettext import NullTranslations
from pathlib import Path

import duckdb
import pytest
from lxml import etree

from tests.exports.conftest import change
from tests.warehouse.rehearsed import DAY
from transit_exports import ExportSettings
from transit_reports import ReportRequest, write_reports
from transit_reports import language as language_module
from transit_reports.language import month_text, weekday, written_in

VALUE = re.compile(r"(\{\w+\}|%\(\w+\)s|</?strong>)")
SHOWN = ("aria-label", "title", "alt")
OURS = {
    "CSV",
    "SQL",
    "PDF",
    "UTC",
    "min",
    "english",
    "transit",
    "etl",
    "CC",
    "BY",
}  # the same in each language
# Names and codes, which are not translated.
NAMES = """
    select distinct unnest([line, towards, line_code, direction]) from direction_names()
    union select distinct unnest([stop_name, stop_code]) from core.stops
    union select distinct headsign from core.scheduled_departures
    union select distinct unnest([cause, message]) from marts.disruptions
    union select distinct unnest(lines) from marts.disruptions
    union select distinct unnest([title, content]) from core.news
    union select distinct message from core.status_episodes
    union select distinct lift from marts.lift_availability
    union select distinct unnest([operator, timezone, version]) from quality.publication
    union select distinct endpoint from core.requests
    union select distinct unnest([dataset, name]) from quality.drift
    union select distinct unnest([found_in, example]) from quality.findings
    union select distinct unnest([dataset, rule]) from quality.validation_results
"""

FINDING = f"""
    insert into quality.findings by name
    select 'emulated' as operator, date '{DAY}' as found_date, 'stop_visits' as found_in,
        'a finding in English' as finding, 1 as n_rows
"""


class _Marked(NullTranslations):
    """Translations in which all that is translated stands in marks, without the values in it."""

    def __init__(self, translations: NullTranslations) -> None:
        super().__init__()
        self._whole = translations

    def gettext(self, message: str) -> str:
        return marked(self._whole.gettext(message), message)

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return marked(self._whole.ngettext(msgid1, msgid2, n), msgid1)


def marked(text: str, message: str) -> str:
    """Put a translation into marks; a message without one stays as it is."""
    is_same = text == message and re.search(r"[a-z]{4}", VALUE.sub("", text))
    if is_same and text != "Endpoint":
        return text
    return "".join(
        part if VALUE.fullmatch(part) or not part.strip() else f"⟦{part}⟧" for part in VALUE.split(text)
    )


def texts_of(page: Path) -> Iterator[str]:
    """Yield the texts that a reader sees or hears on a page, without those of another language and code."""
    root = etree.HTML(page.read_text("utf-8"))
    for element in root.iter(etree.Element):
        languages = element.xpath("ancestor-or-self::*/@lang")
        if languages[-1:] != ["it"] or element.xpath("ancestor-or-self::code|ancestor-or-self::style"):
            continue
        yield element.text or ""
        yield from (child.tail or "" for child in element)
        yield from (element.get(name, "") for name in SHOWN)


def test_no_text_on_a_page_in_italian_is_left_in_english(
    own: ExportSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    italian = language_module.translations("it")
    monkeypatch.setattr(language_module, "translations", lambda _code: _Marked(italian))
    change(own, "update marts.disruptions set cause = null, duration_high_seconds = null", FINDING)
    asked = ReportRequest(first=DAY, last=DAY, lines=["001-00", "034-00"], languages=["it"])
    write_reports(own, tmp_path / "reports", asked)
    with duckdb.connect(str(own.database), read_only=True) as file:
        names = [str(name) for (name,) in file.execute(NAMES).fetchall() if name]
    with written_in("it"):
        dates = {month_text(date(2026, month, 1)).partition(" ")[0] for month in range(1, 13)}
        dates |= {name[:3] for name in dates} | {weekday(day) for day in range(1, 8)}
    known = re.compile("|".join(map(re.escape, sorted({*names, "City of Tests"}, key=len, reverse=True))))

    found = set()
    for page in (tmp_path / "reports").rglob("*.html"):
        for text in texts_of(page):
            rest = known.sub(" ", re.sub(r"⟦.*?⟧", " ", text, flags=re.DOTALL))
            words = {word for word in re.findall(r"[^\W\d_]{3,}", rest) if word.lower() not in dates}
            found |= {(page.parent.name, text.strip()) for _ in words - OURS}

    assert set() == found

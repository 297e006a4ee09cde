"""Every text has a translation with the same values in it, and numbers and dates are written by language."""

import ast
import re
from datetime import date, datetime
from importlib.resources import files

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po

from scripts.messages import PACKAGE, messages, untranslated
from transit_reports.figures import with_ends, written
from transit_reports.language import _, _n, language, languages, number, signed, weekday, written_in
from transit_reports.words import listed

VALUES = re.compile(r"\{\w+\}|%\(\w+\)s|</?strong>")


def catalog(code: str) -> Catalog:
    with files("transit_reports").joinpath("locale", f"{code}.po").open("rb") as source:
        return read_po(source, locale=code)


def test_english_and_italian_are_there() -> None:
    assert ("en", "it") == languages()


@pytest.mark.parametrize("code", languages()[1:])
def test_every_text_is_translated_and_no_translation_is_left_over(code: str) -> None:
    translated = catalog(code)

    assert [] == untranslated(translated)
    assert {message.id for message in messages()} == {message.id for message in translated}
    assert not translated.obsolete
    assert not [message.id for message in translated if message.fuzzy and message.id]


def test_every_text_in_the_code_is_found_for_translation() -> None:
    """Also one within an f-string, where the extraction of texts does not look, and each form of a number."""
    known = {message.id if isinstance(message.id, str) else tuple(message.id) for message in messages()}
    found = set()
    for path in sorted(PACKAGE.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in {"_", "_n", "N_"}:
                n_texts = 2 if getattr(node.func, "id", "") == "_n" else 1
                texts = [text.value for text in node.args[:n_texts] if isinstance(text, ast.Constant)]
                found |= {tuple(texts) if n_texts > 1 else texts[0] for texts in [texts] if texts}

    assert found
    assert set() == found - known


@pytest.mark.parametrize("code", languages()[1:])
def test_a_translation_has_the_values_of_its_text(code: str) -> None:
    for message in catalog(code):
        if not message.id:
            continue
        texts = [message.id] if isinstance(message.id, str) else list(message.id)
        forms = [message.string] if isinstance(message.string, str) else list(message.string or ())
        for text, form in zip(texts, forms, strict=True):
            assert sorted(VALUES.findall(text)) == sorted(VALUES.findall(form)), text


def test_a_language_ends_with_its_block() -> None:
    with written_in("it"):
        assert "it" == language()
        assert "Linea 18" == _("Line {line}", line=18)
        assert "C'è stato 1 disservizio oggi." == _n(
            "{n} disruption held {when}.", "{n} disruptions held {when}.", 1, when="oggi"
        )
    assert "Line 18" == _("Line {line}", line=18)


def test_a_language_without_translations_is_refused() -> None:
    with pytest.raises(ValueError, match="no report in xx: there are en, it"), written_in("xx"):
        pass


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ("en", ["1,234.5", "+3", "−2", "2\u00a0Mar 07:05", "Mon\u00a02\u00a0Mar\u00a02026", "Wed"]),
        ("it", ["1.234,5", "+3", "−2", "2\u00a0mar 07:05", "lun\u00a02\u00a0mar\u00a02026", "mer"]),
    ],
)
def test_numbers_and_dates_are_written_by_the_language(code: str, texts: list[str]) -> None:
    with written_in(code):
        assert texts == [
            number(1234.5, 1), signed(3), signed(-2),
            written(datetime(2026, 3, 2, 7, 5), "time"),  # noqa: DTZ001 - local time
            written(date(2026, 3, 2), "date"), weekday(3),
        ]  # fmt: skip


def test_a_figure_and_a_list_are_written_by_the_language() -> None:
    with written_in("it"):
        assert "58,1\u00a0% (57,1–59,1)" == with_ends(0.581, 0.571, 0.591, "share", "interval")
        assert "+5\u00a0punti (da\u00a0+1\u00a0a\u00a0+9)" == with_ends(
            0.05, 0.01, 0.09, "difference", "interval"
        )
        assert "a, b e c" == listed(["a", "b", "c"])

"""The language in which pages are written now: translated messages, and numbers and dates as it writes them.

The texts of code and templates are English; `locale/{language}.po` has their translations.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from functools import cache, lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files

from babel import Locale
from babel.dates import format_date
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

SOURCE = "en"
NO_BREAK = "\u00a0"  # a space at which no line ends
_HOURS = 24  # of a day
_language: ContextVar[str] = ContextVar("language", default=SOURCE)


@cache
def languages() -> tuple[str, ...]:
    """Return the codes of the languages that reports can be written in, English first."""
    found = files("transit_reports").joinpath("locale").iterdir()
    return (SOURCE, *sorted(path.name.removesuffix(".po") for path in found if path.name.endswith(".po")))


def language() -> str:
    """Return the code of the language in which pages are written now."""
    return _language.get()


def folder_of(code: str, first: str) -> str:
    """Return the folder of the pages in a language, within that of the first, such as `it/`."""
    return "" if code == first else f"{code}/"


def language_name(code: str) -> str:
    """Return the name of a language in itself, such as `italiano`."""
    return str(Locale.parse(code).get_display_name(code) or code)


@contextmanager
def written_in(code: str) -> Iterator[None]:
    """Write pages in a language, until the block ends.

    ValueError if there are no translations into it.
    """
    if code not in languages():
        raise ValueError(f"no report in {code}: there are {', '.join(languages())}")
    token = _language.set(code)
    try:
        yield
    finally:
        _language.reset(token)


def _(message: str, **values: object) -> str:
    """Return a message in the language of now, with `{name}` replaced by the value of the name."""
    text = gettext(message)
    return text.format(**values) if values else text


def _n(one: str, many: str, n: int, **values: object) -> str:
    """Return the form of a message for a number; `{n}` is the number as the language writes it."""
    return ngettext(one, many, n).format(n=number(n), **values)


def N_(message: str) -> str:  # noqa: N802 - the usual name of this mark
    """Mark a message that is translated where it is shown."""
    return message


def translated(text: str) -> str:
    """Return the translation of a text that the published file has, or the text if it has none."""
    return gettext(text)


def gettext(message: str) -> str:
    """Return the translation of a message of code or of a template."""
    return translations(language()).gettext(message) if message else ""


def ngettext(one: str, many: str, n: int) -> str:
    """Return the translation of a message in the form for a number."""
    return translations(language()).ngettext(one, many, n)


def number(value: float, decimals: int = 0) -> str:
    """Return a number, rounded to decimals, with the separators of the language."""
    return _number(round(value, decimals), decimals, language())


def signed(value: float, decimals: int = 0) -> str:
    """Return a number with its sign, also if it is positive."""
    text = number(value, decimals)
    return text if text.startswith("−") else f"+{text}"


def day_text(day: date) -> str:
    """Return a date in words, such as `2 March 2026`."""
    return _date("d MMMM y", day)


def day_and_month(day: date) -> str:
    """Return a date without its year, such as `2 March`."""
    return _date("d MMMM", day)


def short_day(day: date) -> str:
    """Return a date as short as a table has it, such as `2 Mar`."""
    return _date("d MMM", day).replace(" ", NO_BREAK)


def month_text(day: date) -> str:
    """Return the month of a date, such as `March 2026`."""
    return _date("MMMM y", day)


def weekday_and_day(day: date) -> str:
    """Return a date with its weekday, such as `Mon 2 Mar 2026`."""
    return _date("EEE d MMM y", day).replace(" ", NO_BREAK)


def moment(instant: datetime) -> str:
    """Return a date without its year and a time, such as `2 Mar 07:05`."""
    return f"{short_day(instant)} {instant:%H:%M}"


def clock_hour(hour: int, minutes: str = ":00") -> str:
    """Return an hour of the service day as a clock shows it; `+1` after those of the next day."""
    return f"{hour % 24:02}{minutes}{NO_BREAK}+1" if hour >= _HOURS else f"{hour:02}{minutes}"


def weekday(number_of_day: int) -> str:
    """Return the short name of a weekday; 1 is Monday."""
    return _date("EEE", date(2001, 1, number_of_day))  # 1 January 2001 was a Monday


@lru_cache(maxsize=65536)
def _number(value: float, decimals: int, code: str) -> str:
    pattern = f"#,##0.{'0' * decimals}" if decimals else "#,##0"
    return str(format_decimal(value, format=pattern, locale=code)).replace("-", "−")


def _date(pattern: str, day: date) -> str:
    return _day(pattern, day, language())


@lru_cache(maxsize=65536)
def _day(pattern: str, day: date, code: str) -> str:
    return str(format_date(day, format=pattern, locale=code))


@cache
def translations(code: str) -> NullTranslations:
    """Return the translations into a language."""
    if code == SOURCE:
        return NullTranslations()
    with files("transit_reports").joinpath("locale", f"{code}.po").open("rb") as source:
        catalog = read_po(source, locale=code)
    compiled = io.BytesIO()
    write_mo(compiled, catalog)
    compiled.seek(0)
    return GNUTranslations(compiled)

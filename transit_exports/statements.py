"""Reads the SQL of the feeds and fills in its arguments."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from string import Template

from transit_base.quoting import sql_text


@cache
def _text(name: str) -> str:
    return files("transit_exports").joinpath("sql", f"{name}.sql").read_text("utf-8")


def statement(name: str, texts: Mapping[str, str], **expressions: str) -> str:
    """Return the statement of a file of `sql` with its $names replaced by texts, quoted, and by SQL."""
    quoted = {key: sql_text(text) for key, text in texts.items()}
    return Template(_text(name)).substitute(quoted, **expressions)


def named_statements(name: str, texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the statements of a file of `sql`, each with the name that is the comment before it."""
    for text in statement(name, texts).split(";\n"):
        comment, _, query = text.strip().partition("\n")
        yield comment.removeprefix("-- "), query


def macros() -> str:
    """Return the statements that create the functions that the others call."""
    return _text("macros")

"""Undoes the escapes of XML and HTML in texts of the upstream, as the standard library does."""

import re
from html import unescape

# With its semicolon: `AT&T` and `R&D` are no escapes.
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NO_CHARACTER = "\ufffd"


def decode_entities(text: str) -> str:
    """Return a text with the characters that its entities stand for, named, decimal and hexadecimal.

    A number that is no character, such as half of a surrogate pair, stays as it is written.
    """
    return _ENTITY.sub(_decoded, text) if "&" in text else text


def _decoded(entity: re.Match[str]) -> str:
    character = unescape(entity[0])
    return entity[0] if character in {_NO_CHARACTER, ""} else character

"""Escapes halves of surrogate pairs: JSON can write them, but no encoding has them and DuckDB reads none."""

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def escape_surrogates(text: str) -> str:
    r"""Return JSON text with lone surrogates as the text of their escapes, such as `\\ud83d`.

    With one backslash less it would be the half of a pair again to whoever parses the JSON.
    """
    return _LONE_SURROGATE.sub(lambda found: rf"\\u{ord(found[0]):04x}", text)

"""Lets Python, which classifies and plans by a body, and DuckDB, which stages it, read it alike."""

import json
import re
from typing import Any

# Half of a surrogate pair can be written in JSON, but is no text: DuckDB refuses the whole body for it.
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def as_read(body: str) -> str:
    """Return a JSON body with the values that Python reads: of a name given twice, the last one.

    Lone surrogates become the texts of their escapes. A body without either is returned as it is, and so is
    one that cannot be written again, such as with a number beyond all bounds.
    """
    is_repeated = False

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal is_repeated
        read = dict(pairs)
        is_repeated = is_repeated or len(read) != len(pairs)
        return read

    try:
        document = json.loads(body, object_pairs_hook=members)
        if not is_repeated and not _may_hold_surrogates(body):
            return body
        written = json.dumps(document, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        return body
    lone = _LONE_SURROGATE.search(written) is not None
    if not lone and not is_repeated:
        return body
    return _LONE_SURROGATE.sub(lambda found: rf"\\u{ord(found[0]):04x}", written)


def _may_hold_surrogates(body: str) -> bool:
    return "\\ud" in body or "\\uD" in body

"""Lets Python, which classifies and plans by a body, and DuckDB, which stages it, read it alike."""

import json
from typing import Any

from transit_etl.api.classification import without_mark
from transit_etl.surrogates import escape_surrogates


def as_read(body: str) -> str:
    """Return a JSON body with the values that Python reads: of a name given twice, the last one.

    Lone surrogates become the texts of their escapes, and a byte order mark is left out. A body without any
    of these is returned as it is, and so is one that cannot be written again, such as with a number beyond
    all bounds.
    """
    is_repeated, body = False, without_mark(body)

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
    escaped = escape_surrogates(written)
    return body if escaped == written and not is_repeated else escaped


def _may_hold_surrogates(body: str) -> bool:
    return "\\ud" in body or "\\uD" in body

"""The rule by which labels of lines are compared, in Python; `sql/engines` has it for staging and models.

Passages show a line's number padded with zeros (`018`), the list of lines does not (`18`). The normal form
is trimmed and in upper case, without the zeros in front of a digit or a letter: `000` is line 0, `0N1` is
N1 and `00/` is `0/`. A missing or empty label has none: that is null in SQL and an empty text in Python.
"""

import re
from functools import lru_cache

_PATTERN = re.compile("^0+([0-9A-Z])")


@lru_cache(maxsize=8_192)
def normal_label(label: str | None) -> str:
    """Return the normal form of a label."""
    return _PATTERN.sub(r"\1", (label or "").strip(" ").upper())

"""What a meaning may not say that is read alone: in a search result, a comment, a tooltip, a spreadsheet."""

import re

_NEIGHBOUR = re.compile(
    r"^(the same|same|as above|as before|likewise|ditto|its|their|those|these|that of|of (?:these|those|them)"
    r"|as \w+,|…)(?!\w)"
    r"|\b(likewise|(?:of|to|between) (?:these|those|them|the two)|of (?:that|this) sum)[.,;]|…$",
    re.IGNORECASE,
)


def refer_to_neighbours(meanings: dict[str, str]) -> dict[str, str]:
    """Return the meanings, by name, that only tell something after another one was read."""
    return {name: meaning for name, meaning in meanings.items() if _NEIGHBOUR.search(meaning)}

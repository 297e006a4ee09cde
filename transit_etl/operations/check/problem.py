"""One thing that is wrong with an installation."""

from dataclasses import dataclass
from datetime import datetime

UPSTREAM = "upstream"  # the name of an outage, which ends when the upstream answers again


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an operator should know: a name that stays the same while it lasts, and one sentence.

    `since` is when it began, where that is known better than by when it was found.
    """

    name: str
    text: str
    since: datetime | None = None

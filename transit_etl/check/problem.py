"""One thing that is wrong with an installation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that an operator should know: a name that stays the same while it lasts, and one sentence."""

    name: str
    text: str

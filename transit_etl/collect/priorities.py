"""Says what the requests of a minute are worth: whose turn it is among those that wait."""

from collections.abc import Collection, Mapping
from enum import StrEnum


class Kind(StrEnum):
    """What a permit is for, in order of priority."""

    STATUS = "status"
    NEWS = "news"
    NETWORK = "network"  # lines and their stops
    TIMETABLES = "timetables"
    PASSAGES = "passages"
    LEGACY = "legacy"  # version 0

    @classmethod
    def of(cls, endpoint: str) -> "Kind":
        """Return the kind that requests of an endpoint count as."""
        return cls.LEGACY if endpoint.startswith("v0_") else _KINDS[endpoint]


_KINDS = {
    "status": Kind.STATUS,
    "news": Kind.NEWS,
    "news_details": Kind.NEWS,
    "lines": Kind.NETWORK,
    "stops": Kind.NETWORK,
    "timetables": Kind.TIMETABLES,
    "passages": Kind.PASSAGES,
}

# The share of the allowance that a kind gets, if it waits, whatever else waits. Passages have one so that
# a long refresh of timetables cannot blind the collector; version 0 so that its list ends some day.
FLOORS: Mapping[Kind, float] = {
    Kind.STATUS: 0.05,
    Kind.NEWS: 0.05,
    Kind.PASSAGES: 0.25,
    Kind.LEGACY: 0.02,
}


def next_kind(waiting: Collection[Kind], granted_last_minute: Mapping[Kind, int], allowance: float) -> Kind:
    """Choose who gets the next permit among the kinds that wait (at least one).

    A kind whose permits of the last minute are below `floor * allowance` goes before all that have their
    floor; among equals the priority decides. The floors add up to less than 1, so each can be met.
    """
    ranked = [kind for kind in Kind if kind in waiting]
    if not ranked:
        raise ValueError("nobody is waiting for a permit")
    below = [kind for kind in ranked if granted_last_minute.get(kind, 0) < FLOORS.get(kind, 0) * allowance]
    return (below or ranked)[0]

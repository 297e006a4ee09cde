"""Decides which kind of request is granted the next permit among those that wait."""

from collections.abc import Collection, Mapping

from transit_etl.endpoints import Kind

# The least share of all permits that a waiting kind gets, whatever else waits. Passages have one so that they
# are polled during a long refresh of timetables; version 0 so that its list ends at all.
FLOORS: Mapping[Kind, float] = {
    Kind.STATUS: 0.05,
    Kind.NEWS: 0.05,
    Kind.PASSAGES: 0.25,
    Kind.LEGACY: 0.02,
}


def next_kind(
    waiting: Collection[Kind], granted_last_minute: Mapping[Kind, int], granted_since: Mapping[Kind, int]
) -> Kind:
    """Return the kind that gets the next permit among those that wait (at least one).

    `granted_since` counts the permits granted to others since a kind's last one, and lacks a kind that
    never had one. A kind is due when its share of the last minute is below its floor, or when so many others
    were granted since its last permit as its floor leaves between two: by the share alone, all permits of a
    kind could come in one burst and none in the rest of the minute. Due kinds go first, then the priority
    decides. The floors add up to less than 1, so each can be met.
    """
    ranked = [kind for kind in Kind if kind in waiting]
    if not ranked:
        raise ValueError("no kind is waiting for a permit")
    total = sum(granted_last_minute.values())
    due = [
        kind
        for kind in ranked
        if (floor := FLOORS.get(kind, 0.0))
        and (
            granted_last_minute.get(kind, 0) < floor * total
            or granted_since.get(kind, total + 1 / floor) >= 1 / floor - 1
        )
    ]
    return (due or ranked)[0]

"""Says what the requests of a minute are worth: whose turn it is among those that wait."""

from collections.abc import Collection, Mapping

from transit_etl.endpoints import Kind

# The share of all permits that a kind gets, if it waits, whatever else waits. Passages have one so that a
# long refresh of timetables cannot blind the collector; version 0 so that its list ends some day.
FLOORS: Mapping[Kind, float] = {
    Kind.STATUS: 0.05,
    Kind.NEWS: 0.05,
    Kind.PASSAGES: 0.25,
    Kind.LEGACY: 0.02,
}


def next_kind(
    waiting: Collection[Kind], granted_last_minute: Mapping[Kind, int], granted_since: Mapping[Kind, int]
) -> Kind:
    """Choose who gets the next permit among the kinds that wait (at least one).

    `granted_since` counts the permits granted to others since a kind's last one, and lacks a kind that
    never had one. A kind is due when its share of the last minute is below its floor, or its last permit
    is as far back as its floor would space them: the share alone could be had in one run, and the kind be
    blind for the rest of the minute. Due ones go first; among equals the priority decides. The floors add
    up to less than 1, so each can be met.
    """
    ranked = [kind for kind in Kind if kind in waiting]
    if not ranked:
        raise ValueError("nobody is waiting for a permit")
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

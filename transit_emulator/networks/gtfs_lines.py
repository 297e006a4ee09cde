"""Joins the routes of a feed without directions to lines that run both ways.

Some operators publish a route for each direction and each pair of ends, all with one number, and no
`direction_id`. The interface knows a line by its number, with two directions. Two routes are one line if they
have the agency and the short name in common, and at least half of the stops of the shorter. Lines of two
cities that have only the number in common stay apart.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from transit_emulator.networks.gtfs_feed import Feed, Row

_SHARED_STOPS = 0.5


def with_directions(feed: Feed) -> Feed:
    """Return the feed with each line as one route, the one with most trips, and with directions of trips.

    A feed whose trips have directions is returned as it is.
    """
    if feed.has_directions:
        return feed
    n_trips = Counter(trip.route_id for trip in feed.trips)
    stops: dict[str, tuple[str, ...]] = {}
    for trip in feed.trips:
        if len(trip.stop_ids) > len(stops.get(trip.route_id, ())):
            stops[trip.route_id] = tuple(trip.stop_ids)
    busiest_first = sorted(
        (row for row in feed.routes if row["route_id"] in stops),
        key=lambda row: (-n_trips[row["route_id"]], row["route_id"]),
    )
    line: dict[str, str] = {}
    direction: dict[str, int] = {}
    for row in busiest_first:
        route = row["route_id"]
        joined = next((other for other in busiest_first if _is_line_of(row, other, line, stops)), None)
        line[route] = line[joined["route_id"]] if joined else route
        same = direction[joined["route_id"]] if joined else 0
        direction[route] = (
            same if not joined or _is_forward(stops[route], stops[joined["route_id"]]) else 1 - same
        )
    return replace(
        feed,
        routes=[row for row in feed.routes if line.get(row["route_id"]) == row["route_id"]],
        trips=[
            replace(trip, route_id=line[trip.route_id], direction=direction[trip.route_id])
            for trip in feed.trips
        ],
    )


def _is_line_of(row: Row, other: Row, line: dict[str, str], stops: dict[str, tuple[str, ...]]) -> bool:
    """Return whether a route belongs to the line of another one, of which the line is known."""
    if other["route_id"] not in line or _name(row) != _name(other):
        return False
    own, others = set(stops[row["route_id"]]), set(stops[other["route_id"]])
    return len(own & others) >= max(_SHARED_STOPS * min(len(own), len(others)), 2)


def _name(row: Row) -> tuple[str, str]:
    return row.get("agency_id", ""), row.get("route_short_name") or row["route_id"]


def _is_forward(stops: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether most pairs of successive shared stops have the order of the other route."""
    place = {stop: number for number, stop in enumerate(others)}
    shared = [place[stop] for stop in stops if stop in place]
    ascending = sum(1 if later > earlier else -1 for earlier, later in pairwise(shared))
    return ascending >= 0

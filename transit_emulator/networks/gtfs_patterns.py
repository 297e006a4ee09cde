"""Groups the trips of a GTFS feed into patterns, and the patterns of a line and direction into services."""

from collections import Counter
from typing import NamedTuple

from transit_emulator.networks.gtfs_feed import BadFeedError, Feed, FeedTrip, Row
from transit_emulator.networks.network import Pattern, Stop


class PatternKey(NamedTuple):
    """What trips of one pattern have in common; stops are positions."""

    line: int
    direction: int
    stops: tuple[int, ...]
    headsign: str

    @property
    def group(self) -> "_Group":
        """Line and direction."""
        return _Group(self.line, self.direction)

    @property
    def ends(self) -> "_Ends":
        """The first and the last stop."""
        return _Ends(self.stops[0], self.stops[-1])


class _Group(NamedTuple):
    line: int
    direction: int


class _Ends(NamedTuple):
    first: int
    last: int


def pattern_keys(
    feed: Feed, routes: list[Row], stop_position: dict[str, int], stops: list[Stop]
) -> list[PatternKey]:
    """Return the key of each trip of a feed; raise BadFeedError for an unknown route or stop."""
    line = {row["route_id"]: number for number, row in enumerate(routes)}
    return [_pattern_key(trip, line, stop_position, stops) for trip in feed.trips]


def _pattern_key(
    trip: FeedTrip, line: dict[str, int], stop_position: dict[str, int], stops: list[Stop]
) -> PatternKey:
    try:
        called = tuple(stop_position[stop_id] for stop_id in trip.stop_ids)
        headsign = trip.headsign or stops[called[-1]].name
        return PatternKey(line[trip.route_id], trip.direction, called, headsign)
    except KeyError as missing:
        raise BadFeedError(f"trip {trip.id} refers to an unknown route or stop: {missing}") from None


def patterns_of(ranked: list[PatternKey], counts: Counter[PatternKey]) -> tuple[Pattern, ...]:
    """Return the patterns; those of a line and direction that share both ends are in one service.

    Services of a line are numbered from the one with most trips on; one whose patterns are all shorter than
    the first in their direction is a slash variant.
    """
    n_trips: dict[_Group, Counter[_Ends]] = {}
    for key in ranked:
        n_trips.setdefault(key.group, Counter())[key.ends] += counts[key]
    number: dict[_Group, dict[_Ends, int]] = {
        group: {ends: rank for rank, (ends, _) in enumerate(found.most_common(), start=1)}
        for group, found in n_trips.items()
    }
    longest: dict[_Group, int] = {}
    for key in ranked:
        if number[key.group][key.ends] == 1:
            longest[key.group] = max(longest.get(key.group, 0), len(key.stops))
    is_shorter: dict[tuple[int, int], bool] = {}
    for key in ranked:
        service = key.line, number[key.group][key.ends]
        is_shorter[service] = is_shorter.get(service, True) and len(key.stops) < longest[key.group]
    return tuple(
        Pattern(
            line=key.line,
            direction=key.direction,
            stops=key.stops,
            headsign=key.headsign,
            service_code=f"{number[key.group][key.ends]:02d}",
            is_slash=is_shorter[key.line, number[key.group][key.ends]],
        )
        for key in ranked
    )

"""Converts a GTFS feed to a network: routes to lines with codes, trips to patterns and services."""

import re
from collections import Counter
from pathlib import Path

from transit_emulator import noise
from transit_emulator.local_time import CUTOFF_HOUR, DAY_SECONDS, ONE_DAY
from transit_emulator.networks.assembly import listed_stops
from transit_emulator.networks.calendar import FeedCalendar
from transit_emulator.networks.gtfs_feed import BadFeedError, Feed, FeedTrip, Row, read_feed
from transit_emulator.networks.gtfs_lines import with_directions
from transit_emulator.networks.gtfs_patterns import pattern_keys, patterns_of
from transit_emulator.networks.network import (
    INBOUND,
    OUTBOUND,
    Line,
    ListedStop,
    Network,
    Pattern,
    Place,
    Stop,
    Trip,
)
from transit_emulator.networks.traffic import HEAVY

_TRACKED_TYPES = {"0", "3", "11"}  # tram, bus, trolleybus; extended bus types start with 7
_PAST_24_SHARE = 0.5
_CUTOFF_SECONDS, _NIGHT = CUTOFF_HOUR * 3600, "@night"
_LETTER_LINES_FROM = 900
_LIFTS = ("Stazione", "Ospedale", "Lungomare", "Municipio")  # GTFS has no lifts of a line


def gtfs_network(path: Path) -> Network:
    """Return the network of a zip; stop codes and route short names are used as they are."""
    return network_of(with_directions(read_feed(path)), path.stem)


def network_of(feed: Feed, name: str) -> Network:
    """Return the network of a feed; its trips are those of the feed, in their order."""
    stops = [
        Stop(code, row.get("stop_name", ""), _place(row))
        for code, row in zip(_stop_codes(feed), feed.stops, strict=True)
    ]
    stop_position = {row["stop_id"]: position for position, row in enumerate(feed.stops)}
    routes = [row for row in feed.routes if row["route_id"] in {trip.route_id for trip in feed.trips}]
    keys = pattern_keys(feed, routes, stop_position, stops)
    counts = Counter(keys)
    ranked = sorted(counts, key=lambda key: (key.group, -counts[key], key.stops, key.headsign))
    position = {key: place for place, key in enumerate(ranked)}
    patterns = patterns_of(ranked, counts)
    trips = tuple(_trip(trip, position[key]) for trip, key in zip(feed.trips, keys, strict=True))
    main_type = Counter(_route_type(row) for row in routes).most_common(1)[0][0]
    return Network(
        name=name,
        zone=feed.zone,
        calendar=_calendar(feed),
        stops=tuple(stops),
        lines=tuple(
            _line(row, code, [pattern for pattern in patterns if pattern.line == number], stops, main_type)
            for number, (row, code) in enumerate(zip(routes, line_codes(routes), strict=True))
        ),
        patterns=patterns,
        trips=trips,
        lifts=_LIFTS,
        traffic=HEAVY,
    )  # fmt: skip


def _trip(trip: FeedTrip, pattern: int) -> Trip:
    """Return a trip; one that leaves before the cutoff belongs to the previous service day."""
    if trip.times[0] >= _CUTOFF_SECONDS:
        return Trip(trip.id, pattern, trip.service, tuple(trip.times), trip.block)
    times = tuple(time + DAY_SECONDS for time in trip.times)
    return Trip(trip.id, pattern, trip.service + _NIGHT, times, trip.block)


def _calendar(feed: Feed) -> FeedCalendar:
    """Return the feed's dates, each with its own services and the early trips of the next date."""
    published = feed.services_by_date
    return FeedCalendar({
        day: services | {name + _NIGHT for name in published.get(day + ONE_DAY, ())}
        for day, services in published.items()
    })  # fmt: skip


def line_codes(routes: list[Row]) -> list[str]:
    """Return one `NNN-NN` per route: its number (from 900 on if it has none) and a count."""
    names = [row.get("route_short_name") or row.get("route_long_name") or row["route_id"] for row in routes]
    order = sorted(range(len(routes)), key=lambda place: (names[place], routes[place]["route_id"]))
    taken: Counter[int] = Counter()
    codes = {}
    letters = _LETTER_LINES_FROM
    for place in order:
        digits = re.match(r"\D*(\d{1,3})(?!\d)", names[place])
        number = int(digits.group(1)) if digits else letters
        letters += 0 if digits else 1
        codes[place] = f"{number:03d}-{taken[number]:02d}"
        taken[number] += 1
    return [codes[place] for place in range(len(routes))]


def _stop_codes(feed: Feed) -> list[str]:
    """Return the stops' public codes, or their ids where codes are missing or not unique."""
    codes = [row.get("stop_code", "") for row in feed.stops]
    if all(codes) and len(set(codes)) == len(codes):
        return codes
    return [row["stop_id"] for row in feed.stops]


def _place(row: Row) -> Place | None:
    latitude, longitude = row.get("stop_lat"), row.get("stop_lon")
    try:
        return Place(float(latitude), float(longitude)) if latitude and longitude else None
    except ValueError as error:
        raise BadFeedError(f"stops.txt, stop {row['stop_id']}: {error}") from None


def _route_type(row: Row) -> str:
    return row.get("route_type", "3")


def _line(row: Row, code: str, own: list[Pattern], stops: list[Stop], main_type: str) -> Line:
    """Return a line of its patterns. Buses and trams are tracked, and the type that most routes have."""
    route_type = _route_type(row)
    main = next((pattern for pattern in own if pattern.direction == OUTBOUND), own[0])
    first, last = stops[main.stops[0]].name, stops[main.stops[-1]].name
    return Line(
        code=code,
        number=row.get("route_short_name") or row.get("route_long_name") or row["route_id"],
        termini=(first, last) if main.direction == OUTBOUND else (last, first),
        stops={
            direction: listed
            for direction in (OUTBOUND, INBOUND)
            if (listed := _listed(f"{code}_{direction + 1}", own, direction, stops))
        },
        note=row.get("route_desc", ""),
        is_tracked=route_type in _TRACKED_TYPES | {main_type} or route_type.startswith("7"),
        counts_past_24=noise.unit("past 24", code) < _PAST_24_SHARE,
    )


def _listed(name: str, own: list[Pattern], direction: int, stops: list[Stop]) -> tuple[ListedStop, ...]:
    """Return the stops of a direction: the longest pattern, with stops of the others where they fit."""
    sequences = sorted((p.stops for p in own if p.direction == direction), key=len, reverse=True)
    merged: list[int] = list(sequences[0]) if sequences else []
    for sequence in sequences[1:]:
        place = 0
        for stop in sequence:
            if stop not in merged:
                merged.insert(place, stop)
            place = merged.index(stop) + 1
    return listed_stops(name, stops, merged)

"""Makes a network of a table of recorded times, and keeps beside it what was recorded of each trip."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from transit_emulator.local_time import day_start, service_day
from transit_emulator.networks.actuals_table import BadActualsError, Call, read_calls
from transit_emulator.networks.gtfs import network_of
from transit_emulator.networks.gtfs_feed import Feed, FeedTrip, Row, filled
from transit_emulator.networks.network import Ints, Network, padded

NOT_RECORDED = -1
_CODE_LENGTH, _LONGEST_CODE = 4, 8  # of the interface's stop codes, and of those that a collector asks for
_FEWEST_STOPS = 2
_LATEST_DEPARTURE_HOUR = 30  # of the table's service date


@dataclass(frozen=True)
class Recording:
    """A network of recorded days; one row per trip, in its order, and matrices are trips by sequence.

    `recorded_at` is in Unix seconds, NOT_RECORDED where the table has no time, and in the padding.
    """

    network: Network
    recorded_at: Ints
    is_skipped: NDArray[np.bool_]
    is_canceled: NDArray[np.bool_]
    vehicle_ids: tuple[str | None, ...]  # None where the table names no vehicle


class _Trip(NamedTuple):
    scheduled: FeedTrip
    calls: list[Call]
    recorded: list[int | None]


def read_recording(path: Path, zone: ZoneInfo) -> Recording:
    """Read a table of recorded times, whose service dates are those of `zone`; raise BadActualsError."""
    calls = read_calls(path)
    try:
        trips = _trips(calls, _stop_codes(calls), zone)
    except ValueError as error:
        raise BadActualsError(f"{path.name}: {error}") from None
    days = {date.fromisoformat(trip.scheduled.service[:10]) for trip in trips}
    names = {trip.scheduled.route_id for trip in trips}
    feed = Feed(
        zone=zone,
        services_by_date={day: frozenset([day.isoformat()]) for day in sorted(days)},
        stops=_stops(calls),
        routes=[{"route_id": name, "route_short_name": name} for name in sorted(names)],
        trips=[trip.scheduled for trip in trips],
    )
    return Recording(
        network=network_of(feed, path.stem),
        recorded_at=padded([[_or_not_recorded(at) for at in trip.recorded] for trip in trips], NOT_RECORDED),
        is_skipped=padded([[int(call.is_skipped) for call in trip.calls] for trip in trips], 0) > 0,
        is_canceled=np.array([any(call.is_canceled for call in trip.calls) for trip in trips]),
        vehicle_ids=tuple(trip.calls[0].vehicle_id for trip in trips),
    )


def added_service(day: date) -> str:
    """Return the service of the trips of a date that no timetable has; it is in no calendar."""
    return f"{day.isoformat()} added"


def _trips(calls: Sequence[Call], codes: dict[str, str], zone: ZoneInfo) -> list[_Trip]:
    trips = [trip for trip in _possible_trips(calls, codes, zone) if trip is not None]
    if not trips:
        raise ValueError(f"no trip has {_FEWEST_STOPS} stops with a time")
    return trips


def _possible_trips(calls: Sequence[Call], codes: dict[str, str], zone: ZoneInfo) -> Iterator[_Trip | None]:
    for (day, trip_id), rows in groupby(calls, lambda call: (call.service_date, call.trip_id)):
        found = list(rows)
        try:
            _check(found)
            yield _trip(found, codes, zone)
        except ValueError as error:
            raise ValueError(f"trip {trip_id} of {day} {error}") from None


def _check(calls: list[Call]) -> None:
    """Refuse rows of a trip that contradict each other; the rows are in the order of their sequence."""
    for column in ("line", "direction"):
        if len({getattr(call, column) for call in calls}) > 1:
            raise ValueError(f"has more than one {column}")
    for before, after in pairwise(calls):
        if before.stop_sequence == after.stop_sequence:
            raise ValueError(f"has two rows with stop_sequence {after.stop_sequence}")
    due = [call for call in calls if call.scheduled_at is not None]
    for before, after in pairwise(due):
        if (before.scheduled_at or 0) > (after.scheduled_at or 0):
            raise ValueError(
                f"is due at stop_sequence {after.stop_sequence} before stop_sequence {before.stop_sequence}"
            )


def _trip(calls: list[Call], codes: dict[str, str], zone: ZoneInfo) -> _Trip | None:
    """Return a trip of at least two stops; None where the table has too few, or no time at all.

    One without any scheduled time was added: it is in no timetable, and due when it passed.
    """
    scheduled = [call.scheduled_at for call in calls]
    believed = [call.actual_at if call.is_recorded and not call.is_skipped else None for call in calls]
    recorded = _consistent(believed, scheduled)
    is_added = not any(at is not None for at in scheduled)
    due = recorded if is_added else scheduled
    if len(calls) < _FEWEST_STOPS or not any(at is not None for at in due):
        return None
    times = filled(due)
    _check_departure(times[0], calls[0].service_date, zone)
    day = service_day(times[0], zone)
    trip = FeedTrip(
        id=calls[0].trip_id,
        route_id=calls[0].line,
        service=added_service(day) if is_added else day.isoformat(),
        direction=calls[0].direction,
        headsign=calls[0].headsign or "",
        stop_ids=[codes[call.stop_code] for call in calls],
        times=[at - day_start(day, zone) for at in times],
    )
    return _Trip(trip, calls, recorded)


def _check_departure(departs_at: int, day: date, zone: ZoneInfo) -> None:
    hours = (departs_at - day_start(day, zone)) / 3600
    if not 0 <= hours < _LATEST_DEPARTURE_HOUR:
        raise ValueError(
            f"leaves at {hours:.1f} h of that date in {zone.key}: is TRANSIT_TIMEZONE the zone of the table?"
        )


def _consistent(times: list[int | None], due: list[int | None]) -> list[int | None]:
    """Return times along a trip without the fewest that contradict the others by going back.

    Of two that contradict each other the one that is nearer to its schedule stays.
    """
    known = [(step, at) for step, at in enumerate(times) if at is not None]
    if all(before[1] <= after[1] for before, after in pairwise(known)):
        return times
    late = {step: abs(at - (due[step] or at)) for step, at in known}

    def rank(chain: list[int]) -> tuple[int, int]:
        return len(chain), -sum(late[step] for step in chain)

    best: list[list[int]] = []  # of the chains of steps that end at each known time
    for place, (step, at) in enumerate(known):
        chains = [best[earlier] for earlier in range(place) if known[earlier][1] <= at]
        best.append(max(([*chain, step] for chain in [*chains, []]), key=rank))
    kept = max(best, key=rank)
    return [at if step in kept else None for step, at in enumerate(times)]


def _stop_codes(calls: Iterable[Call]) -> dict[str, str]:
    """Return the interface's code of each stop: the table's with zeros in front, or a number.

    Stops are numbered if one of the table's codes is one that no interface has.
    """
    given = sorted({call.stop_code for call in calls})
    filled_codes = [code.zfill(_CODE_LENGTH) for code in given]
    is_usable = all(code.isascii() and code.isalnum() and len(code) <= _LONGEST_CODE for code in given)
    if not is_usable or len(set(filled_codes)) < len(given):
        filled_codes = [f"{number:0{_CODE_LENGTH}d}" for number in range(1, len(given) + 1)]
    return dict(zip(given, filled_codes, strict=True))


def _stops(calls: Iterable[Call]) -> list[Row]:
    """Return the stops, named as in the table, or else by its codes."""
    codes = _stop_codes(calls)
    names: dict[str, str] = {}
    for call in calls:
        if call.stop_name:
            names.setdefault(call.stop_code, call.stop_name)
    return [
        {"stop_id": codes[code], "stop_code": codes[code], "stop_name": names.get(code, code)}
        for code in codes
    ]


def _or_not_recorded(at: int | None) -> int:
    return NOT_RECORDED if at is None else at

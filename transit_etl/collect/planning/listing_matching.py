"""Recognises the run and the place along its route that a listing is about."""

from math import hypot, inf

from transit_etl.collect.planning.planner import Listing
from transit_etl.collect.planning.state import StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPattern

SAME_RUN_SECONDS = 1_200.0
_SAME_THEORY_SECONDS = 30.0
_SAME_RUN_SHARE = 0.6  # of the time from end to end: no vehicle sets out again sooner
_SCHEDULE_SPREAD, _SCHEDULE_PACE_SPREAD = 5.0, 0.05  # timetables differ by hour


def nearest(
    runs: list[TrackedTrip], origins: list[tuple[int, float]], tolerance: float, late: float = 0.0
) -> tuple[TrackedTrip | None, float]:
    """Return the run that left its first stop nearest to one of some instants, if it is near; and when.

    Each instant is as seen from a position, and may be `late`.
    """
    apart, run, origin_at = min(
        (
            (abs(_left_at(known, position) + late - origin), known, origin)
            for known in runs
            for position, origin in origins
        ),
        key=lambda choice: choice[0],
        default=(inf, None, origins[0][1]),
    )
    return (run, origin_at) if apart <= tolerance else (None, origins[0][1])


def _left_at(run: TrackedTrip, position: int) -> float:
    """Return when a run leaves its first stop, as the timetable listing nearest to a position has it."""
    if run.is_live or run.route is None or not run.theory:
        return run.origin_at
    near = min(run.theory, key=lambda known: abs(known - position))
    return run.theory[near] - run.route.offsets[near]


def is_another(run: TrackedTrip, stop: StopState, listing: Listing) -> bool:
    """Tell whether a run without an id is listed at this stop for another time: then this is not it."""
    places = run.route.positions(stop.code) if run.route else ()
    known = [run.theory[position] for position in places if position in run.theory]
    return bool(known) and all(abs(at - listing.predicted_at) > _SAME_THEORY_SECONDS for at in known)


def tolerance(listing: Listing, route: StopPattern | None) -> float:
    """Return how far apart the departures may seem that are one: a vehicle runs its line again and again."""
    if not listing.trip_id:
        return SAME_RUN_SECONDS / 3
    if route is None:
        return SAME_RUN_SECONDS
    return min(SAME_RUN_SECONDS, max(SAME_RUN_SECONDS / 4, _SAME_RUN_SHARE * route.offsets[-1]))


def position_of(run: TrackedTrip, stop: StopState, predicted_at: float) -> int | None:
    """Return where a run's listing at a stop is along its route: the place that fits its first departure."""
    route = run.route
    if route is None:
        return None
    positions = route.positions(stop.code)
    if len(positions) == 1:
        return positions[0]
    return min(
        positions,
        key=lambda position: abs(predicted_at - route.offsets[position] - run.origin_at),
        default=None,
    )


def origins_of(route: StopPattern | None, stop: StopState, predicted_at: float) -> list[tuple[int, float]]:
    """Return where a stop may be along a route, and when a run that it lists then leaves the first stop.

    There are several where the route calls twice.
    """
    positions = route.positions(stop.code) if route else []
    found = [(n, predicted_at - route.offsets[n]) for n in positions] if route else []
    return found or [(0, predicted_at)]


def learn_schedule(run: TrackedTrip, position: int, scheduled_at: float) -> None:
    """Learn running times from the timetable listings of a run at the stops around this one, once each."""
    known = run.theory
    if run.route is None or position in known:
        return
    before = max((other for other in known if other < position), default=None)
    after = min((other for other in known if other > position), default=None)
    known[position] = scheduled_at
    if before is not None and scheduled_at > known[before]:
        _learn_scheduled(run.route, before, position, scheduled_at - known[before])
    if after is not None and scheduled_at < known[after]:
        _learn_scheduled(run.route, position, after, known[after] - scheduled_at)


def _learn_scheduled(route: StopPattern, start: int, end: int, seconds: float) -> None:
    route.learn(start, end, seconds, hypot(_SCHEDULE_SPREAD, _SCHEDULE_PACE_SPREAD * seconds))

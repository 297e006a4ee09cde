"""Follows buses from what stops list: where each is due next, and which passages are already evidenced."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import hypot, inf, sqrt

from transit_etl.collect.foresight import AHEAD, Foresight, horizon_of
from transit_etl.collect.planner import Listing, Observation
from transit_etl.collect.routes import Route, Routes, Service

EVIDENCE_SECONDS = 60.0  # the polls before and after a passage may be this far apart
PAIR_SECONDS = 57.0  # of these the rest is for the network and for the permit to come
LOOK_AHEAD_SECONDS = 150.0
BUCKET_SECONDS = 10.0
_HORIZON_SECONDS = 900.0  # it is looked ahead anew long before that is over
_REPROJECT_SECONDS = 90.0  # the same knowledge tells of the stops that have come within the horizon since
_JUST_NOW_SECONDS = 30.0
_SAME_SECONDS = 1.0  # what changes by less leaves the value of a poll as it was
_AS_SURE = 1.1
_FRESH_SECONDS = 180.0
_SAME_RUN_SECONDS = 1_200.0
_FORGET_SECONDS = 5_400.0
_PER_LINE = 2  # about so many passages of a line are listed
_HOP_SPREAD, _PACE_SPREAD = 20.0, 0.08
_SURE_SPREAD = 16.0  # times at least this sure teach running times
_SCHEDULE_PACE = 0.3
_TEACHING_SECONDS = 120.0  # a passage known to within so much tells how good predictions were
_NEAR_A_HORIZON = 0.35
_THEORETICAL_SPREAD, _THEORETICAL_LATE = 130.0, 70.0


@dataclass(slots=True, eq=False)
class Run:
    """One bus on one trip. `anchor_*`: the best knowledge of it, when it is (or was) where, and how sure."""

    service: Service
    trip_id: str
    route: Route | None
    origin_at: float
    is_live: bool = False
    seen_at: float = -inf
    n_evidenced: int = 0
    thirds: int = 0
    anchor_position: int = 0
    anchor_at: float = 0.0
    anchor_spread: float = inf
    anchored_at: float = -inf
    projected: tuple[int, float, float] | None = None  # the anchor it was last projected from
    projected_at: float = -inf
    theory: tuple[int, float] | None = None  # where it was last listed by timetable, and for when

    def spread_at(self, position: int) -> float:
        """Return how unsure a passage projected from the anchor is, in seconds."""
        hops, seconds = abs(position - self.anchor_position), 0.0
        if hops == 0:
            return self.anchor_spread
        if self.route is not None:
            seconds = self.route.offsets[position] - self.route.offsets[self.anchor_position]
        return hypot(self.anchor_spread, _HOP_SPREAD * sqrt(hops), _PACE_SPREAD * seconds)


@dataclass(slots=True, eq=False)
class Visit:
    """A passage of a run at a stop to come: expected at `mean`, give or take `spread`.

    `listed_at` is the poll that last listed it live, minus infinity if the last poll did not; `worth_from`
    is when a poll first may be worth something to it.
    """

    run: Run
    stop: "Stop"
    position: int
    mean: float = 0.0
    spread: float = inf
    worth_from: float = -inf
    listed_at: float = -inf
    bucket: int = -1
    said: dict[int, float] = field(default_factory=dict)  # what stops predicted, by how far ahead

    def expect(self, mean: float, spread: float) -> None:
        """Expect the passage at another instant, or more or less surely."""
        self.mean, self.spread = mean, spread
        self.worth_from = mean - min(LOOK_AHEAD_SECONDS, PAIR_SECONDS + 2 * spread)


@dataclass(slots=True, eq=False)
class Stop:
    """What is known of a stop. `n_nothing` counts answers in a row that named no bus."""

    code: str
    asked_at: float = -inf
    seen_at: float = -inf
    n_nothing: int = 0
    rests_until: float = -inf
    visits: dict[Run, Visit] = field(default_factory=dict)


class Tracker:
    """The buses and stops of a network as far as the answers tell."""

    def __init__(self, stop_codes: Iterable[str], routes: Routes) -> None:
        self.stops = {code: Stop(code) for code in sorted(set(stop_codes))}
        self.routes = routes
        self._runs: dict[tuple[str, str, str], list[Run]] = {}
        self._due: dict[int, dict[Visit, None]] = {}  # visits that stops still expect, in order
        self._foresight = Foresight()
        self._changed: dict[Visit, None] = {}
        self._forgot_at = -inf

    def observe(self, observation: Observation) -> Iterable[Visit]:
        """Take over a good answer, and return the visits of which something else is expected since.

        An answer older than what is known of its stop changes nothing.
        """
        self._changed = {}
        stop = self.stops.get(observation.stop_code)
        if stop is None or not observation.is_good or observation.at <= stop.seen_at:
            return ()
        at, before, seen_before = observation.at, stop.visits, stop.seen_at
        stop.visits, stop.seen_at = {}, at
        touched = [self._list(stop, listing, before, at) for listing in observation.listings]
        touched += [
            visit.run
            for visit in before.values()
            if self._unlist(visit, seen_before, at, observation.listings)
        ]
        for visit in before.values():
            if stop.visits.get(visit.run) is not visit:
                self._drop(visit)
        for run in touched:
            self._project(run, at)
        for route in self.routes.through.get(stop.code, ()):
            route.seen_at = at
        self._forget(at)
        return self._changed

    def _list(self, stop: Stop, listing: Listing, before: dict[Run, Visit], at: float) -> Run:
        """Take over one listed passage; return its run."""
        run = self._run(stop, listing, at)
        position = _position(run, stop, listing.predicted_at)
        visit = before.pop(run, None) or Visit(run, stop, position or 0)
        ahead = max(0.0, listing.predicted_at - at)
        if listing.is_live:
            mean = listing.predicted_at + self._foresight.too_early(ahead)
            spread = self._foresight.spread(ahead)
            horizon = horizon_of(ahead)
            if abs(ahead - AHEAD[horizon]) <= _NEAR_A_HORIZON * max(ahead, 1.0):
                visit.said[horizon] = listing.predicted_at
        else:
            mean, spread = max(at, listing.predicted_at + _THEORETICAL_LATE), _THEORETICAL_SPREAD
        if position is not None:
            visit.position = position
            if run.route:
                run.route.note_served(position)
            self.routes.note_shown(run.service, stop.code, is_shown=True)
            if not listing.is_live:
                _learn_schedule(run, position, listing.predicted_at)
            self._anchor_by_listing(run, position, mean, spread, at)
        visit.listed_at = at if listing.is_live else -inf
        if run in stop.visits and stop.visits[run] is not visit:
            self._drop(stop.visits[run])  # listed twice
        stop.visits[run] = visit
        self._expect(visit, mean, spread)
        return run

    def _run(self, stop: Stop, listing: Listing, at: float) -> Run:
        """Return the run a listing is about: the same ids, leaving its first stop at about the same time."""
        service = (listing.line_label, listing.destination)
        route = self.routes.route_of(service, stop.code)
        same = self._runs.setdefault(listing.trip, [])
        tolerance = _SAME_RUN_SECONDS if listing.trip_id else _SAME_RUN_SECONDS / 8
        origins = _origins(route, stop, listing.predicted_at)
        apart, run, origin_at = min(
            ((abs(known.origin_at - origin), known, origin) for known in same for origin in origins),
            key=lambda choice: choice[0],
            default=(inf, None, origins[0]),
        )
        if run is None or apart > tolerance:
            run, origin_at = Run(service, listing.trip_id, None, origins[0]), origins[0]
            same.append(run)
        if listing.is_live and not run.is_live:
            run.is_live, run.anchor_spread = True, inf
        is_elsewhere = run.route is None or not run.route.positions(stop.code)
        if route is not None and len(origins) == 1 and is_elsewhere:
            run.route, run.anchor_position, run.anchor_spread = route, 0, inf  # no anchor on it yet
            run.theory = None  # positions along another route mean nothing on this one
        run.seen_at, run.origin_at = at, origin_at
        return run

    def _anchor_by_listing(self, run: Run, position: int, mean: float, spread: float, at: float) -> None:
        if run.is_live and run.anchor_position != position and spread <= _SURE_SPREAD:
            self._learn(run, position, mean)
        if spread <= 1.2 * run.spread_at(position) or not run.is_live:
            self._anchor(run, position, mean, spread, at)

    def _learn(self, run: Run, position: int, passes_at: float) -> None:
        """Learn a running time from the anchor to a later passage, if both are well known."""
        seconds = passes_at - run.anchor_at
        is_later = position > run.anchor_position and seconds > 0
        if run.route and is_later and run.anchor_spread <= _SURE_SPREAD:
            run.route.learn(run.anchor_position, position, seconds)

    def _unlist(self, visit: Visit, seen_before: float, at: float, listings: tuple[Listing, ...]) -> bool:
        """Decide what it means that a stop lists an expected bus no more; True if it has passed."""
        run, stop = visit.run, visit.stop
        same_line = [listing.predicted_at for listing in listings if listing.line_label == run.service[0]]
        ahead = visit.mean - at
        if len(same_line) >= _PER_LINE and visit.mean > max(same_line) - _JUST_NOW_SECONDS:
            visit.listed_at = -inf  # it may be the third of its line, which is not listed
            stop.visits[run] = visit
            return False
        if visit.listed_at == -inf or visit.listed_at != seen_before:
            if ahead > 2 * visit.spread:
                self.routes.note_shown(run.service, stop.code, is_shown=False)
            return False
        if ahead > max(90.0, 3 * visit.spread):
            return False  # it has vanished, which says nothing of where it is
        self._pass(visit, seen_before, at)
        return True

    def _pass(self, visit: Visit, after: float, before: float) -> None:
        """Note that a bus has passed a stop between two instants."""
        run, interval = visit.run, before - after
        passed_at = min(max(visit.mean, after), before)
        if interval <= _TEACHING_SECONDS:
            for horizon, predicted_at in visit.said.items():
                self._foresight.learn(horizon, (after + before) / 2 - predicted_at, interval)
        spread = max(4.0, min(visit.spread, interval / 4))
        position = _position(run, visit.stop, passed_at)
        if run.route and position is not None:
            if spread <= _SURE_SPREAD:
                self._learn(run, position, passed_at)
            if interval <= EVIDENCE_SECONDS:
                run.n_evidenced += 1
                third = run.route.third(position)
                if third is not None:
                    run.thirds |= 1 << third
            self._anchor(run, position, passed_at, spread, before)

    def _anchor(self, run: Run, position: int, passes_at: float, spread: float, at: float) -> None:
        run.anchor_position, run.anchor_at = position, passes_at
        run.anchor_spread, run.anchored_at = spread, at

    def _project(self, run: Run, at: float) -> None:
        """Expect a run at the stops of its route, from the best that is known of it."""
        route = run.route
        anchor = run.anchor_position, run.anchor_at, run.anchor_spread
        is_fresh = at - run.projected_at < _REPROJECT_SECONDS
        if route is None or run.anchor_spread == inf or (is_fresh and run.projected == anchor):
            return
        run.projected, run.projected_at = anchor, at
        offsets, stop_codes, stops = route.offsets, route.stop_codes, self.stops
        start = run.anchor_at - offsets[run.anchor_position]
        first = at - _JUST_NOW_SECONDS - start
        for position in route.between(first, first + _HORIZON_SECONDS):
            stop = stops.get(stop_codes[position])
            if stop is None or stop.seen_at == at:
                continue
            visit = stop.visits.get(run)
            if visit is None:
                if stop.seen_at > at - _FRESH_SECONDS:
                    continue  # it was looked at a moment ago, and did not list this run
                visit = stop.visits[run] = Visit(run, stop, position)
            elif visit.spread < run.anchor_spread / _AS_SURE:
                continue  # more is known of it there than can be projected
            spread = run.spread_at(position)
            if spread <= _AS_SURE * visit.spread:
                self._expect(visit, start + offsets[position], spread)

    def _expect(self, visit: Visit, mean: float, spread: float) -> None:
        is_same = abs(mean - visit.mean) < _SAME_SECONDS and abs(spread - visit.spread) < _SAME_SECONDS
        if is_same and visit.bucket != -1:
            return
        visit.expect(mean, spread)
        self._changed[visit] = None
        bucket = int(mean // BUCKET_SECONDS)
        if bucket != visit.bucket:
            self._drop(visit)
            visit.bucket = bucket
            self._due.setdefault(bucket, {})[visit] = None

    def _drop(self, visit: Visit) -> None:
        """Expect a visit no longer."""
        if visit.bucket != -1:
            del self._due[visit.bucket][visit]
            visit.bucket = -1

    def _forget(self, at: float) -> None:
        """Drop what is long over, now and then."""
        if at - self._forgot_at < 2 * EVIDENCE_SECONDS:
            return
        self._forgot_at = at
        past = int((at - 300.0) // BUCKET_SECONDS)
        for bucket in [bucket for bucket in self._due if bucket < past]:
            for visit in self._due.pop(bucket):
                visit.bucket = -1
                del visit.stop.visits[visit.run]
        for trip, runs in list(self._runs.items()):
            kept = [run for run in runs if run.seen_at > at - _FORGET_SECONDS]
            if kept:
                self._runs[trip] = kept
            else:
                del self._runs[trip]


def _origins(route: Route | None, stop: Stop, predicted_at: float) -> list[float]:
    """Return when a run listed at a stop leaves its first one; several where the route calls twice."""
    positions = route.positions(stop.code) if route else []
    return [predicted_at - route.offsets[n] for n in positions] if route and positions else [predicted_at]


def _position(run: Run, stop: Stop, predicted_at: float) -> int | None:
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


def _learn_schedule(run: Run, position: int, scheduled_at: float) -> None:
    """Learn a running time from two timetable listings of a run, which are exact."""
    if run.route and run.theory and run.theory[0] != position:
        (start, left_at), (end, arrived_at) = sorted([run.theory, (position, scheduled_at)])
        if arrived_at > left_at:
            run.route.learn(start, end, arrived_at - left_at, _SCHEDULE_PACE)
    run.theory = (position, scheduled_at)

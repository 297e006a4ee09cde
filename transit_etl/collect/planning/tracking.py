"""Follows buses from what stops list: where each is due next, and which passages are already evidenced."""

from collections.abc import Iterable
from math import hypot, inf
from operator import attrgetter

from transit_etl.collect.planning.listing_matching import (
    SAME_RUN_SECONDS,
    is_another,
    learn_schedule,
    nearest,
    origins_of,
    position_of,
    tolerance,
)
from transit_etl.collect.planning.planner import Listing, Observation
from transit_etl.collect.planning.prediction_error import AHEAD, LEAST_AHEAD, PredictionErrorModel, horizon_of
from transit_etl.collect.planning.state import EVIDENCE_SECONDS, ExpectedVisit, StopState, TrackedTrip, fused
from transit_etl.collect.planning.stop_patterns import StopPattern, StopPatterns

BUCKET_SECONDS = 10.0
_HORIZON_SECONDS = 900.0  # it is looked ahead anew long before that is over
_JUST_NOW_SECONDS = 30.0
_SAME_SECONDS = 1.0  # what changes by less leaves the value of a poll as it was
_AS_SURE = 1.1
_FRESH_SECONDS = 180.0
_FORGET_SECONDS = 5_400.0
_SAME_LATENESS_SPREADS = 2.0
_PER_LINE = 2  # about so many passages of a line are listed
_BIAS_OF = 3  # so many passages the bias of a run is taken from
_SURE_SPREAD = 16.0  # times at least this sure teach running times
_HARDLY_PASSED_SECONDS, _HARDLY_PASSED_SPREADS = 20.0, 2.0
_TEACHING_SECONDS = 120.0  # a passage known to within so much tells how good predictions were
_NEAR_A_HORIZON = 0.35
_by_timetable_and_soonest = attrgetter("is_live", "predicted_at")


class Tracker:
    """The buses and stops of a network as far as the answers tell."""

    def __init__(self, stop_codes: Iterable[str], routes: StopPatterns) -> None:
        self.stops = {code: StopState(code) for code in sorted(set(stop_codes))}
        self.routes = routes
        self._runs: dict[tuple[str, str, str], list[TrackedTrip]] = {}
        self._due: dict[int, dict[ExpectedVisit, None]] = {}  # visits that stops still expect, in order
        self._foresight = PredictionErrorModel()
        self._changed: dict[ExpectedVisit, None] = {}
        self._forgot_at = -inf

    def observe(self, observation: Observation) -> Iterable[ExpectedVisit]:
        """Take over a good answer, and return the visits of which something else is expected since.

        An answer older than what is known of its stop changes nothing.
        """
        self._changed = {}
        stop = self.stops.get(observation.stop_code)
        if stop is None or not observation.is_good or observation.at <= stop.seen_at:
            return ()
        at, before, seen_before = observation.at, stop.visits, stop.seen_at
        stop.visits, stop.seen_at = {}, at
        timetable_first = sorted(observation.listings, key=_by_timetable_and_soonest)
        touched = [self._list(stop, listing, before, at) for listing in timetable_first]
        full = _full_lines(observation.listings) if before else {}
        touched += [visit.run for visit in before.values() if self._unlist(visit, seen_before, at, full)]
        for visit in before.values():
            if stop.visits.get(visit.run) is not visit:
                self._drop(visit)
        for run in touched:
            self._project(run, at)
        for route in self.routes.through.get(stop.code, ()):
            route.seen_at = at
        self._forget(at)
        return self._changed

    def _list(
        self, stop: StopState, listing: Listing, before: dict[TrackedTrip, ExpectedVisit], at: float
    ) -> TrackedTrip:
        """Take over one listed passage; return its run."""
        run = self._run(stop, listing, at)
        position = position_of(run, stop, listing.predicted_at)
        if run in stop.visits:
            return run  # listed twice: a circle ends here, and the sooner place is what counts
        visit = before.get(run)
        if visit is None or visit.is_behind(position):
            visit = ExpectedVisit(run, stop, position or 0)
        else:
            del before[run]
        visit.listed_at = at if listing.is_live else -inf
        told = expected = self._told(visit, listing, at)
        if run.route is not None and position is not None:
            visit.position, visit.told = position, told if listing.is_live else None
            run.route.note_shown(position, is_shown=True)
            if not listing.is_live:
                learn_schedule(run, position, listing.predicted_at)
            elif run.anchor_spread < inf and run.anchor_position != position:
                projected = run.projected_to(position)
                if visit.refutes(*projected):
                    run.anchor_spread = inf  # of another trip, or another course than the known one
                else:
                    expected = fused(told, projected)
            self._anchor_by_listing(run, position, *told)
        stop.visits[run] = visit
        self._expect(visit, *expected)
        return run

    def _told(self, visit: ExpectedVisit, listing: Listing, at: float) -> tuple[float, float]:
        """Return when a listing lets a bus be expected, and how surely; errors of one run are alike."""
        run, foresight = visit.run, self._foresight
        if not listing.is_live:
            return max(at, listing.predicted_at + foresight.late), foresight.late_spread
        ahead = max(0.0, listing.predicted_at - at)
        horizon = horizon_of(ahead)
        if horizon >= LEAST_AHEAD and abs(ahead - AHEAD[horizon]) <= _NEAR_A_HORIZON * ahead:
            visit.said[horizon] = listing.predicted_at
        mean, spread = listing.predicted_at + foresight.too_early(ahead), foresight.spread(ahead)
        if run.n_judged and ahead > AHEAD[LEAST_AHEAD] / 2:
            bias, left = foresight.of_run(run.bias)
            return mean + bias * spread, left * spread
        return mean, spread

    def _run(self, stop: StopState, listing: Listing, at: float) -> TrackedTrip:
        """Return the run a listing is about: the same ids, leaving its first stop at about the same time."""
        service = (listing.line_label, listing.destination)
        route = self.routes.route_of(service, stop.code)
        same = self._runs.setdefault(listing.trip, [])
        origins = origins_of(route, stop, listing.predicted_at)
        alike = same if listing.trip_id else [run for run in same if not is_another(run, stop, listing)]
        run, origin_at = nearest(alike, origins, tolerance(listing, route))
        if run is None and listing.is_live and listing.trip_id:
            run, origin_at = self._come_alive(listing, origins, at)
            same += [run] if run else []
        if run is None:
            run = TrackedTrip(service, listing.trip_id, None, origin_at)
            same.append(run)
        if listing.is_live and not run.is_live:
            run.is_live, run.anchor_spread = True, inf
            self._learn_lateness(run, stop, listing)
        is_elsewhere = run.route is None or not run.route.positions(stop.code)
        if route is not None and is_elsewhere:
            first, last = origins[0][1], origins[-1][1]
            if len(origins) > 1 and listing.is_live and origin_at == first and -inf < run.seen_at < at:
                origin_at = last  # listed once and again, and only once each time: the circle's end
            if len(origins) == 1 or not listing.is_live or origin_at != first:
                self._put_on(run, route)
        run.n_missed = run.n_missed + 1 if run.is_live and not listing.is_live else 0
        run.seen_at, run.origin_at = at, origin_at
        return run

    def _learn_lateness(self, run: TrackedTrip, stop: StopState, listing: Listing) -> None:
        """Learn from a run that has a vehicle now how late such are, if the timetable listed it here."""
        position = position_of(run, stop, listing.predicted_at)
        if position in run.theory:
            self._foresight.learn_lateness(listing.predicted_at - run.theory[position])

    def _put_on(self, run: TrackedTrip, route: StopPattern) -> None:
        """Have a run follow a route: it has no anchor on it yet, and positions along another mean nothing."""
        for code in run.route.stop_codes if run.route else ():
            stop = self.stops.get(code)
            if stop is not None and run in stop.visits:
                self._drop(stop.visits.pop(run))
        run.route, run.anchor_position, run.anchor_spread, run.theory = route, 0, inf, {}
        run.projected_at = -inf

    def _come_alive(
        self, listing: Listing, origins: list[tuple[int, float]], at: float
    ) -> tuple[TrackedTrip | None, float]:
        """Find the run without an id that was timetable time so far, as which a vehicle now shows up.

        It is none that the same answer lists by timetable, and about as late as such usually turn out to be.
        """
        nameless = self._runs.get(("", listing.line_label, listing.destination), [])
        waiting = [run for run in nameless if not run.is_live and run.seen_at < at]
        foresight = self._foresight
        apart = min(SAME_RUN_SECONDS / 2, _SAME_LATENESS_SPREADS * foresight.late_spread)
        run, origin_at = nearest(waiting, origins, apart, foresight.late)
        if run is not None:
            nameless.remove(run)
            run.trip_id = listing.trip_id
        return run, origin_at

    def _anchor_by_listing(self, run: TrackedTrip, position: int, mean: float, spread: float) -> None:
        if run.is_live and run.anchor_position != position and spread <= _SURE_SPREAD:
            self._learn(run, position, mean, spread)
        if spread <= 1.2 * run.spread_at(position) or not run.is_live:
            self._anchor(run, position, mean, spread)

    def _learn(self, run: TrackedTrip, position: int, passes_at: float, spread: float) -> None:
        """Learn a running time from the anchor to a later passage, if both are well known."""
        seconds = passes_at - run.anchor_at
        is_later = position > run.anchor_position and seconds > 0
        if run.route and is_later and run.anchor_spread <= _SURE_SPREAD:
            run.route.learn(run.anchor_position, position, seconds, hypot(spread, run.spread_at(position)))

    def _unlist(
        self, visit: ExpectedVisit, seen_before: float, at: float, full: dict[str, list[float]]
    ) -> bool:
        """Decide what it means that a stop lists an expected bus no more; True if it has passed.

        `full` says of the lines that are listed as often as a line can be for when, the soonest first.
        """
        run, stop = visit.run, visit.stop
        ahead = visit.mean - at
        if run in stop.visits:  # listed for a later place of a circle
            if visit.listed_at == seen_before:
                self._pass(visit, seen_before, at)
            return True
        listed = full.get(run.service[0])
        if listed and visit.mean > listed[-1] - _JUST_NOW_SECONDS:
            visit.listed_at = -inf  # it may be the third of its line, which is not listed before one is gone
            visit.worth_from = max(visit.worth_from, listed[0])
            stop.visits[run] = visit
            return False
        if visit.listed_at == -inf or visit.listed_at != seen_before:
            if ahead > 2 * visit.spread and run.route:
                run.route.note_shown(visit.position, is_shown=False)
                run.n_missed += 1
            return False
        if ahead > max(_HARDLY_PASSED_SECONDS, _HARDLY_PASSED_SPREADS * visit.spread):
            run.n_missed += 1
            visit.listed_at = -inf  # it has vanished, which says nothing of where it is
            stop.visits[run] = visit
            return False
        self._pass(visit, seen_before, at)
        return True

    def _pass(self, visit: ExpectedVisit, after: float, before: float) -> None:
        """Note that a bus has passed a stop between two instants."""
        run, interval = visit.run, before - after
        passed_at = min(max(visit.mean, after), before)
        if interval <= _TEACHING_SECONDS:
            self._judge(visit, (after + before) / 2, interval)
        spread = max(4.0, min(visit.spread, interval / 4))
        position = position_of(run, visit.stop, passed_at)
        if run.route and position is not None:
            if spread <= _SURE_SPREAD:
                self._learn(run, position, passed_at, spread)
            if interval <= EVIDENCE_SECONDS:
                run.n_evidenced += 1
                third = run.route.third(position)
                if third is not None:
                    run.thirds |= 1 << third
            self._anchor(run, position, passed_at, spread)

    def _judge(self, visit: ExpectedVisit, passed_at: float, interval: float) -> None:
        """Learn from a passage how good the predictions of it were, and those of its run."""
        run, foresight = visit.run, self._foresight
        errors = [
            foresight.learn(horizon, passed_at - predicted_at, interval)
            for horizon, predicted_at in visit.said.items()
        ]
        if errors:
            error = sum(errors) / len(errors)
            if run.n_judged:
                foresight.compare(error, run.bias)
            run.n_judged += 1
            run.bias += (error - run.bias) / min(run.n_judged, _BIAS_OF)

    def _anchor(self, run: TrackedTrip, position: int, passes_at: float, spread: float) -> None:
        run.anchor_position, run.anchor_at, run.anchor_spread = position, passes_at, spread

    def _project(self, run: TrackedTrip, at: float) -> None:
        """Expect a run at the stops of its route, from the best that is known of it."""
        route = run.route
        if route is None or run.anchor_spread == inf:
            return
        route.keep_fresh(at)
        start = run.anchor_at - route.offsets[run.anchor_position]
        if run.is_told(start, at):
            return
        run.projected, run.projected_at = (start, run.anchor_spread), at
        offsets, stop_codes, stops = route.offsets, route.stop_codes, self.stops
        first = at - _JUST_NOW_SECONDS - start
        for position in route.between(first, first + _HORIZON_SECONDS):
            stop = stops.get(stop_codes[position])
            if stop is None or stop.seen_at == at:
                continue
            visit = stop.visits.get(run)
            if visit is None:
                if stop.seen_at > at - _FRESH_SECONDS:
                    continue  # it was looked at a moment ago, and did not list this run
                visit = stop.visits[run] = ExpectedVisit(run, stop, position)
            elif visit.position != position or visit.spread < run.anchor_spread / _AS_SURE:
                continue  # more is known of it there than can be projected
            spread = run.spread_at(position)
            mean = start + offsets[position]
            if visit.told is not None:
                mean, spread = fused(visit.told, (mean, spread))
            if spread <= _AS_SURE * visit.spread and not visit.refutes(mean, spread):
                self._expect(visit, mean, spread)

    def _expect(self, visit: ExpectedVisit, mean: float, spread: float) -> None:
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

    def _drop(self, visit: ExpectedVisit) -> None:
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


def _full_lines(listings: Iterable[Listing]) -> dict[str, list[float]]:
    """Return for when each line is listed that is listed in full, so that another may be left out."""
    times: dict[str, list[float]] = {}
    for listing in listings:
        times.setdefault(listing.line_label, []).append(listing.predicted_at)
    return {label: sorted(of_line) for label, of_line in times.items() if len(of_line) >= _PER_LINE}

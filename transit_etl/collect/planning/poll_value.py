"""Says what a poll of a stop is worth at an instant, and when that is to be worked out again.

A passage is evidenced by a good poll that lists its bus live and a good poll at most a minute later that
lists it no more. So polls come in pairs, and with `P(a, b)` for how likely a bus passes between two instants

    value(stop, now) = sum over its visits of
        weight · [ URGENT · P(last poll, now)         if the last poll listed it live, at most a minute ago
                 + FIRST_OF_PAIR · (P(now, now + PAIR_SECONDS) - PATIENCE · what P gains by waiting)
                 + LOCATING · what P would gain by knowing better · P(after that, near enough to be told) ]
    weight = LIKELY · MISSED ** times missed
             · (1 + FEW_BONUS · (1 + evidenced) / (FEW_LEISURE + stops to come)
                    if its trip has fewer than ENOUGH_PER_TRIP evidenced visits
                  + THIRD_BONUS / (1 + stops to come in this third) · 60 / rate
                    if it has none in this third of the route)

The second of a pair is worth the passages it completes; the first is worth a part of those expected within
the minute after it, because it costs a second one. While a pair is open its second poll waits: the later it
comes, the more passages it completes; then it is URGENT, because in seconds what the first one cost is lost,
while another first one can wait a little. It had better wait as long as the bus is not near enough to pass
in between as surely as it ever will. A first poll also tells where a bus is that does not come in between.
The bonuses grow with every stop that is missed: what a long line still has time for, a short one has not.
"""

from math import erf, inf, sqrt

from transit_etl.collect.planning.planner import PENDING_SECONDS
from transit_etl.collect.planning.state import EVIDENCE_SECONDS, PAIR_SECONDS, ExpectedVisit, StopState

READY_SECONDS = 54.0  # from here on the second of a pair may be sent
ENOUGH_PER_TRIP = 3
FEW_BONUS, FEW_LEISURE = 20.0, 10.0  # of the trips that have some, those with most stops to come can wait
THIRD_BONUS = 10.0  # at 60 a minute; with more, each third counts for less
FIRST_OF_PAIR, LOCATING = 0.5, 0.3
URGENT = 3.0  # how much sooner an open pair is lost than another is worth less
LIKELY, HARDLY = 0.95, 0.05  # that a bus not listed yet will be, and one that should be live and is not
MISSED = 0.5  # the share of that for each time in a row that the bus was missing where it should be listed
LEAST_VALUE = 0.05
PATIENCE = 2.0  # what a first one loses by coming too early, for each share of likelihood it gives away
REVALUE_SECONDS = 3.0
RETRY_SECONDS = 2.0
_NEVER, _ALMOST_ALL, _NOT_WORTH = inf, 0.97, 0.01
_FOUND, _LOCATE_SECONDS = 0.65, 150.0
_SURELY_GONE = 2.06  # so many spreads after the mean even FIRST_OF_PAIR times what is left is not worth it
_LOOK_BACK_SECONDS = 75.0
_LIVE_AHEAD_SECONDS = 240.0  # a bus not live by then before it leaves will hardly be
_SQRT_2 = sqrt(2.0)


class PollValuer:
    """The value of polls for an allowance of so many requests a minute; without bonuses visits are alike."""

    def __init__(self, rate_per_minute: float, *, has_bonuses: bool = True) -> None:
        self._few_bonus = FEW_BONUS if has_bonuses else 0.0
        self._third_bonus = THIRD_BONUS * 60.0 / rate_per_minute if has_bonuses else 0.0

    def value(self, stop: StopState, now: float) -> tuple[float, float]:
        """Return what a poll of a stop is worth now, and when to ask again; never, if nothing is expected."""
        if is_pending(stop, now):
            return 0.0, stop.asked_at + PENDING_SECONDS
        since = now - stop.seen_at
        is_open = since < EVIDENCE_SECONDS
        completed = completable = prepared = 0.0
        again_at, over_at = _NEVER, now
        for visit in stop.visits.values():
            if visit.worth_from > now:
                if visit.worth_from < again_at:  # noqa: PLR1730 - calling min costs more than all of the rest
                    again_at = visit.worth_from
                continue
            is_half_done = is_open and visit.listed_at == stop.seen_at
            if not is_half_done and now - visit.mean > min(_LOOK_BACK_SECONDS, _SURELY_GONE * visit.spread):
                continue
            again_at = now + REVALUE_SECONDS
            gone = _below(now, visit)
            preparation = _preparation(visit, gone, now)
            if preparation < _NOT_WORTH and not is_half_done:
                continue
            weight = self._weight(visit)
            prepared += weight * preparation
            if is_half_done:
                completed += weight * gone
                completable += weight * _below(stop.seen_at + PAIR_SECONDS, visit)
                over_at = max(over_at, visit.mean + _SURELY_GONE * visit.spread)
        if completable <= 2 * LEAST_VALUE:
            return prepared, again_at
        if since < READY_SECONDS and completed < _ALMOST_ALL * completable:
            return 0.0, min(max(over_at, now + REVALUE_SECONDS), stop.seen_at + READY_SECONDS)
        return URGENT * completed + prepared, again_at

    def _weight(self, visit: ExpectedVisit) -> float:
        """Return how much a visit counts, by what its trip lacks and how likely it comes about."""
        run = visit.run
        weight = 1.0
        if run.route is not None:
            to_come, to_come_in_third = run.route.to_come(visit.position)
            if run.n_evidenced < ENOUGH_PER_TRIP:
                weight += self._few_bonus * (1 + run.n_evidenced) / (FEW_LEISURE + to_come)
            third = run.route.third(visit.position)
            if third is not None and not run.thirds >> third & 1:
                weight += self._third_bonus / (1 + to_come_in_third)
        if visit.listed_at > -inf:
            return weight
        if run.route is not None:
            weight *= run.route.is_served(visit.position)
        is_still_unseen = not run.is_live and run.seen_at > run.origin_at - _LIVE_AHEAD_SECONDS
        return weight * (HARDLY if is_still_unseen else LIKELY * MISSED**run.n_missed)


def is_pending(stop: StopState, now: float) -> bool:
    """Tell whether a stop has been asked and its answer may still come."""
    return stop.asked_at > stop.seen_at and now - stop.asked_at < PENDING_SECONDS


def note_answer(stop: StopState, at: float, *, is_good: bool) -> None:
    """Let a stop whose answer was lost be asked again soon, and less soon each time it happens in a row."""
    stop.n_failed = 0 if is_good else stop.n_failed + 1
    if not is_good:
        wait = min(PENDING_SECONDS, RETRY_SECONDS * 2 ** min(8, stop.n_failed - 1))
        stop.asked_at = at + wait - PENDING_SECONDS


def _preparation(visit: ExpectedVisit, gone: float, now: float) -> float:
    """Return what a poll now is worth to a visit that it may come before."""
    passed = _below(now + PAIR_SECONDS, visit)
    likely = passed - gone
    best = erf(PAIR_SECONDS / (2.0 * _SQRT_2 * visit.spread))
    pair = FIRST_OF_PAIR * likely
    if now < visit.mean - PAIR_SECONDS / 2:
        pair = max(0.0, pair - FIRST_OF_PAIR * PATIENCE * (best - likely))
    if best >= _FOUND:
        return pair
    return pair + LOCATING * (_FOUND - best) * (_below(now + _LOCATE_SECONDS, visit) - passed)


def _below(instant: float, visit: ExpectedVisit) -> float:
    """Return how likely it is that a visit is over by an instant."""
    return 0.5 * (1.0 + erf((instant - visit.mean) / (visit.spread * _SQRT_2)))

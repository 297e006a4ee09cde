"""Spends each permit where it is likely to show a bus just before or just after it passes.

A passage is evidenced by a good poll that lists its bus live and a good poll at most a minute later that
lists it no more. So a stop is worth most while a bus seen there a moment ago is about to be gone, next when
several buses are due within the minute, and a little, growing with time, when nobody has looked for long.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import erf, sqrt

from transit_etl.collect.planner import PENDING_SECONDS, Listing, Observation

PAIR_SECONDS = (
    57.0  # the poll after must come within a minute of the poll before; the rest is for the network
)
DUE_AHEAD_SECONDS = 60.0
EXPLORE_EVERY = 10  # of so many choices one goes to the stop longest unseen
_DEAD_AFTER = 4
_LONGEST_REST_SECONDS = 3_600.0
_BUCKET_SECONDS = 10.0


@dataclass(slots=True)
class _Expected:
    """A passage a stop has listed, and when it last did so live."""

    predicted_at: float
    listed_at: float
    is_live: bool


@dataclass(slots=True)
class _Stop:
    """What is known of a stop. `n_nothing` counts answers in a row that named no bus."""

    code: str
    asked_at: float = float("-inf")
    seen_at: float = float("-inf")
    n_nothing: int = 0
    rests_until: float = float("-inf")
    expected: dict[tuple[str, str, str], _Expected] = field(default_factory=dict)


class Adaptive:
    """Looks at stops just before and just after their buses pass, and at each of them now and then."""

    def __init__(self, stop_codes: Iterable[str]) -> None:
        self._stops = {code: _Stop(code) for code in sorted(set(stop_codes))}
        self._due: dict[int, set[str]] = {}
        self._n_choices = 0

    def observe(self, observation: Observation) -> None:
        """Take over what a good answer lists; a bad one changes nothing that is known of buses."""
        stop = self._stops.get(observation.stop_code)
        if stop is None or observation.at < stop.seen_at:
            return
        stop.asked_at = min(stop.asked_at, observation.at)
        if observation.is_good:
            stop.seen_at = observation.at
            stop.expected = {
                listing.trip: _expected(listing, observation.at) for listing in observation.listings
            }
            self._remember_when_due(stop)
        if observation.is_good or observation.is_refused:
            self._rest_if_dead(stop, observation)

    def choose(self, now: float) -> str:
        """Return the stop with the highest expected gain, or in its turn the one longest unseen."""
        self._n_choices += 1
        self._forget_before(now)
        chosen = None if self._n_choices % EXPLORE_EVERY == 0 else self._most_gain(now)
        stop = chosen or self._longest_unseen(now)
        stop.asked_at = now
        return stop.code

    def _most_gain(self, now: float) -> _Stop | None:
        candidates = sorted({code for bucket in self._buckets(now) for code in self._due.get(bucket, ())})
        best, most = None, 0.05
        for code in candidates:
            stop = self._stops[code]
            if now - stop.asked_at < PENDING_SECONDS and stop.asked_at > stop.seen_at:
                continue
            gain = _gain(stop, now)
            if gain > most:
                best, most = stop, gain
        return best

    def _longest_unseen(self, now: float) -> _Stop:
        rested = [stop for stop in self._stops.values() if stop.rests_until <= now] or list(
            self._stops.values()
        )
        return min(rested, key=lambda stop: (max(stop.seen_at, stop.asked_at), stop.code))

    def _rest_if_dead(self, stop: _Stop, observation: Observation) -> None:
        stop.n_nothing = 0 if observation.listings else stop.n_nothing + 1
        if stop.n_nothing >= _DEAD_AFTER:
            rest = min(_LONGEST_REST_SECONDS, 300.0 * 2 ** (stop.n_nothing - _DEAD_AFTER))
            stop.rests_until = observation.at + rest
        else:
            stop.rests_until = observation.at

    def _remember_when_due(self, stop: _Stop) -> None:
        for expected in stop.expected.values():
            bucket = int(expected.predicted_at // _BUCKET_SECONDS)
            self._due.setdefault(bucket, set()).add(stop.code)

    def _buckets(self, now: float) -> range:
        first = int((now - DUE_AHEAD_SECONDS) // _BUCKET_SECONDS)
        last = int((now + DUE_AHEAD_SECONDS) // _BUCKET_SECONDS)
        return range(first, last + 1)

    def _forget_before(self, now: float) -> None:
        first = self._buckets(now).start
        for bucket in [bucket for bucket in self._due if bucket < first]:
            del self._due[bucket]


def _expected(listing: Listing, at: float) -> _Expected:
    return _Expected(listing.predicted_at, at, listing.is_live)


def _gain(stop: _Stop, now: float) -> float:
    """Return how many passages a poll now would evidence, or, for half, prepare to evidence."""
    since = now - stop.seen_at
    gain = 0.0
    for expected in stop.expected.values():
        if not expected.is_live:
            continue
        spread = _spread(expected.predicted_at - expected.listed_at)
        is_gone = _below(now, expected.predicted_at, spread)
        if since <= PAIR_SECONDS:
            gain += is_gone
        else:
            gain += 0.5 * max(0.0, _below(now + PAIR_SECONDS, expected.predicted_at, spread) - is_gone)
    return gain if since <= PAIR_SECONDS or since > 2 * PAIR_SECONDS else gain * 0.9


def _spread(ahead: float) -> float:
    """Return how far a prediction made so long before is typically off, in seconds."""
    return 6.0 + min(100.0, 0.28 * max(0.0, ahead))


def _below(instant: float, mean: float, spread: float) -> float:
    return 0.5 * (1.0 + erf((instant - mean) / (spread * sqrt(2.0))))

"""Follows a poll from the question to the answer: when a stop can be asked, and when it should rest."""

from transit_etl.collect.planning.parameters import PlannerParameters, PollParameters
from transit_etl.collect.planning.policy import Observation
from transit_etl.collect.planning.state import StopState

_MOST_DOUBLINGS = 64  # a larger power of two would overflow


def is_pending(stop: StopState, now: float, parameters: PollParameters) -> bool:
    """Tell whether a stop has been asked and its answer may still come."""
    return stop.asked_at > stop.answered_at and now - stop.asked_at < parameters.pending_seconds


def record_answer(stop: StopState, observation: Observation, parameters: PlannerParameters) -> None:
    """Count failed and empty answers, and set when the stop can be asked again.

    After a failed answer that is soon, later with each one in a row. A stop that lists nothing, or is
    refused by the upstream, several times in a row gets a rest period; a listing ends it.
    """
    poll = parameters.poll
    stop.asked_at = min(stop.asked_at, observation.at)
    stop.n_failed = 0 if observation.is_good else stop.n_failed + 1
    if not observation.is_good:
        wait = _doubled(poll.first_retry_seconds, stop.n_failed - 1, poll.pending_seconds)
        stop.asked_at = observation.at + wait - poll.pending_seconds
    if observation.is_good or observation.is_refused:
        stop.n_empty = 0 if observation.listings else stop.n_empty + 1
        n_more = stop.n_empty - parameters.listing.telling_answers
        rest = _doubled(poll.first_rest_seconds, n_more, poll.longest_rest_seconds)
        stop.rest_ends_at = observation.at + (rest if n_more >= 0 else 0.0)


def _doubled(first: float, n_times: int, longest: float) -> float:
    return min(longest, first * 2.0 ** min(n_times, _MOST_DOUBLINGS))

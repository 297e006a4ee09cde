"""When a stop can be asked again: after a failed answer, after empty ones."""

from itertools import pairwise

import pytest

from tests.collect.planning.observations import failed, good, listing
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.polls import is_pending, record_answer
from transit_etl.collect.planning.state import StopState

P = DEFAULTS.poll


def wait_after_failure(stop: StopState, at: float) -> int:
    """Return for how many seconds a stop that is asked, and fails, is not asked again."""
    stop.asked_at = at
    record_answer(stop, failed(stop.code, at), DEFAULTS)
    return next(seconds for seconds in range(1_000) if not is_pending(stop, at + seconds, P))


def test_a_stop_is_pending_until_it_answers_or_the_time_is_over() -> None:
    stop = StopState("0001", asked_at=100.0)

    assert is_pending(stop, 101.0, P)
    assert not is_pending(stop, 100.0 + P.pending_seconds, P)

    stop.answered_at = 101.0

    assert not is_pending(stop, 102.0, P)


def test_each_failed_answer_in_a_row_doubles_the_wait_up_to_the_longest() -> None:
    stop = StopState("0001")
    waits = [wait_after_failure(stop, 1_000.0 * n) for n in range(2_000)]

    assert P.first_retry_seconds == waits[0]
    assert all(after == min(2 * before, P.pending_seconds) for before, after in pairwise(waits))


def test_a_good_answer_ends_the_doubling() -> None:
    stop = StopState("0001")
    wait_after_failure(stop, 0.0)
    wait_after_failure(stop, 1_000.0)
    record_answer(stop, good("0001", 2_000.0), DEFAULTS)

    assert P.first_retry_seconds == wait_after_failure(stop, 3_000.0)


def test_empty_answers_in_a_row_begin_a_rest_period_and_each_further_one_doubles_it() -> None:
    stop = StopState("0001")
    rests = []
    for at in range(2_000):
        record_answer(stop, good("0001", float(at)), DEFAULTS)
        rests.append(stop.rest_ends_at - at)
    n_without = DEFAULTS.listing.telling_answers - 1
    rests_after = rests[n_without:]

    assert [0.0] * n_without == rests[:n_without]
    assert P.first_rest_seconds == rests_after[0]
    for before, after in pairwise(rests_after):
        assert min(2 * before, P.longest_rest_seconds) == after


@pytest.mark.parametrize("is_refused", [False, True])
def test_only_answers_about_the_stop_count_as_empty(*, is_refused: bool) -> None:
    stop = StopState("0001")
    for at in range(DEFAULTS.listing.telling_answers):
        record_answer(stop, failed("0001", float(at), is_refused=is_refused), DEFAULTS)

    assert is_refused == (stop.rest_ends_at > DEFAULTS.listing.telling_answers)


def test_one_listing_ends_the_rest_period() -> None:
    stop = StopState("0001")
    for at in range(DEFAULTS.listing.telling_answers):
        record_answer(stop, good("0001", float(at)), DEFAULTS)
    record_answer(stop, good("0001", 100.0, [listing(2_000.0)]), DEFAULTS)

    assert stop.rest_ends_at <= 100.0

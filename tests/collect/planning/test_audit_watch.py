"""A visit of the audit sample is watched from before it is due until its bus was seen to pass."""

import json
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import pairwise
from math import inf

import pytest

from tests.collect.planning.observations import STOPS, failed, good, listing
from transit_etl.collect.planning.audit_watch import AuditWatch, Draw
from transit_etl.collect.planning.parameters import DEFAULTS

DUE = datetime(2026, 3, 4, 8, 5, tzinfo=UTC).timestamp()
DRAW = Draw(
    line_label="15",
    seed=1,
    service_date=date(2026, 3, 4),
    line_code="015-00",
    direction="outbound",
    service_code="01",
    departure_at=datetime(2026, 3, 4, 8),  # noqa: DTZ001 - as the lake holds it
    duplicate_number=1,
    position=5,
    probability=0.02,
    stop_codes=STOPS[:5],
    seconds_before=600.0,
    seconds_after=600.0,
)
STOP = DRAW.stop_code


@pytest.fixture
def watch() -> AuditWatch:
    return AuditWatch(DRAW, DUE, DEFAULTS)


def test_a_visit_is_watched_from_before_it_is_due(watch: AuditWatch) -> None:
    watch.observe(good(STOP, watch.begins_at - 1, [listing(DUE)]))

    assert watch.next_at == watch.begins_at < DUE
    assert not watch.is_asked


def test_a_bus_is_polled_just_before_and_just_after_it_is_expected(watch: AuditWatch) -> None:
    polls = [watch.begins_at]
    while polls[-1] < DUE + 30:
        watch.observe(good(STOP, polls[-1], [listing(DUE + 30)]))
        polls.append(watch.next_at)
    *_, before, after = polls

    assert before < DUE + 30 < after <= before + 60
    assert len(polls) <= 5


def test_the_watch_ends_when_the_bus_is_no_longer_listed(watch: AuditWatch) -> None:
    watch.observe(good(STOP, DUE, [listing(DUE + 20)]))
    watch.observe(good(STOP, DUE + 45))

    assert watch.is_over


def test_a_bus_that_vanishes_long_before_its_time_is_looked_for_again(watch: AuditWatch) -> None:
    watch.observe(good(STOP, DUE - 300, [listing(DUE + 20)]))
    watch.observe(good(STOP, DUE - 200))

    assert not watch.is_over
    assert watch.next_at < DUE


def test_a_late_bus_before_it_does_not_end_the_watch(watch: AuditWatch) -> None:
    earlier, own = listing(DUE - 60, "T0"), listing(DUE + 240, "T1")
    watch.observe(good(STOP, DUE - 90, [earlier, own]))
    watch.observe(good(STOP, DUE - 30, [own]))
    assert not watch.is_over

    watch.observe(good(STOP, DUE + 260))
    assert watch.is_over


def test_an_answer_that_another_worker_had_earlier_changes_nothing(watch: AuditWatch) -> None:
    watch.observe(good(STOP, DUE, [listing(DUE + 20)]))
    next_at = watch.next_at
    watch.observe(good(STOP, DUE - 1))

    assert next_at == watch.next_at
    assert not watch.is_over


def test_the_next_departure_is_not_waited_for(watch: AuditWatch) -> None:
    following = listing(DUE + 620, "T2")
    watch.observe(good(STOP, DUE, [listing(DUE + 10), following]))
    watch.observe(good(STOP, DUE + 40, [following]))

    assert watch.is_over


def test_buses_that_are_live_while_its_own_row_is_listed_are_others(watch: AuditWatch) -> None:
    own_row = listing(DUE + 5, "", is_live=False)
    watch.observe(good(STOP, DUE - 200, [listing(DUE - 100, "T0"), own_row]))
    watch.observe(good(STOP, DUE - 20, [listing(DUE + 300, "T1")]))

    assert not watch.is_over
    assert DUE + 5 == watch.due_at


def test_an_early_bus_of_a_frequent_line_is_the_one_before() -> None:
    watch = AuditWatch(replace(DRAW, seconds_before=120.0, seconds_after=120.0), DUE, DEFAULTS)
    watch.observe(good(STOP, DUE - 250, [listing(DUE - 100, "T0")]))
    watch.observe(good(STOP, DUE - 90))

    assert not watch.is_over


def test_a_visit_that_is_never_listed_is_looked_for_ever_less_often_and_given_up(watch: AuditWatch) -> None:
    polls = []
    while not watch.is_over:
        polls.append(watch.next_at)
        watch.observe(good(STOP, watch.next_at))

    pauses = [later - earlier for earlier, later in pairwise(polls)]
    assert pauses == sorted(pauses)
    assert polls[-1] <= DUE + DEFAULTS.audit.give_up_seconds
    assert len(polls) < 15


def test_a_visit_whose_stop_does_not_answer_is_asked_again_soon(watch: AuditWatch) -> None:
    watch.observe(failed(STOP, DUE - 100))

    assert watch.is_asked
    assert DUE - 100 < watch.next_at < DUE


def test_its_record_identifies_the_visit_and_says_with_what_probability_it_was_drawn(
    watch: AuditWatch,
) -> None:
    assert {
        "service_date": "2026-03-04",
        "line_code": "015-00",
        "direction": "outbound",
        "service_code": "01",
        "departure_at": "2026-03-04T08:00:00",
        "duplicate_number": 1,
        "position": 5,
        "inclusion_probability": 0.02,
        "seed": 1,
        "first_due_at": "2026-03-04T08:00:00+00:00",
        "due_at": "2026-03-04T08:05:00+00:00",
    } == json.loads(watch.record())


def test_without_departures_around_it_any_bus_may_be_it() -> None:
    watch = AuditWatch(replace(DRAW, seconds_before=inf, seconds_after=inf), DUE, DEFAULTS)
    watch.observe(good(STOP, DUE, [listing(DUE + 20), listing(DUE + 1_200, "T2")]))
    watch.observe(good(STOP, DUE + 45, [listing(DUE + 1_200, "T2")]))

    assert not watch.is_over

"""The audit sample takes at most its share of the choices, serves what is due, and repeats nobody's poll."""

from dataclasses import replace
from datetime import timedelta

from tests.collect.planning.observations import good, listing
from tests.collect.planning.test_audit_watch import DRAW, DUE, STOP
from transit_etl.collect.planning.audit_sample import AuditSample
from transit_etl.collect.planning.parameters import DEFAULTS

BEGIN = DUE - DEFAULTS.audit.lead_seconds


def sample_of(*draws: object, share: float = 0.1) -> AuditSample:
    sample = AuditSample(share, lambda stop_codes: 75.0 * (len(stop_codes) - 1))
    sample.add(draws, BEGIN - 600)  # type: ignore[arg-type]
    return sample


def many_draws(number: int) -> list[object]:
    """Return visits of as many stops, all due at the same time."""
    return [replace(DRAW, position=n, stop_codes=[*DRAW.stop_codes[:4], f"9{n:03}"]) for n in range(number)]


def test_the_share_is_not_exceeded_however_much_is_due() -> None:
    sample = sample_of(*many_draws(500))
    chosen = [sample.choose(BEGIN + second) for second in range(300)]

    assert 29 <= sum(stop is not None for stop in chosen) <= 30


def test_unused_choices_are_saved_up_but_not_without_end() -> None:
    sample = sample_of(*many_draws(500))
    for second in range(10_000):
        assert sample.choose(BEGIN - 10_000 + second) is None
    n_in_a_row = 0
    while (stop_code := sample.choose(BEGIN + n_in_a_row)) is not None:
        sample.ask(stop_code, BEGIN + n_in_a_row)
        n_in_a_row += 1

    assert DEFAULTS.poll.most_saved_choices <= n_in_a_row <= DEFAULTS.poll.most_saved_choices + 5


def test_a_poll_that_the_planner_made_serves_the_audit_too() -> None:
    sample = sample_of(DRAW, share=1.0)
    (record,) = sample.ask(STOP, BEGIN)
    assert sample.choose(BEGIN + 1) is None

    sample.observe(good(STOP, BEGIN + 1, [listing(DUE)]))
    assert sample.choose(BEGIN + 2) is None
    assert '"position": 5' in record


def test_a_leased_stop_is_left_to_the_other_worker_and_costs_nothing() -> None:
    sample = sample_of(DRAW, share=0.5)
    passed_over = [sample.choose(BEGIN + second, {STOP}) for second in range(10)]

    assert {None} == set(passed_over)
    assert STOP == sample.choose(BEGIN + 10)


def test_a_poll_that_closes_a_pair_comes_before_one_that_opens_another() -> None:
    waiting = replace(DRAW, position=6, stop_codes=[*DRAW.stop_codes[:4], "9000"])
    sample = sample_of(waiting, DRAW, share=1.0)
    sample.observe(good(STOP, DUE, [listing(DUE + 5)]))

    assert STOP == sample.choose(DUE + 60)


def test_a_visit_that_nobody_asked_about_is_reported_once() -> None:
    sample = sample_of(DRAW, replace(DRAW, position=6, stop_codes=[*DRAW.stop_codes[:4], "9000"]))
    sample.ask("9000", BEGIN + 30)
    unasked = sample.take_unasked(BEGIN + 60)

    assert [STOP] == [watch.draw.stop_code for watch in unasked]
    assert [] == sample.take_unasked(BEGIN + 90)


def test_a_new_collection_goes_on_where_the_answers_of_the_last_one_ended() -> None:
    before = sample_of(DRAW, share=1.0)
    after = AuditSample(1.0, lambda stop_codes: 75.0 * (len(stop_codes) - 1))
    for sample in (before, after):
        sample.observe(good(STOP, DUE - 60, [listing(DUE + 10)]))
        sample.observe(good(STOP, DUE - 20, [listing(DUE + 15)]))
    after.add([DRAW], DUE)
    due = [[sample.choose(DUE + second) for second in range(60)].index(STOP) for sample in (before, after)]

    assert due[0] == due[1] > 0
    assert [] == after.take_unasked(DUE + 60)


def test_a_visit_that_was_due_before_anybody_looked_is_not_watched() -> None:
    sample = AuditSample(1.0, lambda _: None)
    sample.add([DRAW], DUE + timedelta(hours=1).total_seconds())

    assert sample.choose(DUE + 3_601) is None
    assert [] == sample.take_unasked(DUE + 3_602)

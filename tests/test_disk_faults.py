"""A disk that fails or loses power at any call: a step says so in one line, and can be run again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.disk_steps import STEPS, Step
from tests.disk_trials import ERRORS, problems_after, problems_with, undisturbed
from tests.faulty_files import Fault

QUICK = [step for step in STEPS if not step.takes_seconds]
SLOW = [step for step in STEPS if step.takes_seconds]
N_SAMPLES, N_PARTS = 4, 6


def name_of(step: Step) -> str:
    return step.name


quick_steps = pytest.mark.parametrize("step", QUICK, ids=name_of)
slow_steps = pytest.mark.parametrize("step", SLOW, ids=name_of)
every_step = pytest.mark.parametrize(
    "step", [*QUICK, *(pytest.param(step, marks=pytest.mark.long) for step in SLOW)], ids=name_of
)


def is_of_interest(step: Step, at: int) -> bool:
    """Leave out of the slow steps the writing of the pages about quality, which is a step of its own."""
    calls = undisturbed(step).calls
    of_pages = at < len(calls) and any(name in calls[at] for name in (" reports", " state/quality"))
    return step.name == "writing the pages about quality" or not of_pages


def faults_of(step: Step, *, lasts: bool) -> list[Fault]:
    """Return a fault at each call of a step, with each error in turn."""
    calls = [at for at in range(len(undisturbed(step).calls)) if is_of_interest(step, at)]
    return [Fault(at, ERRORS[at % len(ERRORS)], lasts) for at in calls]


@pytest.mark.long
@quick_steps
def test_a_disk_that_fails_at_any_call_is_reported_in_one_line_and_nothing_is_lost(
    step: Step, tmp_path: Path
) -> None:
    assert [] == problems_with(step, faults_of(step, lasts=False), tmp_path)


@pytest.mark.long
@quick_steps
def test_a_disk_that_fails_for_good_is_reported_in_one_line_and_nothing_is_lost(
    step: Step, tmp_path: Path
) -> None:
    assert [] == problems_with(step, faults_of(step, lasts=True)[:: len(ERRORS) + 1], tmp_path)


@pytest.mark.long
@quick_steps
def test_after_a_power_loss_at_any_call_the_step_gives_the_same(step: Step, tmp_path: Path) -> None:
    assert [] == problems_after(step, undisturbed(step).losses, tmp_path)


@every_step
def test_what_a_step_has_done_survives_a_power_loss_right_after_it(step: Step, tmp_path: Path) -> None:
    plain = undisturbed(step)
    last = [loss for loss in plain.losses if loss.at == len(plain.calls)]
    for number, loss in enumerate(last):
        loss.restore(tmp_path / str(number))
        assert plain.after == step.view(tmp_path / str(number)), loss.kind


@pytest.mark.long
@slow_steps
def test_a_disk_that_fails_at_some_calls_of_a_slow_step_is_survived(step: Step, tmp_path: Path) -> None:
    faults = faults_of(step, lasts=False)

    assert [] == problems_with(step, faults[:: len(faults) // N_SAMPLES], tmp_path)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(N_PARTS))
@slow_steps
def test_a_disk_that_fails_at_any_call_of_a_slow_step_is_survived(
    step: Step, part: int, tmp_path: Path
) -> None:
    assert [] == problems_with(step, faults_of(step, lasts=False)[part::N_PARTS], tmp_path)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(N_PARTS))
@slow_steps
def test_a_disk_that_fails_for_good_in_a_slow_step_is_survived(step: Step, part: int, tmp_path: Path) -> None:
    every_fourth = faults_of(step, lasts=True)[:: len(ERRORS) + 1]

    assert [] == problems_with(step, every_fourth[part::N_PARTS], tmp_path)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.parametrize("part", range(N_PARTS))
@slow_steps
def test_after_a_power_loss_at_any_call_a_slow_step_gives_the_same(
    step: Step, part: int, tmp_path: Path
) -> None:
    losses = [loss for loss in undisturbed(step).losses if is_of_interest(step, loss.at)]

    assert [] == problems_after(step, losses[part::N_PARTS], tmp_path)


def other_errors(step: Step) -> Iterator[Fault]:
    """Yield a fault at each call, once or for good, with each error that it does not have already."""
    for at in range(len(undisturbed(step).calls)):
        for number in ERRORS:
            if number != ERRORS[at % len(ERRORS)]:
                yield Fault(at, number, lasts=False)
            yield Fault(at, number, lasts=True)


@pytest.mark.long
@pytest.mark.exhaustive
@quick_steps
def test_a_disk_that_fails_at_any_call_with_any_error_is_survived(step: Step, tmp_path: Path) -> None:
    assert [] == problems_with(step, other_errors(step), tmp_path)

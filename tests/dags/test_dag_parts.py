"""How tasks end: with the message of an error for users alone, or with the traceback of any other."""

import pytest

from transit_base.errors import FinalError, TransitError
from transit_etl.scheduling.dag_parts import DEFAULTS, TaskFailed, TaskFailedForGood, plainly_failing


def ending(error: Exception) -> BaseException:
    """Return what the body of a task ends with in which an error is raised."""

    @plainly_failing
    def body() -> None:
        raise error

    with pytest.raises(BaseException) as ended:  # noqa: PT011 - the test looks at what it is
        body()
    return ended.value


def test_a_task_ends_with_the_sentence_of_an_error_for_users() -> None:
    ended = ending(TransitError("the disk is full"))

    assert isinstance(ended, TaskFailed)
    assert ended.code == "\nthe disk is full"  # Airflow logs it after "exit_code="


def test_every_word_of_a_long_sentence_stands_on_a_page_of_airflow() -> None:
    sentence = "nothing listens at http://127.0.0.1:8400/api/v1/ " * 8
    lines = str(ending(TransitError(f"upstream: {sentence}\nclock: {sentence}"))).splitlines()

    assert [] == [line for line in lines if len(line) > 100]
    assert f"upstream: {sentence}clock: {sentence}".split() == " ".join(lines).split()
    assert [f"clock: {sentence}"[:100].rpartition(" ")[0]] == [
        line for line in lines if line.startswith("clock")
    ]


def test_any_other_error_keeps_its_traceback() -> None:
    error = ZeroDivisionError()

    assert error is ending(error)


@pytest.mark.parametrize(("error", "is_final"), [(FinalError("no"), True), (TransitError("no"), False)])
def test_only_what_another_attempt_cannot_change_is_not_tried_again(
    error: TransitError, *, is_final: bool
) -> None:
    ended = ending(error)
    decision = DEFAULTS["retry_policy"].evaluate(ended, 1, 3)

    assert is_final == isinstance(ended, TaskFailedForGood)
    assert ("fail" if is_final else "default") == decision.action.value

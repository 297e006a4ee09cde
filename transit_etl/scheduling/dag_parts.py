"""What DAGs are made of: arguments that all share, tasks, and chains of tasks that several share."""

from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from itertools import chain
from textwrap import TextWrapper
from typing import Any, ParamSpec, TypeVar

from airflow.providers.standard.operators.empty import EmptyOperator
from airflow.sdk import ExceptionRetryPolicy, RetryAction, RetryRule, TriggerRule, task
from airflow.sdk.bases.decorator import Task
from airflow.sdk.configuration import conf

from transit_base.errors import FinalError, TransitError
from transit_etl.endpoints import collections_of
from transit_etl.scheduling.polling import poll, window_timeout, within_its_window
from transit_etl.scheduling.run_alerts import told_of_failures
from transit_etl.scheduling.schedules import CollectingDag
from transit_etl.scheduling.steps import stage_collected, tell
from transit_etl.settings import load_settings

# Airflow cuts off longer lines of a log at the edge of its page.
_WRAPPER = TextWrapper(width=100, break_long_words=False, break_on_hyphens=False)
_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")


class TaskFailed(SystemExit, Exception):  # noqa: N818 - no error: it ends the process of the task
    """Ends a task with the message of an error that is written for users, as the last line of its log.

    Airflow logs what a task exits with as it is, and any other exception above a traceback. As an Exception
    it lets Airflow name the part of a mapped task that failed.
    """

    def __init__(self, message: str) -> None:
        """Break the lines of the message so that a page of Airflow shows all of it."""
        super().__init__("\n".join(["", *chain.from_iterable(map(_WRAPPER.wrap, message.splitlines()))]))


class TaskFailedForGood(TaskFailed):
    """Ends a task that is not tried again."""


DEFAULTS: dict[str, Any] = {
    "owner": "transit-etl",
    "retries": 2,
    "retry_delay": timedelta(minutes=1),
    "retry_policy": ExceptionRetryPolicy(
        rules=[RetryRule(TaskFailedForGood, RetryAction.FAIL, reason="another attempt would fail too")]
    ),
    "execution_timeout": timedelta(minutes=30),
}
# The queue of tasks that collect. All others work in the folder of the warehouse; where workers of Celery
# have data folders of their own, the settings name the queue of those with that one.
COLLECTING_QUEUE: str = conf.get("operators", "default_queue")
# When a run that builds, publishes or exports is stopped, and a step of it: a year of dates takes hours, and
# `check` tells long before that the published file is old.
LONG_WORK = timedelta(hours=12)
# For the steps of these runs, whose failure no figure shows soon.
WATCHED: dict[str, Any] = {**DEFAULTS, "execution_timeout": LONG_WORK, **told_of_failures()}


def dag_arguments(
    page: str | None, *, part: str = "", default_args: dict[str, Any] = DEFAULTS, max_active_runs: int = 1
) -> dict[str, Any]:
    """Return the arguments that all DAGs share, and what Airflow shows of the docstring of a DAG's file.

    Its first line is `# name: what it does.`: the card of the DAG shows it as the name, since it shows a
    description under the mouse only. The part of the name that names an operator comes after it.
    """
    name, _, sentence = (page or "").partition("\n")[0].removeprefix("# ").partition(": ")
    return {
        "catchup": False,
        "max_active_runs": max_active_runs,
        "default_args": {"queue": load_settings().warehouse_queue or COLLECTING_QUEUE, **default_args},
        "dag_display_name": f"{' '.join(filter(None, [name, part]))}: {sentence.removesuffix('.')}",
        "description": sentence[:1].upper() + sentence[1:],
        "doc_md": page,
    }


def step(**options: Any) -> Callable[[Callable[_Parameters, _Result]], Task[_Parameters, _Result]]:  # noqa: ANN401
    """Return the decorator of a task: `task` of Airflow, with errors for users as its last line of log."""

    def decorated(body: Callable[_Parameters, _Result]) -> Task[_Parameters, _Result]:
        made: Task[_Parameters, _Result] = task(**options)(plainly_failing(body))
        return made

    return decorated


def plainly_failing(body: Callable[_Parameters, _Result]) -> Callable[_Parameters, _Result]:
    """Let the body of a task raise TaskFailed for an error written for users, and any other as it is."""

    @wraps(body)
    def failing(*arguments: _Parameters.args, **named: _Parameters.kwargs) -> _Result:
        try:
            return body(*arguments, **named)
        except FinalError as error:
            raise TaskFailedForGood(str(error)) from error
        except TransitError as error:
            raise TaskFailed(str(error)) from error

    return failing


def collect_and_stage(dag: CollectingDag) -> None:
    """Make the tasks of a DAG that collects one list and stages it itself."""
    (collection,) = collections_of(dag.cadence)

    @step(queue=COLLECTING_QUEUE)
    def collect() -> dict[str, int]:
        return poll(collection, dag.operator)

    @step(trigger_rule=TriggerRule.ALL_DONE, outlets=[dag.lake])
    def stage() -> dict[str, int]:
        rows = stage_collected(collection, dag.operator)
        tell({"rows": rows}, dag.lake)
        return rows

    collected, staged = collect(), stage()
    collected >> staged
    [collected, staged] >> EmptyOperator(task_id="complete")


def poll_one_window(dag: CollectingDag) -> None:
    """Make the tasks of a DAG that polls for a window and lets `staging` stage it."""
    settings = dag.settings

    @step(queue=COLLECTING_QUEUE, execution_timeout=window_timeout(settings), **within_its_window(settings))
    def collect() -> dict[str, int]:
        return poll(dag.cadence, dag.operator)

    collected = collect()
    landed = EmptyOperator(task_id="landed", trigger_rule=TriggerRule.ALL_DONE, outlets=[dag.raw])
    collected >> landed
    [collected, landed] >> EmptyOperator(task_id="complete")

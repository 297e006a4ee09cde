"""Lets `check` and its alerts say which DAGs failed or did not end: callbacks of Airflow."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from transit_etl.settings import load_settings


def told_of_failures() -> dict[str, Any]:
    """Return default arguments with which a task that failed is a problem of `check` until it succeeds."""
    return {"on_failure_callback": task_failed, "on_success_callback": task_succeeded}


def stopped_after(length: timedelta) -> dict[str, Any]:
    """Return arguments of a DAG whose runs are stopped after this time, of which people are told.

    A deadline of Airflow would list a run that failed in time among the missed ones too.
    """
    return {"dagrun_timeout": length, "on_failure_callback": run_failed}


def task_failed(context: Mapping[str, Any]) -> None:
    """Let `check` say that a task failed, and why. Called in the process of the task."""
    from transit_etl.operations import Problem, forget_failures, remember_failure

    task = context["ti"]
    reason = " ".join(str(context.get("exception") or "it was killed").split())
    text = f"the task {task.task_id} of the DAG {task.dag_id} failed: {reason}"
    settings = load_settings()
    remember_failure(settings.data_dir, Problem(_failed(task), text), settings.clock.now())
    forget_failures(settings.data_dir, _late(task.dag_id))


def task_succeeded(context: Mapping[str, Any]) -> None:
    """Let `check` say no longer that a task failed, or its run is late."""
    end_of_lateness(context["ti"].dag_id, _failed(context["ti"]))


def end_of_lateness(dag: str, *others: str) -> None:
    """Let `check` say no longer that a run of a DAG was stopped, nor other problems of runs."""
    from transit_etl.operations import forget_failures

    forget_failures(load_settings().data_dir, _late(dag), *others)


def run_failed(context: Mapping[str, Any]) -> None:
    """Tell people at once that a run was stopped before its end; a task that failed has said so itself.

    Called in the DAG processor, which goes on where no worker takes the tasks of the DAG `check`.
    """
    if context["reason"] == "timed_out":
        _tell(context["dag"].dag_id, context["dag"].dagrun_timeout / timedelta(minutes=1))


def _tell(dag: str, minutes: float) -> None:
    from transit_etl.operations import Problem, remember_failure, send_alerts

    settings = load_settings()
    text = (
        f"a run of the DAG {dag} was stopped: it had not ended within {minutes:g} minutes; look in Airflow "
        "for a task that waits for a free worker, or hangs"
    )
    problem = Problem(_late(dag), text)
    remember_failure(settings.data_dir, problem, settings.clock.now())
    send_alerts(settings, [problem], are_all=False)


def _failed(task: Any) -> str:  # noqa: ANN401 - Airflow has several types of task instances
    part = getattr(task, "rendered_map_index", None)
    return "_".join(["failed", task.dag_id, task.task_id, *([part] if part else [])])


def _late(dag: str) -> str:
    return f"late_{dag}"

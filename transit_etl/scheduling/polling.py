"""Collects in a run of a DAG: a list at once, or for the rest of a window; never for another time."""

import logging
import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException

from transit_base.errors import FinalError, TransitError
from transit_etl.endpoints import is_polled
from transit_etl.settings import CollectSettings, Settings, load_settings

if TYPE_CHECKING:
    from airflow.sdk.types import DagRunProtocol

    from transit_etl.collect import CollectReport

LATE_AFTER = timedelta(minutes=15)  # a manual run for an instant longer ago is refused
GRACE = timedelta(minutes=3)  # for finishing a window after its end
LONGEST_LEAD = timedelta(minutes=1)  # for Airflow and a process to get ready before a window begins
NETWORK_CHECK_SECONDS = 5.0
SHORTEST_WINDOW_SECONDS = 1.0  # a shorter rest of a window is not polled
# A task whose process died polls for the rest of its window, but never after its end.
RETRY_DELAY = timedelta(seconds=10)
ATTEMPTS_OF_A_DYING_PROCESS = 5
_log = logging.getLogger(__name__)


class NotNowError(FinalError):
    """A run is for another time than now, and the upstream answers only about now."""


class CollectionError(TransitError):
    """A collection got no usable answer, or stopped before the end of its list; the message says which."""


class WindowLostError(FinalError):
    """A window failed and has ended."""


class PollWindow(NamedTuple):
    """The time during which a run polls: real time, whatever the pipeline's clock shows."""

    begin: datetime
    end: datetime


def poll_window(run: "DagRunProtocol", settings: CollectSettings, now: datetime) -> PollWindow:
    """Return the window of a run.

    The window of a scheduled run begins a fixed time after the scheduled start, exactly when the window of
    the run before it ends. The window of any other run begins now.
    """
    length = timedelta(seconds=settings.window_seconds)
    begin = run.run_after + _lead(settings) if run.run_type == "scheduled" else now
    return PollWindow(begin, begin + length)


def window_timeout(settings: CollectSettings) -> timedelta:
    """Return the longest time that a task may take to poll one window."""
    return _lead(settings) + timedelta(seconds=settings.window_seconds) + GRACE


def within_its_window(settings: Settings) -> dict[str, Any]:
    """Return how a task that polls is tried again: until its window ends, even if the upstream stays down."""
    n_given_up = int(settings.window_seconds / patience_seconds(settings))
    return {"retries": ATTEMPTS_OF_A_DYING_PROCESS + n_given_up, "retry_delay": RETRY_DELAY}


def patience_seconds(settings: Settings) -> float:
    """Return how long a window waits for a usable answer before it fails, for everybody to see."""
    return 2 * settings.down_after_seconds


def _lead(settings: CollectSettings) -> timedelta:
    return min(LONGEST_LEAD, timedelta(seconds=settings.window_seconds) / 2)


def refuse_other_moments(run: "DagRunProtocol", dataset: str, now: datetime) -> None:
    """Raise NotNowError for a backfill, a run for an older date, or a cleared run whose window is over."""
    if run.run_type == "backfill":
        raise NotNowError(
            f"{dataset} cannot be backfilled: the upstream answers only about now. Nothing was requested. "
            "What was collected then is in data/raw; `transit-etl reprocess` stages it again."
        )
    if run.run_type == "manual" and run.logical_date and run.logical_date < now - LATE_AFTER:
        raise NotNowError(
            f"{dataset} cannot be collected for {run.logical_date:%Y-%m-%d %H:%M} UTC: the upstream answers "
            "only about now. Nothing was requested. Trigger the DAG without a logical date."
        )
    if run.clear_number and is_polled(dataset):
        raise NotNowError(
            f"this window of {dataset} is over: answers would be about another time. Nothing was requested. "
            "The next run is polling already; to stage the landed answers again, clear the stage task alone."
        )


def current_run() -> "DagRunProtocol":
    """Return the DAG run that the calling task belongs to."""
    return get_current_context()["dag_run"]


def poll(dataset: str, operator: str) -> dict[str, int]:
    """Collect a dataset of an operator now; return the number of requests by outcome.

    Raises NotNowError when the run is for another time, CollectionError when no answer was usable or the
    list was not finished, and the errors of `collect`.
    """
    settings, run, now = load_settings(operator=operator), current_run(), datetime.now(UTC)
    refuse_other_moments(run, dataset, now)
    if not is_polled(dataset):
        return usable(_collect(settings, dataset))
    window = poll_window(run, settings, now)
    try:
        return usable(_collect_window(settings, dataset, window))
    except FinalError:
        raise
    except Exception as error:
        if datetime.now(UTC) + RETRY_DELAY < window.end:
            raise
        if isinstance(error, TransitError):
            raise WindowLostError(str(error)) from error
        raise AirflowFailException(f"{type(error).__name__}: {error}") from error


def usable(report: "CollectReport") -> dict[str, int]:
    """Return the outcomes of a collection, or raise CollectionError if it got no answer or gave up."""
    if is_polled(report.dataset) and report.is_given_up:
        raise CollectionError(
            f"UPSTREAM DOWN: the window of {report.dataset} was given up, no answer was usable any more; "
            f"until then {report.outcome_text}"
        )
    if not report.outcomes.get("ok"):
        raise CollectionError(report.failure_text)
    if not is_polled(report.dataset) and report.outcomes.get("not_sent"):
        raise CollectionError(
            f"the list of {report.dataset} was given up before its end: {report.outcome_text}"
        )
    return report.outcomes


def _collect(settings: Settings, dataset: str, window: PollWindow | None = None) -> "CollectReport":
    from transit_etl.collect import collect as collect_once
    from transit_etl.collect.known_network import NothingKnownError
    from transit_etl.stage.repair import repairing

    collect = repairing(collect_once, NothingKnownError)
    if window is None:
        report = collect(settings, dataset)
    else:
        begin = max(window.begin, datetime.now(UTC))
        left = (window.end - begin).total_seconds()
        report = collect(
            settings,
            dataset,
            seconds=left,
            begin_at=settings.clock.from_real(begin),
            patience_seconds=patience_seconds(settings),
        )
    for warning in report.warnings:
        _log.warning(warning)
    return report


def _collect_window(settings: Settings, dataset: str, window: PollWindow) -> "CollectReport":
    """Collect for the rest of a window; first wait for the stops, which `network` may be collecting."""
    from transit_etl.collect.known_network import NothingKnownError

    while (left := (window.end - datetime.now(UTC)).total_seconds()) > SHORTEST_WINDOW_SECONDS:
        try:
            return _collect(settings, dataset, window)
        except NothingKnownError as error:
            if left <= NETWORK_CHECK_SECONDS:
                raise
            _log.info("waiting: %s", error)
            time.sleep(NETWORK_CHECK_SECONDS)
    raise NotNowError(
        f"this window of {dataset} ended at {window.end:%H:%M:%S} UTC: answers would be about another time"
    )

"""What the DAGs share: their defaults, the bounds of their tasks, and polling that is for now or never."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from airflow.sdk import get_current_context
from airflow.sdk.exceptions import AirflowFailException

from transit_etl.service_day import DAY, service_date
from transit_etl.settings import Settings, load_settings

if TYPE_CHECKING:
    from transit_etl.collect import CollectReport

DEFAULTS: dict[str, Any] = {
    "owner": "transit-etl",
    "retries": 2,
    "retry_delay": timedelta(minutes=1),
    "execution_timeout": timedelta(minutes=30),
}
WAREHOUSE_POOL = "warehouse"  # one slot: whoever rewrites the lake or the warehouse waits for its turn
MOMENTARY = frozenset({"passages", "status"})  # their answers speak of the moment they were asked for
LATE_AFTER = timedelta(minutes=15)  # a run started by hand for an older date was meant for that date
GRACE = timedelta(minutes=3)  # what finalising a window may take beyond the window itself
SHORTEST_FAILURE_SECONDS = 30.0
KNOWN_CHECK_SECONDS = 5.0
_log = logging.getLogger(__name__)


class NotNowError(AirflowFailException):
    """A run asks the upstream about another moment than now, which no answer can be about. Never retried."""


class CollectionError(Exception):
    """A collection brought no usable answer, or gave up before the end of its list; the message says more."""


class StagingError(AirflowFailException):
    """A batch broke a rule that stops it, or a raw file is unreadable; trying again would change nothing."""


class Run(Protocol):
    """What is asked of an Airflow DAG run here."""

    @property
    def run_type(self) -> str:
        """`scheduled`, `manual`, `backfill`, …."""
        ...

    @property
    def logical_date(self) -> datetime | None:
        """The instant the run is for, if it is for one."""
        ...

    @property
    def run_after(self) -> datetime:
        """The instant the run was due."""
        ...

    @property
    def clear_number(self) -> int | None:
        """How often the run was cleared."""
        ...


def operator_timezone() -> str:
    """Return the time zone that schedules are written in; raises BadSettingError, which the UI shows."""
    return load_settings().timezone


def window_timeout() -> timedelta:
    """Return how long a task that polls one window may take before it counts as stuck."""
    return timedelta(seconds=load_settings().window_seconds) + GRACE


def refuse_other_moments(run: Run, dataset: str, now: datetime) -> None:
    """Raise NotNowError for a backfill, a run for an older date, or a second go at a window that is over."""
    if run.run_type == "backfill":
        raise NotNowError(
            f"{dataset} cannot be backfilled: the upstream answers about now and forgets the rest. Nothing "
            "was asked. What was collected then is in data/raw, and `transit-etl reprocess` reads it again."
        )
    if run.run_type == "manual" and run.logical_date and run.logical_date < now - LATE_AFTER:
        raise NotNowError(
            f"{dataset} cannot be collected for {run.logical_date:%Y-%m-%d %H:%M}: the upstream answers "
            "about now. Nothing was asked. Trigger the DAG without a logical date."
        )
    if run.clear_number and dataset in MOMENTARY:
        raise NotNowError(
            f"this window of {dataset} is over: answers would be about another moment. Nothing was asked. "
            "The next run polls already; to stage again what was landed, clear the stage task alone."
        )


def current_run() -> Run:
    """Return the DAG run that the calling task belongs to."""
    run: Run = get_current_context()["dag_run"]
    return run


def poll(dataset: str) -> dict[str, int]:
    """Collect a dataset now; return the number of requests by outcome.

    Raises NotNowError when the run is about another moment, CollectionError when the collection is not
    what its DAG stands for, and whatever `collect` raises.
    """
    settings = load_settings()
    refuse_other_moments(current_run(), dataset, datetime.now(UTC))
    if dataset not in MOMENTARY:
        return usable(_collect(settings, dataset))
    with _no_hurried_failure():
        return usable(_collect_once_known(settings, dataset))


def usable(report: "CollectReport") -> dict[str, int]:
    """Return the outcomes of a collection, or raise CollectionError if it brought nothing or gave up."""
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items()) or "nothing"
    if not report.outcomes.get("ok"):
        raise CollectionError(f"no usable answer for {report.dataset}: {outcomes}")
    if report.dataset not in MOMENTARY and report.outcomes.get("not_sent"):
        raise CollectionError(f"the list of {report.dataset} was given up before its end: {outcomes}")
    return report.outcomes


def _collect(settings: Settings, dataset: str, seconds: float | None = None) -> "CollectReport":
    from transit_etl.collect import collect

    report = collect(settings, dataset, seconds=seconds)
    for warning in report.warnings:
        _log.warning(warning)
    return report


def _collect_once_known(settings: Settings, dataset: str) -> "CollectReport":
    """Collect for the rest of the window once the network is known: `network` may just be finding it."""
    from transit_etl.collect.catalogue import NothingKnownError

    ends = time.monotonic() + settings.window_seconds
    while (left := ends - time.monotonic()) > KNOWN_CHECK_SECONDS:
        try:
            return _collect(settings, dataset, left)
        except NothingKnownError as error:
            _log.info("waiting: %s", error)
            time.sleep(KNOWN_CHECK_SECONDS)
    return _collect(settings, dataset, KNOWN_CHECK_SECONDS)


def stage_landed(*endpoints: str) -> dict[str, int]:
    """Stage every finished window of some endpoints that is not in the lake yet; return the rows by dataset.

    Raises StagingError once everything else is staged, if a batch was rejected or a file could not be read.
    """
    from transit_etl.stage import stage

    report = stage(load_settings(), endpoints=endpoints)
    if not report.is_clean:
        raise StagingError("\n".join([*report.rejected, *report.errors]))
    return dict(report.rows)


def build_new() -> dict[str, int]:
    """Build and check whatever the lake holds that the build database does not; return what was counted."""
    from transit_etl.warehouse import build

    return counts(build(load_settings()))


def publish_build() -> str:
    """Publish the checked build; return where analysts find it."""
    from transit_etl.warehouse import publish

    return str(publish(load_settings()))


def build_closed_days() -> dict[str, int]:
    """Rebuild the two service dates that ended last before the instant the run is for."""
    from transit_etl.warehouse import build

    settings = load_settings()
    today = service_date(_instant(settings), settings.zone, settings.service_day_cutoff)
    return counts(build(settings, first_date=today - 2 * DAY, last_date=today - DAY))


def compact_closed_day() -> int:
    """Merge the windows of the UTC day that ended last before the instant the run is for."""
    from transit_etl.stage import compact

    settings = load_settings()
    return compact(settings, _instant(settings).astimezone(UTC).date() - DAY)


def counts(report: object) -> dict[str, int]:
    """Return the whole numbers of a report (a dataclass), which is what a run keeps of it."""
    assert is_dataclass(report)  # noqa: S101 - every step reports in one
    values = {each.name: getattr(report, each.name) for each in fields(report)}
    return {name: value for name, value in values.items() if isinstance(value, int)}


def _instant(settings: Settings) -> datetime:
    run = current_run()
    return (run.logical_date or run.run_after) + timedelta(seconds=settings.clock_shift_seconds)


@contextmanager
def _no_hurried_failure() -> Iterator[None]:
    """Let a failure take half a minute at least: @continuous would start again at once, for ever."""
    started = time.monotonic()
    try:
        yield
    except Exception:
        time.sleep(max(0.0, SHORTEST_FAILURE_SECONDS - (time.monotonic() - started)))
        raise

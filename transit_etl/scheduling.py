"""What the DAGs share: their defaults, the bounds of their tasks, and polling that is for now or never."""

import logging
import time
from dataclasses import dataclass, fields, is_dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from airflow.sdk import (
    Asset,
    AssetAny,
    AssetOrTimeSchedule,
    CronTriggerTimetable,
    DeltaTriggerTimetable,
    get_current_context,
)
from airflow.sdk.exceptions import AirflowFailException

from transit_etl.endpoints import CADENCES, collections_of, endpoints_of, is_polled
from transit_etl.errors import TransitError
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
LATE_AFTER = timedelta(minutes=15)  # a run started by hand for an older date was meant for that date
GRACE = timedelta(minutes=3)  # what finalising a window may take beyond the window itself
LONGEST_LEAD = timedelta(minutes=1)  # what Airflow and a process may take to be ready, with room to spare
KNOWN_CHECK_SECONDS = 5.0
SHORTEST_REST_SECONDS = 1.0  # less than this is no window any more
# A task whose process died goes on with the rest of its window; a window that is over is never asked for.
RETRY_DELAY = timedelta(seconds=10)
WITHIN_ITS_WINDOW: dict[str, Any] = {"retries": 5, "retry_delay": RETRY_DELAY}
_log = logging.getLogger(__name__)


class NotNowError(AirflowFailException):
    """A run asks the upstream about another moment than now, which no answer can be about. Never retried."""


class CollectionError(TransitError):
    """A collection brought no usable answer, or gave up before the end of its list; the message says more."""


class WindowLostError(AirflowFailException):
    """A window ended and something was wrong with it. Never retried: its moments are over."""


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


def list_schedule(dag: str, *, run_immediately: bool = False) -> CronTriggerTimetable | AssetOrTimeSchedule:
    """Return the schedule of a DAG that asks for lists, `run_immediately` when it is new."""
    cadence = CADENCES[dag]
    by_clock = CronTriggerTimetable(
        cadence.cron, timezone=operator_timezone(), run_immediately=run_immediately
    )
    if cadence.runs_after is None:
        return by_clock
    return AssetOrTimeSchedule(timetable=by_clock, assets=lake_asset(cadence.runs_after))


def lake_asset(dag: str) -> Asset:
    """Return the asset that changes when answers that a DAG collected are staged."""
    return Asset(CADENCES[dag].lake_asset)


def raw_asset(dag: str) -> Asset:
    """Return the asset that changes when a window of a DAG has landed."""
    return Asset(CADENCES[dag].raw_asset)


def any_lake_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever something was staged."""
    return AssetAny(*map(lake_asset, CADENCES))


def any_raw_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever a window has landed."""
    return AssetAny(*map(raw_asset, polling_dags()))


def polling_dags() -> list[str]:
    """Return the DAGs that poll in windows; another DAG stages what they collect."""
    return [dag for dag, cadence in CADENCES.items() if cadence.every is None]


@dataclass(frozen=True, slots=True)
class Window:
    """The stretch of time that a run polls for, in real time, whatever the pipeline's clock shows."""

    begin: datetime
    end: datetime


def window_schedule() -> DeltaTriggerTimetable:
    """Return the schedule of a DAG of windows: one run each, started while the one before still polls."""
    return DeltaTriggerTimetable(timedelta(seconds=load_settings().window_seconds))


def window_of(run: Run, settings: Settings, now: datetime) -> Window:
    """Return the window of a run.

    A scheduled one begins a fixed time after the run was due, which is when the window of the run before
    ends: both know the instant without telling each other. Any other begins now.
    """
    length = timedelta(seconds=settings.window_seconds)
    begin = run.run_after + _lead(settings) if run.run_type == "scheduled" else now
    return Window(begin, begin + length)


def window_timeout() -> timedelta:
    """Return how long a task that polls one window may take before it counts as stuck."""
    settings = load_settings()
    return _lead(settings) + timedelta(seconds=settings.window_seconds) + GRACE


def _lead(settings: Settings) -> timedelta:
    return min(LONGEST_LEAD, timedelta(seconds=settings.window_seconds) / 2)


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
    if run.clear_number and is_polled(dataset):
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
    settings, run, now = load_settings(), current_run(), datetime.now(UTC)
    refuse_other_moments(run, dataset, now)
    if not is_polled(dataset):
        return usable(_collect(settings, dataset))
    window = window_of(run, settings, now)
    try:
        return usable(_collect_once_known(settings, dataset, window))
    except AirflowFailException:
        raise
    except Exception as error:
        if datetime.now(UTC) + RETRY_DELAY < window.end:
            raise
        raise WindowLostError(f"{type(error).__name__}: {error}") from error


def usable(report: "CollectReport") -> dict[str, int]:
    """Return the outcomes of a collection, or raise CollectionError if it brought nothing or gave up."""
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in report.outcomes.items()) or "nothing"
    if not report.outcomes.get("ok"):
        raise CollectionError(f"no usable answer for {report.dataset}: {outcomes}")
    if not is_polled(report.dataset) and report.outcomes.get("not_sent"):
        raise CollectionError(f"the list of {report.dataset} was given up before its end: {outcomes}")
    return report.outcomes


def _collect(settings: Settings, dataset: str, window: Window | None = None) -> "CollectReport":
    from transit_etl.collect import collect

    if window is None:
        report = collect(settings, dataset)
    else:
        begin = max(window.begin, datetime.now(UTC))
        left = (window.end - begin).total_seconds()
        report = collect(settings, dataset, seconds=left, begin_at=settings.clock.from_real(begin))
    for warning in report.warnings:
        _log.warning(warning)
    return report


def _collect_once_known(settings: Settings, dataset: str, window: Window) -> "CollectReport":
    """Collect for the rest of the window once the network is known: `network` may just be finding it."""
    from transit_etl.collect.catalogue import NothingKnownError

    while (left := (window.end - datetime.now(UTC)).total_seconds()) > SHORTEST_REST_SECONDS:
        try:
            return _collect(settings, dataset, window)
        except NothingKnownError as error:
            if left <= KNOWN_CHECK_SECONDS:
                raise
            _log.info("waiting: %s", error)
            time.sleep(KNOWN_CHECK_SECONDS)
    raise NotNowError(
        f"this window of {dataset} ended at {window.end:%H:%M:%S}: answers would be about another moment"
    )


def stage_collected(*collections: str) -> dict[str, int]:
    """Stage the finished windows of some collections that are not in the lake yet; return rows by dataset.

    Raises StagingError once everything else is staged, if a batch was rejected or a file could not be read.
    """
    from transit_etl.stage import stage

    endpoints = [endpoint.name for name in collections for endpoint in endpoints_of(name)]
    report = stage(load_settings(), endpoints=endpoints)
    if not report.is_clean:
        raise StagingError("\n".join([*report.rejected, *report.errors]))
    return dict(report.rows)


def stage_polled() -> dict[str, int]:
    """Stage every finished window of the DAGs that poll, as `stage_collected` does."""
    return stage_collected(*(name for dag in polling_dags() for name in collections_of(dag)))


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
    return settings.clock.from_real(run.logical_date or run.run_after)

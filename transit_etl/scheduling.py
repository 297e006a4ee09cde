"""What the tasks of the DAGs call: schedules, polling within a window, and a call for each step."""

import logging
import time
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

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
from transit_etl.errors import FinalError, TransitError
from transit_etl.paths import exports_dir
from transit_etl.run_alerts import end_of_lateness
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import Settings, load_settings

if TYPE_CHECKING:
    from airflow.sdk.types import DagRunProtocol

    from transit_etl.collect import CollectReport

WAREHOUSE_POOL = "warehouse"  # one slot: tasks that rewrite the lake or the warehouse run one at a time
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


class DamageError(FinalError):
    """A file that cannot be made again is damaged or missing."""


class ProblemsError(FinalError):
    """Something is wrong with the installation; the message has a line for each problem."""


class StagingError(FinalError):
    """A batch was rejected, or a raw file cannot be read."""


def operator_timezone() -> str:
    """Return the time zone of schedules; raises BadSettingError, which the UI shows."""
    return load_settings().timezone


def list_schedule(dag: str, *, run_immediately: bool = False) -> CronTriggerTimetable | AssetOrTimeSchedule:
    """Return the schedule of a DAG that collects lists; `run_immediately` starts it once when it is new."""
    cadence = CADENCES[dag]
    by_clock = CronTriggerTimetable(
        cadence.cron, timezone=operator_timezone(), run_immediately=run_immediately
    )
    if cadence.runs_after is None:
        return by_clock
    return AssetOrTimeSchedule(timetable=by_clock, assets=lake_asset(cadence.runs_after))


def lake_asset(dag: str) -> Asset:
    """Return the asset that is updated when answers collected by a DAG are staged."""
    return Asset(f"lake/{dag}")


def raw_asset(dag: str) -> Asset:
    """Return the asset that is updated when a window of a DAG has landed."""
    return Asset(f"raw/{dag}")


def export_asset(name: str) -> Asset:
    """Return the asset that is updated when a dataset was exported anew."""
    return Asset(f"exports/{name}")


def any_lake_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever something was staged."""
    return AssetAny(*map(lake_asset, CADENCES))


def any_raw_asset() -> AssetAny:
    """Return the schedule of a DAG that runs whenever a window has landed."""
    return AssetAny(*map(raw_asset, polling_dags()))


def polling_dags() -> list[str]:
    """Return the DAGs that poll in windows; another DAG stages what they collect."""
    return [dag for dag, cadence in CADENCES.items() if cadence.every is None]


class PollWindow(NamedTuple):
    """The time during which a run polls: real time, whatever the pipeline's clock shows."""

    begin: datetime
    end: datetime


def window_schedule() -> DeltaTriggerTimetable:
    """Return the schedule of a DAG that polls: one run per window, started before the previous one ends."""
    return DeltaTriggerTimetable(timedelta(seconds=load_settings().window_seconds))


def poll_window(run: "DagRunProtocol", settings: Settings, now: datetime) -> PollWindow:
    """Return the window of a run.

    The window of a scheduled run begins a fixed time after the scheduled start, exactly when the window of
    the run before it ends. The window of any other run begins now.
    """
    length = timedelta(seconds=settings.window_seconds)
    begin = run.run_after + _lead(settings) if run.run_type == "scheduled" else now
    return PollWindow(begin, begin + length)


def window_timeout() -> timedelta:
    """Return the longest time that a task may take to poll one window."""
    settings = load_settings()
    return _lead(settings) + timedelta(seconds=settings.window_seconds) + GRACE


def within_its_window() -> dict[str, Any]:
    """Return how a task that polls is tried again: until its window ends, even if the upstream stays down."""
    settings = load_settings()
    n_given_up = int(settings.window_seconds / patience_seconds(settings))
    return {"retries": ATTEMPTS_OF_A_DYING_PROCESS + n_given_up, "retry_delay": RETRY_DELAY}


def patience_seconds(settings: Settings) -> float:
    """Return how long a window waits for a usable answer before it fails, for everybody to see."""
    return 2 * settings.down_after_seconds


def _lead(settings: Settings) -> timedelta:
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


def poll(dataset: str) -> dict[str, int]:
    """Collect a dataset now; return the number of requests by outcome.

    Raises NotNowError when the run is for another time, CollectionError when no answer was usable or the
    list was not finished, and the errors of `collect`.
    """
    settings, run, now = load_settings(), current_run(), datetime.now(UTC)
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


def tell(details: dict[str, Any], *assets: Asset) -> None:
    """Keep what a task did with the events of its assets, for Airflow to show and other DAGs to read."""
    events = get_current_context()["outlet_events"]
    for asset in assets:
        events[asset].extra = {**events[asset].extra, **details}


def stage_polled() -> dict[str, int]:
    """Stage every finished window of the DAGs that poll, as `stage_collected` does."""
    return stage_collected(*(name for dag in polling_dags() for name in collections_of(dag)))


def build_new() -> dict[str, int]:
    """Build and check what changed in the lake; return the counts of the report."""
    return _build(load_settings())


def publish_build() -> str:
    """Publish the checked build; return where analysts find it."""
    from transit_etl.warehouse import publish

    return str(publish(load_settings()))


def build_closed_days() -> dict[str, int]:
    """Rebuild the two service dates that ended last before the instant the run is for."""
    settings = load_settings()
    today = service_date(_instant(settings), settings.zone, settings.service_day_cutoff)
    return _build(settings, today - 2 * DAY, today - DAY)


def compact_closed_day() -> int:
    """Merge the windows of the UTC day that ended last before the instant the run is for."""
    from transit_etl.stage import compact

    settings = load_settings()
    return compact(settings, _instant(settings).astimezone(UTC).date() - DAY)


def verify_files() -> dict[str, int]:
    """Compare every file with its checksum; return the counts. Raises DamageError if something is lost."""
    from transit_etl.operations import verify

    report = verify(load_settings())
    for message in [*report.repaired, *report.warnings]:
        _log.warning(message)
    if report.is_failure:
        raise DamageError("\n".join([*report.damaged, *(f"{path} is missing" for path in report.missing)]))
    return {"n_files": report.n_files, "n_new": report.n_new}


def prune_old() -> dict[str, int]:
    """Remove what is kept for a time only; return the counts of the report."""
    from transit_etl.operations import prune

    return asdict(prune(load_settings()))


def check_installation() -> None:
    """Raise ProblemsError, with one line for each, if anything is wrong with this installation."""
    from transit_etl.operations import examine_and_record

    end_of_lateness("check")
    if problems := examine_and_record(load_settings(), sends_alerts=True).problems:
        raise ProblemsError("\n".join(f"{problem.name}: {problem.text}" for problem in problems))


def due_exports() -> list[str]:
    """Return the names of the datasets of which a closed date was built since they were exported."""
    from transit_etl.export_settings import export_settings
    from transit_exports import all_requests, dataset_name, due

    settings = export_settings(load_settings())
    return [dataset_name(request) for request in due(settings, all_requests(settings))]


def export_dataset(name: str) -> dict[str, int]:
    """Export a dataset of all, by its name; return the counts of the report."""
    from transit_etl.export_settings import export_settings
    from transit_exports import all_requests, dataset_name, export

    settings = export_settings(load_settings())
    [request] = [each for each in all_requests(settings) if dataset_name(each) == name]
    report = export(settings, request, keeps_unchanged=True)
    return {field: getattr(report, field) for field in ("n_files", "n_kept_files", "n_rows", "n_bytes")}


def export_folder(name: str) -> str:
    """Return the folder of an exported dataset."""
    return str(exports_dir(load_settings().data_dir).absolute() / name)


def _build(settings: Settings, first: date | None = None, last: date | None = None) -> dict[str, int]:
    from transit_etl.warehouse import build

    report = build(settings, first_date=first, last_date=last)
    for warning in [*report.warnings, *report.findings]:
        _log.warning(warning)
    return {name: getattr(report, name) for name in ("n_files", "n_dates", "n_models", "n_checks")}


def _instant(settings: Settings) -> datetime:
    run = current_run()
    return settings.clock.from_real(run.logical_date or run.run_after)

"""What the tasks of DAGs call after collecting: a call for each step, with settings read anew."""

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from airflow.sdk import Asset, get_current_context

from transit_base.errors import FinalError
from transit_etl.endpoints import collections_of, endpoints_of
from transit_etl.paths import exports_dir
from transit_etl.scheduling.polling import current_run
from transit_etl.scheduling.run_alerts import end_of_lateness
from transit_etl.scheduling.schedules import polled
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import FolderSettings, Settings, load_settings

_log = logging.getLogger(__name__)


class DamageError(FinalError):
    """A file that cannot be made again is damaged or missing, or one cannot be removed."""


class ProblemsError(FinalError):
    """Something is wrong with the installation; the message has a line for each problem."""


class NotAcceptedError(FinalError):
    """A batch was rejected, a file cannot be read, or something cannot be sent to the store or fetched."""


class Staged(NamedTuple):
    """What a task staged: counts, and what could not be, which a later task fails with."""

    counts: dict[str, int]
    problems: list[str]


def stage_collected(collection: str, operator: str) -> dict[str, int]:
    """Stage what an operator's collection landed and the lake has not yet; return rows by dataset.

    Raises NotAcceptedError once everything else is staged, if a batch was rejected or a file cannot be read.
    """
    from transit_etl.stage import stage

    endpoints = [endpoint.name for endpoint in endpoints_of(collection)]
    report = stage(load_settings(), endpoints=endpoints, operator=operator)
    refuse(report.problems)
    return dict(report.rows)


def sync_and_stage() -> Staged:
    """Compare with the object store, and stage what other hosts collected; return the counts of both.

    Raises StoreError if the store fails.
    """
    from transit_etl.stage import stage
    from transit_etl.store.sync import sync

    found = sync(load_settings())
    for warning in found.warnings:
        _log.warning(warning)
    report = stage(load_settings())
    counts = {
        "n_raw_sent": found.n_raw_sent,
        "n_files_sent": found.n_files_sent,
        "n_files_fetched": found.n_files_fetched,
        "n_windows_staged": report.windows,
    }
    return Staged(counts, [*found.errors, *report.problems])


def refuse(problems: Sequence[str]) -> None:
    """Raise NotAcceptedError, with one line for each, if anything could not be staged, sent or fetched."""
    if problems:
        raise NotAcceptedError("\n".join(problems))


def tell(details: dict[str, Any], *assets: Asset) -> None:
    """Keep what a task did with the events of its assets, for Airflow to show and other DAGs to read."""
    events = get_current_context()["outlet_events"]
    for asset in assets:
        events[asset].extra = {**events[asset].extra, **details}


def stage_polled() -> Staged:
    """Stage every finished window of the DAGs that poll, of every operator."""
    from transit_etl.stage import stage

    collections = [name for dag in polled() for name in collections_of(dag)]
    endpoints = [endpoint.name for name in collections for endpoint in endpoints_of(name)]
    report = stage(load_settings(), endpoints=endpoints)
    return Staged(dict(report.rows), report.problems)


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
    """Remove what is kept for a time only; return the counts of the report, and of raw files.

    Raises DamageError once everything else is removed, if something could not be.
    """
    from transit_etl.operations import prune, release_old_raw

    settings = load_settings()
    found = asdict(prune(settings))
    errors = found.pop("errors")
    found["n_raw_files"], n_bytes = release_old_raw(settings)
    if errors:
        raise DamageError("\n".join(errors))
    return found | {"n_bytes": found["n_bytes"] + n_bytes}


def check_installation() -> None:
    """Raise ProblemsError, with one line for each, if anything is wrong with this installation."""
    from transit_etl.operations import examine_and_record

    end_of_lateness("check")
    if problems := examine_and_record(load_settings(), sends_alerts=True).all_problems:
        raise ProblemsError("\n".join(f"{problem.name}: {problem.text}" for problem in problems))


def due_exports() -> list[str]:
    """Return the names of the datasets of which a closed date was built since they were exported.

    Where there are several operators, a name is the operator, a slash and the name of the dataset.
    """
    from transit_etl.export_settings import export_settings
    from transit_etl.identity import operators_settings, part_of
    from transit_exports import all_requests, dataset_name, due

    found = []
    for each in operators_settings(load_settings()):
        settings = export_settings(each)
        names = [dataset_name(request) for request in due(settings, all_requests(settings))]
        found += [str(Path(part_of(each), name)) for name in names]
    return found


def export_dataset(name: str) -> dict[str, int]:
    """Export a dataset of all, by its name as it was due; return the counts of the report."""
    from transit_etl.export_settings import export_settings
    from transit_etl.identity import operators_settings, part_of
    from transit_exports import all_requests, dataset_name, export

    part, _, dataset = name.rpartition("/")
    [settings] = [
        export_settings(each) for each in operators_settings(load_settings()) if part_of(each) == part
    ]
    [request] = [each for each in all_requests(settings) if dataset_name(each) == dataset]
    report = export(settings, request, keeps_unchanged=True)
    return {field: getattr(report, field) for field in ("n_files", "n_kept_files", "n_rows", "n_bytes")}


def export_folder(name: str) -> str:
    """Return the folder of an exported dataset, by its name as it was due."""
    return str(exports_dir(load_settings().data_dir).absolute() / name)


def write_standard_reports() -> dict[str, str]:
    """Write the reports of the last date that is over, its week and its month; return their sentences."""
    from transit_etl.export_settings import export_settings, report_folder
    from transit_etl.identity import operators_settings, part_of
    from transit_reports import ReportRequest, write_operators, write_reports

    settings, written = load_settings(), []
    for each in operators_settings(settings):
        asked = ReportRequest(languages=each.report_languages.split(","))
        written += write_reports(export_settings(each), report_folder(each), asked)
    if part_of(settings):
        write_operators(report_folder(settings).parent, settings.report_languages.split(","))
    return {str(each.page): each.answer for each in written}


def _build(settings: Settings, first: date | None = None, last: date | None = None) -> dict[str, int]:
    from transit_etl.warehouse import build

    _name_parent_of_lineage()
    report = build(settings, first_date=first, last_date=last)
    for warning in [*report.warnings, *report.findings]:
        _log.warning(warning)
    return {name: getattr(report, name) for name in ("n_files", "n_dates", "n_models", "n_checks")}


def _name_parent_of_lineage() -> None:
    """Let the OpenLineage events of dbt name the running task as their parent, if they are sent at all."""
    if find_spec("airflow.providers.openlineage") is None:
        return
    from airflow.providers.openlineage.conf import is_disabled
    from airflow.providers.openlineage.plugins.macros import lineage_parent_id

    if not is_disabled():
        os.environ["OPENLINEAGE_PARENT_ID"] = lineage_parent_id(get_current_context()["ti"])


def _instant(settings: FolderSettings) -> datetime:
    run = current_run()
    return settings.clock.from_real(run.logical_date or run.run_after)

"""Builds the Data Docs: what was received of every dataset and what failed, and each last result by rule."""

import json
import logging
import sys
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from transit_base.errors import TransitError
from transit_base.files import (
    clear_away,
    make_folder,
    named_in_errors,
    replace_folder,
    replacement_of,
    sync_tree,
    write_text,
)
from transit_etl.identity import operators_settings, part_of, service_days
from transit_etl.paths import quality_pages_dir, quality_results_dir
from transit_etl.settings import FolderSettings
from transit_etl.stage import validation_context
from transit_etl.stage.data_docs_html import (
    ResultPage,
    escaped,
    make_self_contained,
    write_first_page,
    write_operators_page,
)
from transit_etl.stage.lake import pages_lock
from transit_etl.stage.quality_history import read_history
from transit_etl.stage.suites import Suite, load_suites

if TYPE_CHECKING:
    from great_expectations.core import ExpectationSuiteValidationResult
    from great_expectations.data_context.data_context.ephemeral_data_context import EphemeralDataContext
    from great_expectations.data_context.store.store import DataDocsSiteConfigTypedDict

LastResults = Mapping[tuple[str, str], "ExpectationSuiteValidationResult"]  # by operator and dataset
_SITE = "quality"
_OF_THE_MACHINE = ("batch_markers", "batch_spec")  # when and in which form it was read
_log = logging.getLogger(__name__)
_renderer = logging.getLogger("great_expectations.render.renderer.site_builder")


class DataDocsError(TransitError):
    """The pages about data quality cannot be written; the message says why."""


def keep_results(settings: FolderSettings, last: LastResults, operators: Collection[str]) -> None:
    """Save the last results of each dataset, and build the pages of some operators from all that is saved."""
    with pages_lock(settings.data_dir):  # several processes stage at once
        for (operator, dataset), result in last.items():
            document = result.to_json_dict()  # type: ignore[no-untyped-call]
            folder = quality_results_dir(settings.data_dir, operator)
            write_text(folder / f"{dataset}.json", json.dumps(document))
        if operators:
            _build(settings, operators)


def build_data_docs(settings: FolderSettings) -> Path:
    """Build the pages from the saved results, replace the old ones, and return the path of the first page."""
    with pages_lock(settings.data_dir):
        return _build(settings, service_days(settings))


def _build(settings: FolderSettings, operators: Collection[str]) -> Path:
    """Build the pages of some operators, and of those without any, and the page that leads to those of each.

    There is no such page where there is one operator alone.
    """
    folder, known = quality_pages_dir(settings.data_dir), operators_settings(settings)
    for each in known:
        own = folder / part_of(each)
        if each.operator in operators or not (own / "index.html").exists():
            _build_operator(each, own)
    if part_of(settings):
        histories = {each.operator: read_history(each, ()) for each in known}
        write_operators_page(folder / "index.html", histories)
    return folder / "index.html"


def _build_operator(settings: FolderSettings, folder: Path) -> None:
    built = replacement_of(folder)
    clear_away(built)
    make_folder(built)
    context = validation_context.new_context()
    _add_site(context, built)
    suites = load_suites()
    for suite in suites.values():
        context.suites.add(suite.expectations)
    saved = list(_saved_results(settings))
    for document in saved:
        _add_result(context, _loaded(escaped(document)))
    results = {result.suite_name: result for result in map(_loaded, saved)}
    with named_in_errors(built):
        _render(context)
        make_self_contained(built)
        pages = {name: _result_page(name, results[name], built) for name in suites if name in results}
        history = read_history(settings, _counted(suites))
        write_first_page(built / "index.html", part_of(settings), suites, history, pages)
    sync_tree(built)
    replace_folder(built, folder)


def _add_site(context: "EphemeralDataContext", folder: Path) -> None:
    site: dict[str, Any] = {
        "class_name": "SiteBuilder",
        "show_how_to_buttons": False,
        "store_backend": {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.absolute()),
        },
    }
    context.add_data_docs_site(_SITE, cast("DataDocsSiteConfigTypedDict", site))


def _render(context: "EphemeralDataContext") -> None:
    """Write the pages, or raise: Great Expectations logs what fails, and goes on without the page."""
    failed: list[BaseException] = []

    def keep(_record: logging.LogRecord) -> bool:
        error = sys.exception()
        if error is not None:
            failed.append(error)
        return error is None

    _renderer.addFilter(keep)
    try:
        context.build_data_docs(site_names=[_SITE])
    finally:
        _renderer.removeFilter(keep)
    for error in failed:
        if isinstance(error, OSError):
            raise error
        raise DataDocsError(f"cannot write the pages about data quality: {error!r}") from error


def _counted(suites: Mapping[str, Suite]) -> Iterator[tuple[str, str]]:
    """Yield dataset and rule of the expectations that hold for any batch, and only count."""
    for dataset, suite in suites.items():
        for rule in suite.rules:
            if suite.one(rule).configuration.kwargs.get("mostly") == 0:
                yield dataset, rule.name


def _result_page(dataset: str, result: "ExpectationSuiteValidationResult", folder: Path) -> ResultPage:
    meta = cast("dict[str, Any]", result.meta)
    window, received_at = str(meta["window"]), datetime.fromisoformat(meta["last_received_at"])
    pages = folder / "validations" / dataset / window
    page = next(pages.rglob("*.html"), None)
    if page is None:  # rglob passes over a folder that cannot be read
        raise DataDocsError(f"no page can be read below {pages}")
    return ResultPage(page.relative_to(folder).as_posix(), window, received_at)


def _saved_results(settings: FolderSettings) -> Iterator[dict[str, Any]]:
    """Yield the saved results; one that is damaged is left out until its dataset is validated again."""
    for path in sorted(quality_results_dir(settings.data_dir, settings.operator).glob("*.json")):
        with named_in_errors(path):
            text = path.read_bytes()
        try:
            document = json.loads(text)
            datetime.fromisoformat(cast("dict[str, Any]", _loaded(document).meta)["last_received_at"])
        except Exception:  # noqa: BLE001 - whatever the damage makes Great Expectations raise
            _log.warning("left damaged results out of the pages about data quality: %s", path)
        else:
            yield document


def _loaded(document: dict[str, Any]) -> "ExpectationSuiteValidationResult":
    from great_expectations.core.expectation_validation_result import (  # noqa: PLC0415 - takes seconds
        expectationSuiteValidationResultSchema,
    )

    return cast("ExpectationSuiteValidationResult", expectationSuiteValidationResultSchema.load(document))


def _add_result(context: "EphemeralDataContext", result: "ExpectationSuiteValidationResult") -> None:
    from great_expectations.core.run_identifier import RunIdentifier  # noqa: PLC0415 - takes seconds
    from great_expectations.data_context.types.resource_identifiers import (  # noqa: PLC0415
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    meta = cast("dict[str, Any]", result.meta)
    received_at = datetime.fromisoformat(meta["last_received_at"]).replace(microsecond=0)
    run = RunIdentifier(run_name=meta["window"], run_time=received_at)
    key = ValidationResultIdentifier(ExpectationSuiteIdentifier(name=result.suite_name), run, meta["window"])
    for name in _OF_THE_MACHINE:
        meta.pop(name, None)
    meta["run_id"] = run
    context.validation_results_store.set(key, result)

"""Builds the Data Docs: pages that show the last validation of every dataset, rule by rule."""

import json
import shutil
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from transit_etl.collect.rawfile import make_folder
from transit_etl.paths import reports_dir, state_dir
from transit_etl.settings import Settings
from transit_etl.stage import gx
from transit_etl.stage.compaction import beside, replace_folder
from transit_etl.stage.suites import load_suites

if TYPE_CHECKING:
    from great_expectations.core import ExpectationSuiteValidationResult
    from great_expectations.data_context import EphemeralDataContext

_SITE = "quality"


def keep(settings: Settings, last: Mapping[str, "ExpectationSuiteValidationResult"]) -> None:
    """Keep the last results of each dataset, window and instant included, for pages built later."""
    make_folder(_kept_dir(settings))
    for dataset, result in last.items():
        path = _kept_dir(settings) / f"{dataset}.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result.to_json_dict()), encoding="utf-8")
        part.replace(path)


def build_data_docs(settings: Settings) -> Path:
    """Build the pages from the last results kept and return the first; what was there is replaced whole."""
    place = reports_dir(settings.data_dir) / _SITE
    shutil.rmtree(beside(place), ignore_errors=True)
    make_folder(beside(place))
    context = gx.new_context()
    backend = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(beside(place).absolute())}
    context.add_data_docs_site(_SITE, {"class_name": "SiteBuilder", "store_backend": backend,
                                       "show_how_to_buttons": False})  # fmt: skip
    for suite in load_suites().values():
        context.suites.add(suite.expectations)
    for result in _kept(settings):
        _add(context, result)
    context.build_data_docs(site_names=[_SITE])
    replace_folder(beside(place), place)
    return place / "index.html"


def _kept(settings: Settings) -> Iterator["ExpectationSuiteValidationResult"]:
    from great_expectations.core.expectation_validation_result import (  # noqa: PLC0415 - takes seconds
        ExpectationSuiteValidationResult,
        expectationSuiteValidationResultSchema,
    )

    for path in sorted(_kept_dir(settings).glob("*.json")):
        fields = expectationSuiteValidationResultSchema.load(json.loads(path.read_text(encoding="utf-8")))
        yield (
            fields
            if isinstance(fields, ExpectationSuiteValidationResult)
            else ExpectationSuiteValidationResult(**fields)
        )


def _add(context: "EphemeralDataContext", result: "ExpectationSuiteValidationResult") -> None:
    from great_expectations.core.run_identifier import RunIdentifier  # noqa: PLC0415 - takes seconds
    from great_expectations.data_context.types.resource_identifiers import (  # noqa: PLC0415
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    run = RunIdentifier(
        run_name=result.meta["window"], run_time=datetime.fromisoformat(result.meta["last_received_at"])
    )
    key = ValidationResultIdentifier(
        ExpectationSuiteIdentifier(name=result.suite_name), run, result.meta["window"]
    )
    result.meta["run_id"] = run
    context.validation_results_store.set(key, result)


def _kept_dir(settings: Settings) -> Path:
    return state_dir(settings.data_dir) / "quality"

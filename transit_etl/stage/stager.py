"""Stages one window: reads, normalises, validates and writes it."""

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transit_etl.api.exchange import Outcome
from transit_etl.endpoints import ENDPOINTS
from transit_etl.identity import service_days, settings_of
from transit_etl.settings import CollectSettings
from transit_etl.stage.lake import day_lock, staged_windows, write_window
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.normalise import Normaliser, one_line
from transit_etl.stage.normalised import Normalised, SetAside
from transit_etl.stage.pieces import Pieces
from transit_etl.stage.quality import (
    ANSWER_STAGED,
    LINE_READ,
    ROWS_VALIDATED,
    WINDOW_STAGED,
    BatchRejectedError,
    StagingRule,
    Validator,
    left_out_results,
    merged_results,
    quarantined,
    set_aside_result,
    set_aside_rows,
)
from transit_etl.stage.raw import RawWindow
from transit_etl.stage.stage_report import StageReport

if TYPE_CHECKING:
    from datetime import datetime

_UNREADABLE = StagingRule(
    "unreadable_answer",
    "answer",
    "The answer was good, but its body gives no rows under the schema of its endpoint.",
)
# A timetable may list departures within an hour of the cutoff, and a clock change shifts them by one more.
_CUTOFF_SLACK_SECONDS = 3600
_DAY_SECONDS = 86_400


class Stager:
    """Stages windows one after another, with suites and connections that are made once."""

    def __init__(self, settings: CollectSettings, threads: int) -> None:
        self.validator = Validator()
        self._settings = settings
        self._threads = threads
        self._idle: defaultdict[str, deque[Normaliser]] = defaultdict(deque)  # by operator

    def close(self) -> None:
        """Close the connections."""
        for idle in self._idle.values():
            while idle:
                idle.pop().close()

    def prepare(self, window: RawWindow) -> Normalised:
        """Normalise a window; RawFileError when its file cannot be read. Any thread may call."""
        idle = self._idle[window.operator]
        try:
            normaliser = idle.pop()
        except IndexError:
            normaliser = Normaliser(settings_of(self._settings, window.operator), self._threads)
        try:
            return normaliser.normalise(window)
        finally:
            idle.append(normaliser)

    def finish(
        self, normalised: Normalised, root: Path, listed_lines: ListedLines, report: StageReport
    ) -> None:
        """Validate a normalised window and write its tables into the lake below the data folder `root`."""
        window = normalised.window
        batch = _Batch(normalised, self._parameters(window, listed_lines))
        batch.validate(self.validator)
        with day_lock(root, window.operator, window.day):
            if window.name in staged_windows(root, window.operator, window.day):
                return  # another process has staged it meanwhile, with the same result
            write_window(root, window, batch.tables, batch.quarantine)
        batch.add_to(report)
        listed_lines.forget(window.operator, window.day)

    def set_aside(self, window: RawWindow, root: Path, reason: str, report: StageReport) -> None:
        """Mark a window as staged without rows, so that it is not tried again until its day is restaged."""
        endpoint = ENDPOINTS.get(window.endpoint)
        dataset = (endpoint and endpoint.dataset) or "requests"
        line = json.dumps({"raw_file": window.path.name})
        quarantine = set_aside_rows(window, dataset, WINDOW_STAGED, [(None, reason, line)])
        results = set_aside_result(window, dataset, WINDOW_STAGED, [reason], n_rows=1, last_received_at=None)
        with day_lock(root, window.operator, window.day):
            write_window(root, window, {"validation_results": Pieces(results)}, {dataset: Pieces(quarantine)})
        report.errors.append(reason)

    def _parameters(
        self, window: RawWindow, listed_lines: ListedLines
    ) -> dict[str, Sequence[object] | float]:
        codes, labels = listed_lines.codes_and_labels(window)
        starts = service_days(self._settings)[window.operator].starts_seconds
        parameters: dict[str, Sequence[object] | float] = {
            "possible_outcomes": [str(outcome) for outcome in Outcome],
            "earliest_second": starts - _CUTOFF_SLACK_SECONDS,
            "latest_second": starts + _DAY_SECONDS + _CUTOFF_SLACK_SECONDS,
        }
        return parameters | ({"listed_lines": codes, "listed_labels": labels} if codes else {})


class _Batch:
    """The tables of one window while they are validated: good rows, quarantined rows and results."""

    def __init__(self, normalised: Normalised, parameters: Mapping[str, Sequence[object] | float]) -> None:
        self.tables: dict[str, Pieces] = {}
        self.quarantine: dict[str, Pieces] = {}
        self._normalised = normalised
        self._parameters = parameters
        self._results: list[pa.Table] = []
        self._rejected: list[str] = []
        self._set_aside: list[str] = []
        self._last_received_at: datetime | None = pc.max(normalised.requests["received_at"]).as_py()

    def validate(self, validator: Validator) -> None:
        """Validate the requests, then the dataset; if the requests are rejected, so is the dataset."""
        window, dataset = self._normalised.window, self._normalised.dataset or "requests"
        if self._normalised.requests.num_rows:
            self._validate_tables(validator)
            left_out = left_out_results(window, dataset, self._normalised.left_out, self._last_received_at)
            self._results.append(left_out)
        self._put_aside(dataset, ANSWER_STAGED, self._normalised.answers_aside)
        self._put_aside("requests", LINE_READ, self._normalised.lines_aside)
        if self._results:
            self.tables["validation_results"] = Pieces(merged_results(self._results))

    def add_to(self, report: StageReport) -> None:
        """Count this window in a report."""
        report.windows += 1
        for dataset, pieces in self.tables.items():
            report.rows[dataset] += pieces.num_rows
        for dataset, pieces in self.quarantine.items():
            for table in pieces:
                for rule in table["rule"].to_pylist():
                    report.quarantined[f"{dataset}.{rule}"] += 1
        report.rejected += self._rejected
        report.set_aside += self._set_aside

    def _validate_tables(self, validator: Validator) -> None:
        window, dataset, rows = self._normalised.window, self._normalised.dataset, self._normalised.rows
        broken = self._validate_one(validator, "requests", self._normalised.requests)
        if dataset is None:
            return
        if self._has_answers():
            for table in rows:
                if broken is None:
                    self._validate_one(validator, dataset, table)
                else:
                    self._quarantine(dataset, quarantined(window, dataset, table, *broken))
        for table in self._normalised.unread:
            lines = [(one["request_id"], _UNREADABLE.reason, one["line"]) for one in table.to_pylist()]
            self._quarantine(dataset, set_aside_rows(window, dataset, _UNREADABLE, lines))

    def _has_answers(self) -> bool:
        """Tell whether any answer could be read: without one the rules of a batch do not apply."""
        return bool(pc.any(pc.is_valid(self._normalised.requests["n_rows"])).as_py())

    def _validate_one(self, validator: Validator, dataset: str, table: pa.Table) -> tuple[str, str] | None:
        """Validate a table; return the rule that rejects it whole and the reason, or None."""
        window = self._normalised.window
        try:
            validated = validator.validate(
                window, dataset, table, last_received_at=self._last_received_at, parameters=self._parameters
            )
        except BatchRejectedError as rejection:
            self._results.append(rejection.results)
            self._rejected.append(str(rejection))
            broken = (rejection.rules[0].name, rejection.rules[0].reason)
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the rest is staged without these rows
            reason = one_line(error)
            result = set_aside_result(
                window,
                dataset,
                ROWS_VALIDATED,
                [reason],
                n_rows=table.num_rows,
                last_received_at=self._last_received_at,
            )
            self._results.append(result)
            self._rejected.append(f"{window.name}: {dataset} cannot be validated: {reason}")
            broken = (ROWS_VALIDATED.name, reason)
        else:
            self.tables.setdefault(dataset, Pieces()).append(validated.good)
            self._results.append(validated.results)
            self._quarantine(dataset, validated.quarantine)
            return None
        self._quarantine(dataset, quarantined(window, dataset, table, *broken))
        return broken

    def _put_aside(self, dataset: str, rule: StagingRule, aside: Sequence[SetAside]) -> None:
        """Quarantine answers or lines that could not be staged, and report them."""
        if not aside:
            return
        window, reasons = self._normalised.window, [one.reason for one in aside]
        lines = [(one.request_id, one.reason, one.line) for one in aside]
        self._quarantine(dataset, set_aside_rows(window, dataset, rule, lines))
        n_rows = self._normalised.requests.num_rows + len(self._normalised.lines_aside)
        self._results.append(
            set_aside_result(
                window, dataset, rule, reasons, n_rows=n_rows, last_received_at=self._last_received_at
            )
        )
        self._set_aside.append(f"{window.name}: {rule.name} fails for {len(aside)}, set aside: {reasons[0]}")

    def _quarantine(self, dataset: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self.quarantine.setdefault(dataset, Pieces()).append(rows)

"""Stages one window: reads, normalises, validates and writes it."""

from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from transit_etl.api.exchange import Outcome
from transit_etl.settings import Settings
from transit_etl.stage.lake import day_lock, staged_windows, write_window
from transit_etl.stage.listed_lines import ListedLines
from transit_etl.stage.normalise import Normalised, Normaliser
from transit_etl.stage.quality import BatchRejectedError, Validator, left_out_results, quarantined
from transit_etl.stage.raw import RawWindow
from transit_etl.stage.schemas import QUARANTINE
from transit_etl.stage.stage_report import StageReport

if TYPE_CHECKING:
    from datetime import datetime

_UNREADABLE = "unreadable_answer"
_UNREADABLE_REASON = "The answer was good, but its body gives no rows under the schema of its endpoint."
# A timetable may list departures within an hour of the cutoff, and a clock change shifts them by one more.
_CUTOFF_SLACK_SECONDS = 3600
_DAY_SECONDS = 86_400


class Stager:
    """Stages windows one after another, with suites and connections that are made once."""

    def __init__(self, settings: Settings, threads: int) -> None:
        self.validator = Validator()
        self._settings = settings
        self._threads = threads
        self._idle: deque[Normaliser] = deque()
        cutoff = settings.service_day_cutoff
        self._cutoff_seconds = cutoff.hour * 3600 + cutoff.minute * 60 + cutoff.second

    def close(self) -> None:
        """Close the connections."""
        while self._idle:
            self._idle.pop().close()

    def prepare(self, window: RawWindow) -> Normalised:
        """Normalise a window; RawFileError when its file cannot be read. Any thread may call."""
        try:
            normaliser = self._idle.pop()
        except IndexError:
            normaliser = Normaliser(self._settings, self._threads)
        try:
            return normaliser.normalise(window)
        finally:
            self._idle.append(normaliser)

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
            write_window(root, window, batch.tables, batch.quarantine())
        batch.add_to(report)
        listed_lines.forget(window.operator, window.day)

    def _parameters(
        self, window: RawWindow, listed_lines: ListedLines
    ) -> dict[str, Sequence[object] | float]:
        codes, labels = listed_lines.codes_and_labels(window)
        parameters: dict[str, Sequence[object] | float] = {
            "possible_outcomes": [str(outcome) for outcome in Outcome],
            "earliest_second": self._cutoff_seconds - _CUTOFF_SLACK_SECONDS,
            "latest_second": self._cutoff_seconds + _DAY_SECONDS + _CUTOFF_SLACK_SECONDS,
        }
        return parameters | ({"listed_lines": codes, "listed_labels": labels} if codes else {})


class _Batch:
    """The tables of one window while they are validated: good rows, quarantined rows and results."""

    def __init__(self, normalised: Normalised, parameters: Mapping[str, Sequence[object] | float]) -> None:
        self.tables: dict[str, pa.Table] = {}
        self._normalised = normalised
        self._parameters = parameters
        self._quarantined: dict[str, list[pa.Table]] = {}
        self._results: list[pa.Table] = []
        self._rejected: list[str] = []
        self._last_received_at: datetime | None = pc.max(normalised.requests["received_at"]).as_py()

    def validate(self, validator: Validator) -> None:
        """Validate the requests, then the dataset; if the requests are rejected, so is the dataset."""
        window, dataset, rows = self._normalised.window, self._normalised.dataset, self._normalised.rows
        if self._normalised.requests.num_rows == 0:
            return
        rejection = self._validate_one(validator, "requests", self._normalised.requests)
        if dataset is not None and rows is not None and self._has_answers():
            if rejection is None:
                self._validate_one(validator, dataset, rows)
            else:
                rule = rejection.rules[0]
                self._quarantine(dataset, quarantined(window, dataset, rows, rule.name, rule.reason))
        self._quarantine_unread()
        self._results.append(
            left_out_results(window, dataset or "requests", self._normalised.left_out, self._last_received_at)
        )
        self.tables["validation_results"] = pa.concat_tables(self._results)

    def quarantine(self) -> dict[str, pa.Table]:
        """Return the quarantined rows, by dataset."""
        return {dataset: pa.concat_tables(tables) for dataset, tables in self._quarantined.items()}

    def add_to(self, report: StageReport) -> None:
        """Count this window in a report."""
        report.windows += 1
        for dataset, table in self.tables.items():
            report.rows[dataset] += table.num_rows
        for dataset, table in self.quarantine().items():
            for rule in table["rule"].to_pylist():
                report.quarantined[f"{dataset}.{rule}"] += 1
        report.rejected += self._rejected

    def _has_answers(self) -> bool:
        """Tell whether any answer could be read: without one the rules of a batch do not apply."""
        return bool(pc.any(pc.is_valid(self._normalised.requests["n_rows"])).as_py())

    def _validate_one(self, validator: Validator, dataset: str, table: pa.Table) -> BatchRejectedError | None:
        window = self._normalised.window
        try:
            validated = validator.validate(
                window, dataset, table, last_received_at=self._last_received_at, parameters=self._parameters
            )
        except BatchRejectedError as rejection:
            self._results.append(rejection.results)
            self._rejected.append(str(rejection))
            rule = rejection.rules[0]
            self._quarantine(dataset, quarantined(window, dataset, table, rule.name, rule.reason))
            return rejection
        self.tables[dataset] = validated.good
        self._results.append(validated.results)
        self._quarantine(dataset, validated.quarantine)
        return None

    def _quarantine_unread(self) -> None:
        """Quarantine the raw lines of good answers that gave no list of rows."""
        window, dataset, unread = self._normalised.window, self._normalised.dataset, self._normalised.unread
        if dataset is None or unread is None or unread.num_rows == 0:
            return
        rows = [
            {
                "operator": window.operator, "window": window.name, "dataset": dataset,
                "request_id": one["request_id"], "rule": _UNREADABLE, "reason": _UNREADABLE_REASON,
                "row": one["line"],
            }
            for one in unread.to_pylist()
        ]  # fmt: skip
        self._quarantine(dataset, pa.Table.from_pylist(rows, schema=QUARANTINE))

    def _quarantine(self, dataset: str, rows: pa.Table) -> None:
        if rows.num_rows:
            self._quarantined.setdefault(dataset, []).append(rows)

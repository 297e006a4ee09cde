"""Validates a window's tables: rows that break a rule leave with its reason, a bad batch stops whole."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from transit_etl.errors import TransitError
from transit_etl.stage import validation_context
from transit_etl.stage.normalise import LeftOut
from transit_etl.stage.raw import Window, arrow
from transit_etl.stage.schemas import QUARANTINE, VALIDATION_RESULTS
from transit_etl.stage.suites import Rule, Suite, SuiteError, load_suites

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite
    from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult

# In a batch of fewer rows a share says nothing: one odd row would stop all of them.
_FEW_ROWS = 20
_BRIEF = {"result_format": "BASIC", "partial_unexpected_count": 5}
_INDEXED = {"result_format": "COMPLETE", "partial_unexpected_count": 0, "exclude_unexpected_values": True}


class BatchRejectedError(TransitError):
    """A batch rule failed, so nothing of the batch may reach the lake. `results` says what was found."""

    def __init__(self, window: Window, dataset: str, rules: Sequence[Rule], results: pa.Table) -> None:
        names = ", ".join(rule.name for rule in rules)
        super().__init__(f"{window.name}: {dataset} rejected by {names}: {rules[0].reason}")
        self.window = window
        self.dataset = dataset
        self.rules = tuple(rules)
        self.results = results


@dataclass(frozen=True, slots=True)
class Validated:
    """The rows that passed every row rule, those that did not (with rule and reason), and the results."""

    good: pa.Table
    quarantine: pa.Table
    results: pa.Table


class Quality:
    """Holds the suites of all datasets ready, so that a small window costs little."""

    def __init__(self, suites: Mapping[str, Suite] | None = None) -> None:
        self._suites = suites or load_suites()
        self._evaluables: dict[tuple[str, frozenset[str], bool], ExpectationSuite] = {}
        source = validation_context.shared_context().data_sources.add_or_update_pandas("stage")
        self._assets = {dataset: source.add_dataframe_asset(dataset) for dataset in self._suites}
        self._batches = {
            dataset: asset.add_batch_definition_whole_dataframe("window")
            for dataset, asset in self._assets.items()
        }
        self.last: dict[str, ExpectationSuiteValidationResult] = {}

    def validate(
        self,
        window: Window,
        dataset: str,
        table: pa.Table,
        *,
        last_received_at: datetime | None,
        parameters: Mapping[str, Sequence[object] | float],
    ) -> Validated:
        """Check a table against its dataset's suite.

        Left out are expectations whose parameter is not known (no lines collected yet) and, of a batch of
        under 20 rows, those about a share of its rows; every row is judged by the row rules all the same.
        BatchRejectedError when a batch rule fails, SuiteError when an expectation cannot be computed.
        """
        suite = self._suites[dataset]
        batch = self._batches[dataset].get_batch(
            batch_parameters={"dataframe": table.select(suite.columns).to_pandas()}
        )
        known = {name: value for name, value in parameters.items() if name in suite.parameters}
        outcome = batch.validate(
            self._evaluable(suite, known, is_small=table.num_rows < _FEW_ROWS),
            result_format=_BRIEF,
            expectation_parameters=known,
        )
        outcome.meta |= {"window": window.name, "last_received_at": str(last_received_at or window.day)}
        self.last[dataset] = outcome
        found = {_rule_name(result): result for result in outcome.results}
        _raise_if_not_computed(dataset, found)
        results = _results(window, suite, found, last_received_at, table.num_rows)
        broken = [rule for rule in suite.rules if rule.name in found and not found[rule.name].success]
        if batch_rules := [rule for rule in broken if rule.scope == "batch"]:
            raise BatchRejectedError(window, dataset, batch_rules, results)
        rows = {
            rule: _indices(batch.validate(
                suite.one(rule), result_format=_INDEXED, expectation_parameters=known
            ))
            for rule in broken
        }  # fmt: skip
        return _split(window, dataset, table, rows, results)

    def _evaluable(self, suite: Suite, known: Mapping[str, object], *, is_small: bool) -> "ExpectationSuite":
        missing = suite.parameters - set(known)
        key = (suite.dataset, frozenset(missing), is_small)
        if key not in self._evaluables:
            self._evaluables[key] = suite.evaluable(missing, is_small=is_small)
        return self._evaluables[key]


def quarantined(window: Window, dataset: str, table: pa.Table, rule: str, reason: str) -> pa.Table:
    """Turn rows of a dataset into quarantine rows: one each, the row as JSON."""
    said = {
        "operator": window.operator,
        "window": window.name,
        "dataset": dataset,
        "rule": rule,
        "reason": reason,
    }
    with duckdb.connect() as connection:
        connection.register("leaving", table)
        found = arrow(connection, 'select request_id, to_json(leaving)::varchar as "row" from leaving')
    for name, value in said.items():
        found = found.append_column(name, pa.repeat(value, table.num_rows))
    return found.select(QUARANTINE.names).cast(QUARANTINE)


def left_out_results(
    window: Window, dataset: str, left_out: Sequence[LeftOut], last_received_at: datetime | None
) -> pa.Table:
    """Report what normalising left out by design as results that never fail."""
    return pa.Table.from_pylist(
        [
            {
                "operator": window.operator, "window": window.name, "suite": dataset,
                "last_received_at": last_received_at, "expectation": "left_out_by_normalising",
                "rule": one.rule, "scope": "row", "reason": one.reason, "is_success": True,
                "n_rows": one.n_rows, "n_unexpected": one.n_left_out,
            }
            for one in left_out
        ],
        schema=VALIDATION_RESULTS,
    )  # fmt: skip


def _rule_name(result: "ExpectationValidationResult") -> str:
    assert result.expectation_config is not None  # noqa: S101 - GX sets it on every result of a suite
    return str(result.expectation_config.meta["rule"])


def _raise_if_not_computed(dataset: str, found: Mapping[str, "ExpectationValidationResult"]) -> None:
    for rule, result in found.items():
        # One exception, or several keyed by metric; none at all reads raised_exception False.
        infos = [
            result.exception_info,
            *(v for v in (result.exception_info or {}).values() if isinstance(v, dict)),
        ]
        for info in infos:
            if info and info.get("raised_exception"):
                raise SuiteError(f"{dataset}: {rule} could not be computed: {info.get('exception_message')}")


def _results(
    window: Window,
    suite: Suite,
    found: Mapping[str, "ExpectationValidationResult"],
    last_received_at: datetime | None,
    n_rows: int,
) -> pa.Table:
    rows = [
        {
            "operator": window.operator, "window": window.name, "suite": suite.dataset,
            "last_received_at": last_received_at, "expectation": rule.expectation,
            "column": rule.column, "rule": rule.name, "scope": rule.scope, "reason": rule.reason,
            "is_success": bool(found[rule.name].success), "n_rows": n_rows,
            "n_unexpected": found[rule.name].result.get("unexpected_count"),
            "observed": _observed(found[rule.name].result),
        }
        for rule in suite.rules if rule.name in found
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=VALIDATION_RESULTS)


def _observed(result: Mapping[str, Any]) -> str | None:
    """Write what was observed, or a sample of what should not be there, as JSON; nulls say nothing."""
    if "observed_value" in result:
        return json.dumps(result["observed_value"], default=str)
    sample = [str(value) for value in result.get("partial_unexpected_list") or [] if not _is_null(value)]
    return json.dumps(sample, ensure_ascii=False) if sample else None


def _is_null(value: object) -> bool:
    # Great Expectations gives nulls as None, nan or NaT; the last two are unequal to themselves.
    return value is None or value != value or str(value) == "NaT"  # noqa: PLR0124


def _indices(result: "ExpectationValidationResult") -> list[int]:
    return [int(index) for index in result.result["unexpected_index_list"]]


def _split(
    window: Window, dataset: str, table: pa.Table, broken: Mapping[Rule, list[int]], results: pa.Table
) -> Validated:
    leaving = sorted({index for indices in broken.values() for index in indices})
    quarantine = [
        quarantined(window, dataset, table.take(sorted(indices)), rule.name, rule.reason)
        for rule, indices in broken.items()
    ]
    good = table
    if leaving:
        staying = pa.array([True] * table.num_rows).to_numpy(zero_copy_only=False).copy()
        staying[leaving] = False
        good = table.filter(pa.array(staying))
    return Validated(good, pa.concat_tables([QUARANTINE.empty_table(), *quarantine]), results)

"""Validates a window's tables: rows that break a row rule are quarantined, a bad batch is rejected whole."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from transit_base.errors import TransitError
from transit_etl.lake_schemas import QUARANTINE, VALIDATION_RESULTS
from transit_etl.stage import validation_context
from transit_etl.stage.normalised import LeftOut
from transit_etl.stage.raw import RawWindow, arrow
from transit_etl.stage.suites import Rule, Suite, SuiteError, load_suites

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite
    from great_expectations.core import ExpectationSuiteValidationResult, ExpectationValidationResult

# In a batch of fewer rows the share of bad rows is not judged: one bad row would reject all of them.
_FEW_ROWS = 20
_N_REASONS = 5
_BRIEF = {"result_format": "BASIC", "partial_unexpected_count": 5}
_INDEXED = {"result_format": "COMPLETE", "partial_unexpected_count": 0, "exclude_unexpected_values": True}


class BatchRejectedError(TransitError):
    """A batch rule failed, so nothing of the batch reaches the lake. `results` holds what was found."""

    def __init__(self, window: RawWindow, dataset: str, rules: Sequence[Rule], results: pa.Table) -> None:
        names = ", ".join(rule.name for rule in rules)
        super().__init__(f"{window.name}: {dataset} rejected by {names}: {rules[0].reason}")
        self.window = window
        self.dataset = dataset
        self.rules = tuple(rules)
        self.results = results


@dataclass(frozen=True, slots=True)
class Validated:
    """The rows that keep every row rule, those that do not (with rule and reason), and the results."""

    good: pa.Table
    quarantine: pa.Table
    results: pa.Table


@dataclass(frozen=True, slots=True)
class StagingRule:
    """What staging itself expects of a window, and the quarantine says where it does not hold."""

    name: str
    scope: str
    reason: str


ANSWER_STAGED = StagingRule(
    "answer_staged", "answer", "An answer that cannot be staged stays in its raw file until it is repaired."
)
LINE_READ = StagingRule(
    "line_read", "line", "A line of a raw file that is no row of its window says nothing."
)
ROWS_VALIDATED = StagingRule("rows_validated", "batch", "Rows that cannot be checked are not used.")
WINDOW_STAGED = StagingRule(
    "window_staged", "window", "A window that cannot be staged stays in its raw file until it is repaired."
)


class Validator:
    """Validates tables by the suites of their datasets, which are loaded once.

    `last` holds the last result of each operator and dataset.
    """

    def __init__(self, suites: Mapping[str, Suite] | None = None) -> None:
        self._suites = suites or _suites()
        self._evaluables: dict[tuple[str, frozenset[str], bool], ExpectationSuite] = {}
        self._batches = {dataset: validation_context.batch_definition(dataset) for dataset in self._suites}
        self.last: dict[tuple[str, str], ExpectationSuiteValidationResult] = {}

    def validate(
        self,
        window: RawWindow,
        dataset: str,
        table: pa.Table,
        *,
        last_received_at: datetime | None,
        parameters: Mapping[str, Sequence[object] | float],
    ) -> Validated:
        """Check a table against its dataset's suite.

        Expectations whose parameter is missing (no lines collected yet) are left out and, of a batch of
        fewer than 20 rows, those about a share of its rows. BatchRejectedError when a batch rule fails,
        SuiteError when an expectation cannot be computed.
        """
        suite = self._suites[dataset]
        batch = self._batches[dataset].get_batch(
            batch_parameters={"dataframe": table.select(suite.columns).to_pandas()}
        )
        needed = {name: value for name, value in parameters.items() if name in suite.parameters}
        suite_result = batch.validate(
            self._evaluable(suite, needed, is_small=table.num_rows < _FEW_ROWS),
            result_format=_BRIEF,
            expectation_parameters=needed,
        )
        suite_result.meta |= {"window": window.name, "last_received_at": str(last_received_at or window.day)}
        self.last[window.operator, dataset] = suite_result
        found = {_rule_name(result): result for result in suite_result.results}
        _raise_if_not_computed(dataset, found)
        results = _results(window, suite, found, last_received_at, table.num_rows)
        broken = [rule for rule in suite.rules if rule.name in found and not found[rule.name].success]
        if batch_rules := [rule for rule in broken if rule.scope == "batch"]:
            raise BatchRejectedError(window, dataset, batch_rules, results)
        rows = {
            rule: _indices(batch.validate(
                suite.one(rule), result_format=_INDEXED, expectation_parameters=needed
            ))
            for rule in broken
        }  # fmt: skip
        return _split(window, dataset, table, rows, results)

    def _evaluable(
        self, suite: Suite, parameters: Mapping[str, object], *, is_small: bool
    ) -> "ExpectationSuite":
        missing = suite.parameters - set(parameters)
        key = (suite.dataset, frozenset(missing), is_small)
        if key not in self._evaluables:
            self._evaluables[key] = suite.evaluable(missing, is_small=is_small)
        return self._evaluables[key]


@cache
def _suites() -> Mapping[str, Suite]:
    """Load the suites once per process, which takes a second; pages change those they are built with."""
    return load_suites()


def quarantined(window: RawWindow, dataset: str, table: pa.Table, rule: str, reason: str) -> pa.Table:
    """Turn rows of a dataset into quarantine rows: one each, the row as JSON."""
    constants = {
        "operator": window.operator,
        "window": window.name,
        "dataset": dataset,
        "rule": rule,
        "reason": reason,
    }
    with duckdb.connect() as connection:
        connection.register("bad_rows", table)
        rows = arrow(connection, 'select request_id, to_json(bad_rows)::varchar as "row" from bad_rows')
    for name, value in constants.items():
        rows = rows.append_column(name, pa.repeat(value, table.num_rows))
    return rows.select(QUARANTINE.names).cast(QUARANTINE)


def set_aside_rows(
    window: RawWindow, dataset: str, rule: StagingRule, lines: Sequence[tuple[str | None, str, str]]
) -> pa.Table:
    """Return quarantine rows of what was set aside: each a request (if known), the reason and a JSON text."""
    rows = [
        {
            "operator": window.operator, "window": window.name, "dataset": dataset,
            "request_id": request_id, "rule": rule.name, "reason": reason, "row": line,
        }
        for request_id, reason, line in lines
    ]  # fmt: skip
    return pa.Table.from_pylist(rows, schema=QUARANTINE)


def set_aside_result(
    window: RawWindow,
    dataset: str,
    rule: StagingRule,
    reasons: Sequence[str],
    *,
    n_rows: int,
    last_received_at: datetime | None,
) -> pa.Table:
    """Return the result that says how much of a window was set aside under a rule, and gives some reasons."""
    observed = json.dumps(list(dict.fromkeys(reasons))[:_N_REASONS], ensure_ascii=False)
    row = {
        "operator": window.operator, "window": window.name, "suite": dataset,
        "last_received_at": last_received_at or window.began_at, "expectation": "staged",
        "rule": rule.name, "scope": rule.scope, "reason": rule.reason, "is_success": False,
        "n_rows": n_rows, "n_unexpected": len(reasons), "observed": observed,
    }  # fmt: skip
    return pa.Table.from_pylist([row], schema=VALIDATION_RESULTS)


def left_out_results(
    window: RawWindow, dataset: str, left_out: Sequence[LeftOut], last_received_at: datetime | None
) -> pa.Table:
    """Report the rows that normalising leaves out by design, as results that never fail."""
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


def merged_results(tables: Sequence[pa.Table]) -> pa.Table:
    """Put the results of a window together; those of one rule on several pieces of a dataset become one."""
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    rows = [row for table in tables for row in table.to_pylist()]
    for row in rows:
        known = merged.setdefault((row["suite"], row["rule"]), row)
        if known is not row:
            known["is_success"] = known["is_success"] and row["is_success"]
            known["observed"] = known["observed"] or row["observed"]
            for count in ("n_rows", "n_unexpected"):
                known[count] = (known[count] or 0) + (row[count] or 0)
    return pa.Table.from_pylist(list(merged.values()), schema=VALIDATION_RESULTS)


def _rule_name(result: "ExpectationValidationResult") -> str:
    assert result.expectation_config is not None  # noqa: S101 - GX sets it on every result of a suite
    return str(result.expectation_config.meta["rule"])


def _raise_if_not_computed(dataset: str, found: Mapping[str, "ExpectationValidationResult"]) -> None:
    for rule, result in found.items():
        # One exception, or several by metric; without any, raised_exception is False.
        infos = [
            result.exception_info,
            *(v for v in (result.exception_info or {}).values() if isinstance(v, dict)),
        ]
        for info in infos:
            if info and info.get("raised_exception"):
                raise SuiteError(f"{dataset}: {rule} could not be computed: {info.get('exception_message')}")


def _results(
    window: RawWindow,
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
    """Write the observed value, or a sample of the unexpected ones without nulls, as JSON."""
    if "observed_value" in result:
        return json.dumps(result["observed_value"], default=str)
    sample = [str(value) for value in result.get("partial_unexpected_list") or [] if not _is_null(value)]
    return json.dumps(sample, ensure_ascii=False) if sample else None


def _is_null(value: object) -> bool:
    # Great Expectations returns nulls as None, nan or NaT; the last two are unequal to themselves.
    return value is None or value != value or str(value) == "NaT"  # noqa: PLR0124


def _indices(result: "ExpectationValidationResult") -> list[int]:
    return [int(index) for index in result.result["unexpected_index_list"]]


def _split(
    window: RawWindow, dataset: str, table: pa.Table, broken: Mapping[Rule, list[int]], results: pa.Table
) -> Validated:
    bad = sorted({index for indices in broken.values() for index in indices})
    quarantine = [
        quarantined(window, dataset, table.take(sorted(indices)), rule.name, rule.reason)
        for rule, indices in broken.items()
    ]
    good = table
    if bad:
        is_good = pa.array([True] * table.num_rows).to_numpy(zero_copy_only=False).copy()
        is_good[bad] = False
        good = table.filter(pa.array(is_good))
    return Validated(good, pa.concat_tables([QUARANTINE.empty_table(), *quarantine]), results)

"""Loads the Great Expectations suites strictly: every expectation of a file is checked, or nothing runs."""

import json
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from transit_base.errors import TransitError
from transit_base.installed import part_of_project
from transit_etl.lake_schemas import DATASETS
from transit_etl.stage import validation_context

if TYPE_CHECKING:
    from great_expectations import ExpectationSuite
    from great_expectations.expectations.expectation import Expectation

EXPECTATIONS = part_of_project("expectations")

Scope = Literal["row", "batch"]


class SuiteError(TransitError):
    """A suite cannot be used as it is written; the message names the file and the mistake."""


@dataclass(frozen=True, slots=True)
class Rule:
    """An expectation: its name, whether it judges rows or the whole batch, and its reason."""

    name: str
    scope: Scope
    reason: str
    expectation: str
    column: str


@dataclass(frozen=True)
class Suite:
    """A dataset's suite, its rules in the same order, and the columns its expectations read."""

    dataset: str
    rules: tuple[Rule, ...]
    columns: tuple[str, ...]
    parameters: frozenset[str]
    expectations: "ExpectationSuite"

    def one(self, rule: Rule) -> "Expectation":
        """Return the expectation of a rule."""
        return self.expectations.expectations[self.rules.index(rule)]

    def evaluable(self, missing: AbstractSet[str], *, is_small: bool) -> "ExpectationSuite":
        """Return the suite without what needs a missing parameter or judges the share of a small batch."""
        from great_expectations import ExpectationSuite  # noqa: PLC0415 - takes seconds

        kept = [
            one
            for one in self.expectations.expectations
            if missing.isdisjoint(one.suite_parameter_options)
            and not (is_small and 0 < one.configuration.kwargs.get("mostly", 1) < 1)
        ]
        return ExpectationSuite(name=self.dataset, expectations=kept)


def load_suites(folder: Path = EXPECTATIONS) -> dict[str, Suite]:
    """Load one suite per JSON file, by dataset; SuiteError for mistakes that Great Expectations ignores."""
    suites = {path.stem: load_suite(path) for path in sorted(folder.glob("*.json"))}
    missing = set(DATASETS) - {"validation_results"} - set(suites)
    if missing:
        raise SuiteError(f"{folder}: no suite for {', '.join(sorted(missing))}")
    return suites


def load_suite(path: Path) -> Suite:
    """Load one suite; every expectation of the file must have a rule, a scope and a reason, and be valid."""
    document = _read(path)
    if path.stem not in DATASETS or document.get("name") != path.stem:
        raise SuiteError(f"{path}: its name and the suite's must be one dataset of the lake")
    written = document.get("expectations")
    if not isinstance(written, list) or not written:
        raise SuiteError(f"{path}: it holds no expectations")
    rules = tuple(_rule(path, expectation) for expectation in written)
    _check_names(path, rules)
    columns = tuple(dict.fromkeys(column for expectation in written for column in _columns(expectation)))
    unknown = set(columns) - set(DATASETS[path.stem].names)
    if unknown:
        raise SuiteError(f"{path}: {path.stem} has no column {', '.join(sorted(unknown))}")
    built = _build(path, document)
    return Suite(path.stem, rules, columns, frozenset(built.suite_parameter_options), built)


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SuiteError(f"{path}: {error}") from error
    if not isinstance(document, dict):
        raise SuiteError(f"{path}: not a suite")
    return document


def _rule(path: Path, expectation: dict[str, Any]) -> Rule:
    meta = expectation.get("meta") or {}
    kind = expectation.get("type")
    name, scope, reason = (meta.get(key) for key in ("rule", "scope", "reason"))
    if not name or not reason or scope not in ("row", "batch"):
        raise SuiteError(f"{path}: {kind}: its meta needs rule, reason and scope (row or batch)")
    if scope == "row" and "mostly" in expectation.get("kwargs", {}):
        raise SuiteError(f"{path}: {name}: a row rule holds for every row; `mostly` makes it a batch rule")
    columns = ", ".join(_looked_at(expectation.get("kwargs", {})))
    return Rule(str(name), scope, str(reason), str(kind), columns)


def _check_names(path: Path, rules: tuple[Rule, ...]) -> None:
    names = [rule.name for rule in rules]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        raise SuiteError(f"{path}: rule used twice: {', '.join(sorted(repeated))}")


def _columns(expectation: dict[str, Any]) -> list[str]:
    kwargs = expectation.get("kwargs", {})
    return [*_looked_at(kwargs), *kwargs.get("row_condition", {}).get("column", {}).values()]


def _looked_at(kwargs: dict[str, Any]) -> list[str]:
    named = [kwargs[key] for key in ("column", "column_A", "column_B") if key in kwargs]
    return [*named, *kwargs.get("column_list", [])]


def _build(path: Path, document: dict[str, Any]) -> "ExpectationSuite":
    validation_context.shared_context()
    from great_expectations import ExpectationSuite  # noqa: PLC0415 - takes seconds

    # Data Docs show the notes of an expectation: its reason.
    noted = [one | {"notes": one["meta"]["reason"]} for one in document["expectations"]]
    try:
        suite = ExpectationSuite(name=path.stem, expectations=noted, meta=document.get("meta"))
    except (TypeError, ValueError) as error:
        raise SuiteError(f"{path}: {error}") from error
    # Great Expectations logs an expectation it cannot build and goes on without it.
    if len(suite.expectations) != len(document["expectations"]):
        kept = {expectation.expectation_type for expectation in suite.expectations}
        lost = [kind for kind in (one["type"] for one in document["expectations"]) if kind not in kept]
        raise SuiteError(
            f"{path}: not an expectation, or wrong arguments: {', '.join(lost) or 'one of them'}"
        )
    return suite

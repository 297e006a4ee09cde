"""Tells how a data contract differs from an earlier one, and whether it keeps what that one promised."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from typing import Any

import pyarrow as pa

from transit_etl.warehouse.describing.contract import DEPRECATION_DAYS, Contract

_PROMISED = ("physicalType", "primaryKey", "primaryKeyPosition", "required", "unit")
_CHANGES: dict[str, pa.DataType] = {
    "table": pa.string(), "column": pa.string(), "change": pa.string(), "is_breaking": pa.bool_(),
    "deprecated_since": pa.date32(),
}  # fmt: skip
_DEPRECATIONS: dict[str, pa.DataType] = {
    "table": pa.string(), "column": pa.string(), "deprecated_since": pa.date32(), "stays_until": pa.date32(),
    "replaced_by": pa.string(),
}  # fmt: skip
_Tables = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ContractChange:
    """A table or column that differs; one that breaks a promise needs a new major version."""

    table: str
    column: str | None
    change: str
    is_breaking: bool
    deprecated_since: date | None = None


def contract_changes(earlier: Mapping[str, Contract], later: Mapping[str, Contract]) -> list[ContractChange]:
    """List the tables and columns that were added, removed or changed; descriptions may change."""
    before, after = _tables(earlier), _tables(later)
    found: list[ContractChange] = []
    for name in sorted({*before, *after}):
        if name not in after:
            found.append(_removed(name, None, before[name]))
        elif name not in before:
            found.append(ContractChange(name, None, "added", is_breaking=False))
        else:
            found += _column_changes(name, before[name], after[name])
    return found


def broken_promises(earlier: Mapping[str, Contract], later: Mapping[str, Contract], today: date) -> list[str]:
    """Say in one line each what a contract may not change, given the versions of both.

    Only a new major version may remove or change, and only what was deprecated for long enough; what is added
    needs a new minor version.
    """
    old, new = version_of(earlier), version_of(later)
    changes = contract_changes(earlier, later)
    long_ago = today - timedelta(days=DEPRECATION_DAYS)
    found = []
    for each in changes:
        place = each.table if each.column is None else f"{each.table}.{each.column}"
        if each.is_breaking and new[0] <= old[0]:
            found.append(f"{place}: {each.change}; that needs a new major version")
        elif each.is_breaking and (each.deprecated_since is None or each.deprecated_since > long_ago):
            found.append(f"{place}: {each.change}; it was not deprecated for {DEPRECATION_DAYS} days")
        elif new[:2] <= old[:2]:
            found.append(f"{place}: {each.change}; that needs a new minor version")
    return (
        found
        if new >= old
        else [f"the version goes back from {version_text(old)} to {version_text(new)}", *found]
    )


def changes_table(changes: Iterable[ContractChange]) -> pa.Table:
    """Return changes as rows."""
    return pa.Table.from_pylist([asdict(each) for each in changes], pa.schema(_CHANGES))


def deprecations_table(contracts: Mapping[str, Contract]) -> pa.Table:
    """Return what a contract has deprecated as rows, with until when it stays and what replaces it."""
    rows = []
    for name, table in _tables(contracts).items():
        for column, entry in ((None, table), *((each["name"], each) for each in table["properties"])):
            since = _deprecated_since(entry)
            if since:
                rows.append(
                    {
                        "table": name,
                        "column": column,
                        "deprecated_since": since,
                        "stays_until": since + timedelta(days=DEPRECATION_DAYS),
                        "replaced_by": facts_of(entry).get("replacedBy"),
                    }
                )
    return pa.Table.from_pylist(rows, pa.schema(_DEPRECATIONS))


def _tables(contracts: Mapping[str, Contract]) -> _Tables:
    return {
        f"{schema}.{table['name']}": table for schema, each in contracts.items() for table in each["schema"]
    }


def _column_changes(
    name: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[ContractChange]:
    old, new = ({each["name"]: each for each in table["properties"]} for table in (before, after))
    for column in dict.fromkeys([*old, *new]):
        if column not in new:
            yield _removed(name, column, old[column], before)
        elif column not in old:
            yield ContractChange(name, column, "added", is_breaking=False)
        else:
            yield from _promise_changes(name, column, old[column], new[column])


def _promise_changes(
    name: str, column: str, before: Mapping[str, Any], after: Mapping[str, Any]
) -> Iterator[ContractChange]:
    old, new = _promises(before), _promises(after)
    for promise in _PROMISED:
        if old[promise] != new[promise]:
            yield ContractChange(
                name,
                column,
                f"{promise} is {new[promise]} instead of {old[promise]}",
                # a column that gets no null any more disturbs nobody
                is_breaking=not (promise == "required" and new[promise]),
                deprecated_since=_deprecated_since(before),
            )


def _promises(entry: Mapping[str, Any]) -> dict[str, Any]:
    facts = facts_of(entry)
    return {promise: entry.get(promise, facts.get(promise)) for promise in _PROMISED}


def _removed(
    name: str, column: str | None, entry: Mapping[str, Any], table: Mapping[str, Any] | None = None
) -> ContractChange:
    since = _deprecated_since(entry) or (_deprecated_since(table) if table else None)
    return ContractChange(name, column, "removed", is_breaking=True, deprecated_since=since)


def _deprecated_since(entry: Mapping[str, Any]) -> date | None:
    since = facts_of(entry).get("deprecatedSince")
    return date.fromisoformat(since) if since else None


def facts_of(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the custom properties of a table or column by their names."""
    return {each["property"]: each["value"] for each in entry.get("customProperties", ())}


def version_of(contracts: Mapping[str, Contract]) -> tuple[int, ...]:
    """Return the version of a contract as numbers, to be compared."""
    return max(tuple(map(int, str(each["version"]).split("."))) for each in contracts.values())


def version_text(version: tuple[int, ...]) -> str:
    """Write a version as contracts have it."""
    return ".".join(map(str, version))

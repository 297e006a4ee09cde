"""The data contract says what the published file promises, in a form that tools of the standard check."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from copy import deepcopy
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.accounting import rehearse_world
from tests.documents.sessions import ROOT
from tests.test_fault_matrix import LARGEST_BODY, TIMEOUT_SECONDS, fault_of
from tests.warehouse.lakes import TUESDAY
from transit_base import promised
from transit_emulator.faults.definitions import FaultKind
from transit_emulator.world import build_world
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse.building import builder, dbt
from transit_etl.warehouse.describing.column_rules import broken_rules
from transit_etl.warehouse.describing.contract import (
    CONTRACT_VERSION,
    DEPRECATION_DAYS,
    Contract,
    ContractError,
    contracts,
    read_contract,
    write_contract,
)
from transit_etl.warehouse.describing.contract_changes import (
    broken_promises,
    changes_table,
    contract_changes,
    deprecations_table,
)
from transit_etl.warehouse.describing.contract_summary import read_earlier, write_summary
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.dictionary import FoundColumn, read_dictionary
from transit_etl.warehouse.describing.models import described_tables

CLIENT = ROOT / ".venv" / "datacontract-cli"  # scripts/setup.sh installs it
STORED = ROOT / "docs" / "contract.yaml"
TODAY = date(2026, 11, 26)
LONG_AGO = TODAY - timedelta(days=DEPRECATION_DAYS)
# Prints for each file whether it is valid, and the checks of its tables that did not pass.
PROGRAM = """
import json, sys
from datacontract.data_contract import DataContract
found = {}
for path in json.load(sys.stdin):
    checks = DataContract(data_contract_file=path).lint().checks
    linted = len(checks)
    if "--test" in sys.argv:
        checks = checks + DataContract(data_contract_file=path, server="published").test().checks
    results = [(str(each.name), each.reason) for each in checks if each.result.value != "passed"]
    found[path] = (linted, len(checks), results)
json.dump(found, sys.__stdout__)
"""
Contracts = dict[str, Contract]
Answer = dict[str, tuple[int, int, list[list[str]]]]


@pytest.fixture(scope="module")
def published(built: Settings) -> Contracts:
    """Give the contract of the published stories."""
    return read_contract(paths.contract_dir(built.data_dir))


def ask_client(folder: Path, *options: str) -> Answer:
    """Let datacontract-cli examine the contract in a folder, beside the database that it names."""
    files = sorted(str(path) for path in (folder / "contract").iterdir())
    asked = subprocess.run(
        [sys.executable, "-c", PROGRAM, *options],
        cwd=folder,
        input=json.dumps(files),
        env={**os.environ, "PYTHONPATH": str(CLIENT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == asked.returncode, asked.stderr
    answer: Answer = json.loads(asked.stdout.splitlines()[-1])
    return answer


def test_the_contract_of_a_schema_is_valid_and_kept(built: Settings, tmp_path: Path) -> None:
    source = paths.published_database(built.data_dir)
    shutil.copy(source, tmp_path / source.name)
    (tmp_path / "contract").mkdir()
    shutil.copy(paths.contract_dir(built.data_dir) / "quality.odcs.yaml", tmp_path / "contract")
    [(n_linted, n_checks, failed)] = ask_client(tmp_path, "--test").values()

    assert [] == failed
    assert n_linted >= 1
    assert n_checks > 200


@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_is_valid_by_the_schema_of_the_standard_and_the_file_of_bad_days_keeps_it(tmp_path: Path) -> None:
    rehearse_world(
        tmp_path,
        build_world(seed=5, has_revisions=True),
        datetime(2026, 11, 18, 7, tzinfo=UTC),
        30,
        [fault_of(kind, 0.02) for kind in FaultKind],
        max_body_bytes=LARGEST_BODY,
        total_timeout_seconds=TIMEOUT_SECONDS,
    )
    settings = Settings(data_dir=tmp_path / "data")
    warehouse.build(settings)
    answer = ask_client(warehouse.publish(settings).parent, "--test")

    assert len(promised.SCHEMAS) == len(answer)
    assert {path: [] for path in answer} == {path: failed for path, (_, _, failed) in answer.items()}
    assert all(n_linted >= 1 for n_linted, _, _ in answer.values())
    assert sum(n_checks for _, n_checks, _ in answer.values()) > 4500


@pytest.mark.long
def test_a_file_that_breaks_it_fails_its_test(built: Settings, tmp_path: Path) -> None:
    source = paths.published_database(built.data_dir)
    shutil.copy(source, tmp_path / source.name)
    (tmp_path / "contract").mkdir()
    shutil.copy(paths.contract_dir(built.data_dir) / "core.odcs.yaml", tmp_path / "contract")
    with duckdb.connect(tmp_path / source.name) as connection:
        connection.execute(
            "update core.stop_visits set punctuality = 'nice' where rowid = 0; "
            "insert into core.trips from core.trips limit 1; "
            "alter table core.requests alter n_rows type varchar; "
            "update core.scheduled_departures set operator = null where rowid = 0"
        )
    [(_, _, failed)] = ask_client(tmp_path, "--test").values()
    text = " ".join(f"{name} {reason}" for name, reason in failed)

    for part in ("punctuality", "n_rows", "duplicate", "operator"):
        assert part in text


def test_a_build_checks_each_rule_of_a_column_that_no_check_of_dbt_holds(
    published: Contracts, manifest: Manifest
) -> None:
    by_dbt = {(each.schema, each.name): each.never_null for each in described_tables(manifest)}
    expected: Counter[str] = Counter()
    with duckdb.connect() as connection:
        for schema, document in published.items():
            connection.execute(f"create schema {schema}")
            for table in document["schema"]:
                place = f"{schema}.{table['name']}"
                columns = {each["name"]: each for each in table["properties"]}
                types = ", ".join(f'"{name}" {each["physicalType"]}' for name, each in columns.items())
                connection.execute(f"create table {place} ({types}); insert into {place} default values")
                required = {name for name, each in columns.items() if each.get("required")}
                expected.update(
                    f"{place}: {name}" for name in required - by_dbt.get((schema, table["name"]), set())
                )
                for bound, step in (("minimum", -1), ("maximum", 1)):
                    beyond = {
                        f'"{name}"': each["logicalTypeOptions"][bound] + step
                        for name, each in columns.items()
                        if bound in each.get("logicalTypeOptions", {})
                    }
                    expected.update(f"{place}: {name}" for name in map(_unquoted, beyond))
                    if beyond:
                        values = ", ".join(map(str, beyond.values()))
                        connection.execute(f"insert into {place} ({', '.join(beyond)}) values ({values})")
        found = Counter(each.partition(" is ")[0] for each in broken_rules(connection, manifest, [TODAY]))

    assert expected.total() > 1300
    assert expected == found & expected


def test_a_build_fails_where_rows_break_a_rule_and_not_by_what_upstream_answers(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = built.model_copy(update={"data_dir": tmp_path / "data"})
    shutil.copytree(built.data_dir, settings.data_dir)
    monkeypatch.setattr(builder, "build_dates", lambda *_args, **_kwargs: dbt.DbtResult(0, 0))

    def build_with(*statements: str) -> warehouse.BuildReport:
        with duckdb.connect(paths.build_database(settings.data_dir)) as connection:
            for statement in statements:
                connection.execute(statement)
        return warehouse.build(settings, first_date=TUESDAY, last_date=TUESDAY)

    report = build_with(
        "update core.requests set attempts = 0", "update marts.disruptions set category_meaning = null"
    )
    assert 1 == report.n_dates
    broken = r"rules of columns .*: marts.travel_times: due_seconds_sum is 0 or more, but not in \d rows$"
    with pytest.raises(warehouse.BuildFailedError, match=broken):
        build_with("update marts.travel_times set due_seconds_sum = -1120")
    with pytest.raises(warehouse.UncheckedBuildError):
        warehouse.publish(settings)


def _unquoted(name: str) -> str:
    return name.strip('"')


def test_no_promised_column_has_a_type_that_few_programs_read_as_a_number(published: Contracts) -> None:
    """Programs read a decimal of 38 digits, and an integer of 128 bits, as an object or not at all."""
    types = {
        f"{schema}.{table['name']}.{column['name']}": column["physicalType"]
        for schema, document in published.items()
        for table in document["schema"]
        for column in table["properties"]
    }

    assert {} == {
        place: kind for place, kind in types.items() if kind.startswith(("hugeint", "uhugeint", "decimal(38"))
    }


def test_it_has_every_promised_table_and_column_and_no_other(built: Settings, published: Contracts) -> None:
    with duckdb.connect(paths.published_database(built.data_dir), read_only=True) as connection:
        found = connection.execute(
            "select schema_name, table_name, column_name, lower(data_type) from duckdb_columns() "
            f"where schema_name in {promised.SCHEMAS}"
        ).fetchall()
    described = [
        (schema, table["name"], column["name"], column["physicalType"])
        for schema, each in published.items()
        for table in each["schema"]
        for column in table["properties"]
    ]

    assert {*promised.SCHEMAS} == published.keys()
    assert sorted(found) == sorted(described)


def _table(published: Contracts, place: str) -> dict[str, Any]:
    schema, _, name = place.partition(".")
    [table] = [table for table in published[schema]["schema"] if table["name"] == name]
    return dict(table)


def _column(published: Contracts, place: str) -> dict[str, Any]:
    table, _, name = place.rpartition(".")
    [column] = [column for column in _table(published, table)["properties"] if column["name"] == name]
    return dict(column)


def test_a_column_has_its_type_range_values_and_unit(published: Contracts) -> None:
    share = _column(published, "marts.punctuality_shares.on_time_share")
    quality = _column(published, "core.stop_visits.arrival_quality")
    visits = _column(published, "marts.punctuality.n_visits")
    rulesets = _column(published, "quality.publication.rulesets")

    assert ("number", {"minimum": 0.0, "maximum": 1.0}) == (share["logicalType"], share["logicalTypeOptions"])
    assert "required" not in share
    assert ["evidenced", "bounded", "estimated", "untracked"] == (
        quality["quality"][0]["arguments"]["validValues"]
    )
    assert ({"minimum": 0}, True) == (visits["logicalTypeOptions"], visits["required"])
    assert {"property": "unit", "value": "count"} in visits["customProperties"]
    assert ("array", {"logicalType": "integer", "physicalType": "bigint"}) == (
        rulesets["logicalType"],
        rulesets["items"],
    )


def test_a_key_is_a_primary_key_unless_a_part_of_it_may_be_null(published: Contracts) -> None:
    days = _table(published, "core.service_days")
    hours = _table(published, "marts.punctuality")

    assert [("operator", 1), ("service_date", 2)] == [
        (column["name"], column["primaryKeyPosition"])
        for column in days["properties"]
        if "primaryKey" in column
    ]
    assert not any("primaryKey" in column for column in hours["properties"])
    assert {"properties": ["operator", "service_date", "line_code", "direction", "service_hour"]} == hours[
        "quality"
    ][0]["arguments"]


def test_what_checks_demand_of_rows_are_rules_of_their_table(published: Contracts) -> None:
    rules = {
        each["description"]: each["query"]
        for each in _table(published, "core.stop_visits")["quality"]
        if "query" in each
    }

    assert (
        "select count(*) from ${table} "
        "where not coalesce(coalesce(is_full_share between 0 and 1, true), false)"
        == rules["the share lies between 0 and 1"]
    )
    assert not any(name.startswith("known values of") for name in rules)


@pytest.mark.parametrize(
    ("contact", "url", "tool"),
    [
        ("data@example.org", "mailto:data@example.org", "email"),
        ("https://example.org/data", "https://example.org/data", "other"),
        (None, None, None),
    ],
)
def test_what_settings_say_is_in_it(
    manifest: Manifest, contact: str | None, url: str | None, tool: str | None
) -> None:
    settings = Settings(publisher_contact=contact, check_published_hours=2, raw_keep_days=90)
    made = contracts(read_dictionary([], manifest), manifest, settings)
    levels = {
        (each["property"], each["value"], each.get("unit")) for each in made["quality"]["slaProperties"]
    }

    assert {("freshness", 2, "h"), ("retention", "unlimited", None), ("retention", 90, "d")} == levels
    assert ([] if url is None else [(url, tool)]) == [
        (each["url"], each["tool"]) for each in made["core"].get("support", [])
    ]


def test_the_published_file_names_the_version_of_its_contract(built: Settings, published: Contracts) -> None:
    with duckdb.connect(paths.published_database(built.data_dir), read_only=True) as connection:
        rows = connection.execute("select contract_version from quality.publication").fetchall()

    assert [(CONTRACT_VERSION,)] == rows
    assert {CONTRACT_VERSION} == {each["version"] for each in published.values()}


def test_the_last_version_is_kept_and_nothing_of_it_is_broken(published: Contracts) -> None:
    stored = read_earlier(STORED)

    assert [] == broken_promises(stored, published, date.today())  # noqa: DTZ011 - the day a deprecation ends
    assert [] == contract_changes(stored, published), "transit-etl contract docs/contract.yaml --keep"


@pytest.fixture
def earlier(published: Contracts) -> Contracts:
    """Give a contract of some tables, to be changed."""
    return {
        schema: {
            "version": "1.0.0",
            "schema": [deepcopy(_table(published, f"{schema}.{name}")) for name in names],
        }
        for schema, names in {
            "core": ("stop_visits", "trips"),
            "marts": ("crowding", "punctuality", "punctuality_shares"),
        }.items()
    }


@pytest.fixture
def later(earlier: Contracts) -> Contracts:
    """Give a copy of it, to be changed too."""
    return deepcopy(earlier)


def _set_version(documents: Contracts, version: str) -> None:
    for each in documents.values():
        each["version"] = version


def _remove_column(documents: Contracts, place: str) -> None:
    table, _, name = place.rpartition(".")
    properties = _table(documents, table)["properties"]
    properties[:] = [column for column in properties if column["name"] != name]


def _deprecate(entry: dict[str, Any], since: date) -> None:
    entry.setdefault("customProperties", []).append(
        {"property": "deprecatedSince", "value": since.isoformat()}
    )


def _column_in(documents: Contracts, place: str) -> dict[str, Any]:
    table, _, name = place.rpartition(".")
    return next(column for column in _table(documents, table)["properties"] if column["name"] == name)


def test_a_column_cannot_vanish_within_a_major_version(earlier: Contracts, later: Contracts) -> None:
    _remove_column(later, "core.trips.outcome")
    _set_version(later, "1.9.0")

    assert ["core.trips.outcome: removed; that needs a new major version"] == (
        broken_promises(earlier, later, TODAY)
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("physicalType", "varchar"), ("required", False)],
)
def test_a_column_cannot_change_what_is_promised_of_it(
    earlier: Contracts, later: Contracts, field: str, value: object
) -> None:
    _column_in(later, "marts.punctuality.n_visits")[field] = value
    [broken] = broken_promises(earlier, later, TODAY)

    assert f"marts.punctuality.n_visits: {field} is {value}" in broken
    assert "needs a new major version" in broken


def test_a_column_keeps_its_unit(earlier: Contracts, later: Contracts) -> None:
    for each in _column_in(later, "core.stop_visits.delay_seconds")["customProperties"]:
        if each["property"] == "unit":
            each["value"] = "minutes"

    assert [
        "core.stop_visits.delay_seconds: unit is minutes instead of seconds; that needs a new major version"
    ] == (broken_promises(earlier, later, TODAY))


def test_what_was_not_deprecated_for_long_enough_cannot_go_even_then(
    earlier: Contracts, later: Contracts
) -> None:
    _set_version(later, "2.0.0")
    _remove_column(later, "core.trips.outcome")

    assert [f"core.trips.outcome: removed; it was not deprecated for {DEPRECATION_DAYS} days"] == (
        broken_promises(earlier, later, TODAY)
    )
    _deprecate(_column_in(earlier, "core.trips.outcome"), LONG_AGO + timedelta(days=1))
    assert 1 == len(broken_promises(earlier, later, TODAY))
    assert [] == broken_promises(earlier, later, TODAY + timedelta(days=1))


def test_a_table_goes_with_its_columns_once_it_was_deprecated(earlier: Contracts, later: Contracts) -> None:
    later["marts"]["schema"] = [each for each in later["marts"]["schema"] if each["name"] != "crowding"]
    assert ["marts.crowding: removed; that needs a new major version"] == (
        broken_promises(earlier, later, TODAY)
    )
    _set_version(later, "2.0.0")
    _deprecate(_table_in(earlier, "marts.crowding"), LONG_AGO)

    assert [] == broken_promises(earlier, later, TODAY)


def _table_in(documents: Contracts, place: str) -> dict[str, Any]:
    schema, _, name = place.partition(".")
    return next(table for table in documents[schema]["schema"] if table["name"] == name)


def test_what_is_added_needs_a_minor_version(earlier: Contracts, later: Contracts) -> None:
    _remove_column(earlier, "core.trips.outcome")

    assert ["core.trips.outcome: added; that needs a new minor version"] == (
        broken_promises(earlier, later, TODAY)
    )
    _set_version(later, "1.1.0")
    assert [] == broken_promises(earlier, later, TODAY)


def test_a_version_never_goes_back(earlier: Contracts, later: Contracts) -> None:
    _set_version(later, "0.9.0")

    assert ["the version goes back from 1.0.0 to 0.9.0"] == broken_promises(earlier, later, TODAY)


def test_a_column_that_gets_no_null_any_more_is_no_breach(earlier: Contracts, later: Contracts) -> None:
    _column_in(later, "marts.punctuality_shares.on_time_share")["required"] = True
    _set_version(later, "1.1.0")

    assert [] == broken_promises(earlier, later, TODAY)
    assert [False] == changes_table(contract_changes(earlier, later))["is_breaking"].to_pylist()


def test_a_deprecation_in_the_meta_is_said_in_descriptions_and_contract(manifest: Manifest) -> None:
    changed = deepcopy(manifest)
    [node] = [each for each in changed["nodes"].values() if each["name"] == "trips" and "columns" in each]
    node["columns"]["outcome"]["config"] = {
        "meta": {"deprecated": {"since": "2026-06-01", "replaced_by": "core.trips.ending"}}
    }
    dictionary = read_dictionary([FoundColumn("core", "trips", "outcome", "VARCHAR", 1)], changed)
    made = contracts(dictionary, changed, Settings())

    assert dictionary.columns[0].meaning.endswith("Deprecated since 2026-06-01: use core.trips.ending.")
    assert [
        {
            "table": "core.trips",
            "column": "outcome",
            "deprecated_since": date(2026, 6, 1),
            "stays_until": date(2026, 11, 28),
            "replaced_by": "core.trips.ending",
        }
    ] == deprecations_table(made).to_pylist()
    assert ["deprecated"] == _column(made, "core.trips.outcome")["tags"]


def test_what_replaces_a_deprecated_column_exists(published: Contracts) -> None:
    names = {
        f"{schema}.{table['name']}{suffix}"
        for schema, each in published.items()
        for table in each["schema"]
        for suffix in ("", *(f".{column['name']}" for column in table["properties"]))
    }

    assert {*deprecations_table(published)["replaced_by"].to_pylist()} <= names


def test_it_is_written_again_only_where_it_differs(published: Contracts, tmp_path: Path) -> None:
    folder = tmp_path / "contract"
    write_contract(folder, published)
    before = folder.stat().st_ino
    write_contract(folder, read_contract(folder))
    assert before == folder.stat().st_ino
    write_contract(folder, {"core": published["core"]})

    assert ["core.odcs.yaml"] == [path.name for path in folder.iterdir()]


@pytest.mark.parametrize(
    "text", ["", "[]", "version: 1.0.0", "version: a\ncore.lines.a: {}", "core.a: {}", "a: ["]
)
def test_a_file_that_is_no_summary_is_named_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "contract.yaml"
    path.write_text(text)

    with pytest.raises(
        ContractError, match=f"^{re.escape(str(path))} is no summary of a data contract: [^\n]+$"
    ):
        read_earlier(path)


def test_a_summary_has_all_that_is_compared(earlier: Contracts, tmp_path: Path) -> None:
    _deprecate(_table_in(earlier, "marts.crowding"), LONG_AGO)
    _deprecate(_column_in(earlier, "core.trips.outcome"), LONG_AGO)
    write_summary(tmp_path / "contract.yaml", earlier)
    kept = read_earlier(tmp_path / "contract.yaml")

    assert [] == contract_changes(earlier, kept)
    assert 2 == deprecations_table(kept).num_rows
    assert deprecations_table(earlier) == deprecations_table(kept)


@pytest.mark.parametrize("text", ["[]", "version: 1", "version: 1.0.0\nschema: [{}]", "a: [", "\x00"])
def test_a_file_that_is_no_contract_is_named_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "core.odcs.yaml"
    path.write_text(text)

    with pytest.raises(ContractError, match=f"^{re.escape(str(path))} is no data contract: [^\n]+$"):
        read_contract(tmp_path)


def test_a_folder_without_a_contract_says_what_writes_one(tmp_path: Path) -> None:
    with pytest.raises(ContractError, match="`transit-etl publish` writes one"):
        read_contract(tmp_path)


def test_the_set_up_installs_the_client() -> None:
    assert (ROOT / "scripts" / "datacontract-cli.lock").is_file()
    assert (CLIENT / "datacontract").is_dir()

"""The command `contract` on small contracts: what changed, what is broken, and what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import RunCli
from transit_etl.paths import contract_dir
from transit_etl.warehouse.describing.contract import write_contract
from transit_etl.warehouse.describing.contract_summary import read_earlier, write_summary


def _document(version: str, *columns: str) -> dict[str, Any]:
    properties = [{"name": name, "physicalType": "varchar"} for name in columns]
    return {"version": version, "schema": [{"name": "lines", "properties": properties}]}


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """Write the contract of the data folder, and the summary of one without a column; return its path."""
    write_contract(contract_dir(tmp_path / "data"), {"core": _document("1.1.0", "line_code", "note")})
    write_summary(tmp_path / "earlier.yaml", {"core": _document("1.0.0", "line_code")})
    return tmp_path / "earlier.yaml"


def test_the_summary_of_an_earlier_contract_is_replaced_if_it_is_kept(cli: RunCli, earlier: Path) -> None:
    done = cli("contract", str(earlier), "--keep", "--json")

    assert 0 == done.returncode
    assert [("core.lines", "note", "added", False)] == [
        tuple(row.values())[:4] for row in json.loads(done.stdout)
    ]
    assert "1.1.0" == read_earlier(earlier)["core"]["version"]


def test_a_broken_promise_is_one_line_and_nothing_is_replaced(cli: RunCli, earlier: Path) -> None:
    write_summary(earlier, {"core": _document("1.0.0", "line_code", "line_name")})
    done = cli("contract", str(earlier), "--keep")

    assert 1 == done.returncode
    assert "transit-etl: core.lines.line_name: removed; that needs a new major version\n" == done.stderr
    assert "1.0.0" == read_earlier(earlier)["core"]["version"]


def test_an_earlier_contract_as_published_is_compared_and_never_replaced(cli: RunCli, tmp_path: Path) -> None:
    write_contract(contract_dir(tmp_path / "data"), {"core": _document("1.1.0", "line_code", "note")})
    write_contract(tmp_path / "copy", {"core": _document("1.0.0", "line_code")})

    assert "note" in cli("contract", str(tmp_path / "copy"), "--json").stdout
    kept = cli("contract", str(tmp_path / "copy"), "--keep")
    assert 2 == kept.returncode
    assert "--keep writes a file" in kept.stderr


def test_without_an_earlier_one_it_lists_what_is_deprecated(cli: RunCli, tmp_path: Path) -> None:
    document = _document("1.0.0", "line_code")
    document["schema"][0]["properties"][0]["customProperties"] = [
        {"property": "deprecatedSince", "value": "2026-06-01"},
        {"property": "replacedBy", "value": "core.lines.line_key"},
    ]
    write_contract(contract_dir(tmp_path / "data"), {"core": document})

    assert [
        {
            "table": "core.lines", "column": "line_code", "deprecated_since": "2026-06-01",
            "stays_until": "2026-11-28", "replaced_by": "core.lines.line_key",
        }
    ] == json.loads(cli("contract", "--json").stdout)  # fmt: skip

"""A new endpoint is collected, staged, validated, built and shown once it is added where the README says."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.hostile import Reply, json_reply, serving
from transit_etl.paths import build_database, published_database

ROOT = Path(__file__).parents[1]
DEPOTS = [
    {"codice": "D1", "nome": "Gavette", "posti": "120"},
    {"codice": "", "nome": "Mangini"},
    {"codice": "D3", "nome": "Staglieno", "colore": "red"},
]
pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def put_before(path: Path, mark: str, text: str) -> None:
    """Insert a text before the only place in a file that reads as the mark."""
    content = path.read_text()
    assert 1 == content.count(mark), path
    path.write_text(content.replace(mark, text + mark))


def add_the_endpoint(tree: Path) -> None:
    """Do what the README says under "To add a dataset"."""
    put_before(
        tree / "transit_etl/endpoints.py",
        '    _version_0("v0_transits"',
        """\
    Endpoint(
        name="depots",
        path="rimesse",
        asked=Asked.ONCE,
        dag="network",
        shape=Shape.ROWS,
        dataset="depots",
    ),
""",
    )
    put_before(
        tree / "transit_etl/lake_schemas.py",
        "    # One row per expectation and batch",
        """\
    # One row per depot listed.
    "depots": _table(*_ANSWER, ("depot_code", TEXT), ("name", TEXT), ("n_places", WHOLE), ("extra", TEXT)),
""",
    )
    (tree / "transit_etl/stage/sql/depots.sql").write_text("""\
-- One row per depot listed.
create or replace temp table answers as
select operator, request_id, "window", received_at, as_list(try(body::json)) as rows, len(rows) as n_rows
from raw
where is_read;

with listed as (
    select * exclude (rows, n_rows), unnest(rows) as r from answers
)
select
    operator,
    request_id,
    "window",
    received_at,
    nullif(trim(as_text(r -> 'codice')), '') as depot_code,
    clean_text(as_text(r -> 'nome')) as name,
    as_whole(r -> 'posti') as n_places,
    extra_text(left_over(r, map {'codice': 'text', 'nome': 'text', 'posti': 'whole'}, '')) as extra
from listed
order by received_at, request_id, depot_code
""")
    expectation = {
        "type": "expect_column_values_to_not_be_null",
        "kwargs": {"column": "depot_code"},
        "meta": {"rule": "code_present", "scope": "row", "reason": "A depot is identified by its code."},
    }
    (tree / "expectations/depots.json").write_text(
        json.dumps({"name": "depots", "expectations": [expectation], "meta": {}})
    )
    (tree / "sql/models/staging/staging_depots.sql").write_text("""\
-- One row per depot listed.
select
    operator,
    received_at,
    depot_code,
    name,
    n_places,
    extra,
    try_cast(date as date) as received_date
from {{ lake('depots') }}
""")
    put_before(tree / "sql/models/quality/drift_days.sql", "'news_details'] -%}", "'depots', ")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the project with the endpoint added."""
    copy = tmp_path_factory.mktemp("project")
    for name in ("transit_base", "transit_etl", "sql", "expectations", "dags"):
        ignored = shutil.ignore_patterns("target", "logs")
        shutil.copytree(ROOT / name, copy / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", copy)
    add_the_endpoint(copy)
    return copy


@dataclass(frozen=True)
class Installation:
    """The changed project with a data folder of its own, and an upstream that answers depots alone."""

    tree: Path
    data_dir: Path
    base_url: str

    def run(self, *arguments: str) -> str:
        """Run Python in the changed project and return what it prints."""
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.tree,
            env={
                **{name: value for name, value in os.environ.items() if not name.startswith("TRANSIT_")},
                "PYTHONPATH": str(self.tree),
                "TRANSIT_DATA_DIR": str(self.data_dir),
                "TRANSIT_BASE_URL": self.base_url,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def query(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query on the published warehouse."""
        with duckdb.connect(published_database(self.data_dir), read_only=True) as connection:
            return connection.execute(sql).fetchall()


@pytest.fixture(scope="module")
def installation(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Return an installation that has collected depots and published them."""

    def answer(path: str) -> Reply:
        assert path.endswith("/api/v1/rimesse")
        return json_reply(DEPOTS)

    with serving(answer) as base_url:
        made = Installation(tree, tmp_path_factory.mktemp("installation") / "data", base_url)
        for command in (["collect", "depots"], ["stage"], ["build"], ["publish"]):
            made.run("-m", "transit_etl.cli", *command)
        yield made


def test_it_is_collected_staged_and_built(installation: Installation) -> None:
    with duckdb.connect(build_database(installation.data_dir), read_only=True) as connection:
        query = "select depot_code, name, n_places from staging.depots order by depot_code"
        depots = connection.execute(query).fetchall()

    assert [("D1", "Gavette", 120), ("D3", "Staglieno", None)] == depots


def test_its_requests_are_in_the_ledger(installation: Installation) -> None:
    requests = installation.query("select endpoint, key, outcome, n_rows from core.requests")

    assert [("depots", "", "ok", 3)] == requests


def test_its_rows_are_validated(installation: Installation) -> None:
    results = installation.query(
        "select rule, n_rows, n_unexpected from quality.validation_results where dataset = 'depots'"
    )

    assert [("code_present", 3, 1)] == results


def test_keys_that_no_column_holds_are_reported(installation: Installation) -> None:
    drift = installation.query("select dataset, kind, name, n from quality.drift")

    assert [("depots", "key", "colore", 1)] == drift


def test_status_counts_it(installation: Installation) -> None:
    status = json.loads(installation.run("-m", "transit_etl.cli", "status", "--json"))

    (network,) = (usage for usage in status["usage"] if usage["kind"] == "network")
    assert {"depots": 1} == network["endpoints"]
    assert [] == status["rejected"]
    assert {} == status["waiting"]


def test_its_dag_collects_and_stages_it(installation: Installation) -> None:
    program = (
        "from airflow.dag_processing.dagbag import DagBag\n"
        "bag = DagBag('dags')\n"
        "print(bag.import_errors, [task.task_id for task in bag.dags['network'].topological_sort()])\n"
    )

    assert (
        "{} ['lines', 'stage_lines', 'stops', 'stage_stops', 'depots', 'stage_depots', 'complete']"
        == installation.run("-c", program).splitlines()[-1]
    )

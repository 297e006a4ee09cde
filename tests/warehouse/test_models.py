"""The models themselves: their unit tests pass, and none reads more dates than a build is about."""

import json
import re
from pathlib import Path

import pytest

from tests.warehouse.date_filters import tables_read_whole
from tests.warehouse.dbt_runs import run_dbt
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.dbt_manifest import PROJECT, Manifest
from transit_etl.warehouse.describing.models import models, stages


def test_every_unit_test_of_the_models_passes(built: Settings, tmp_path: Path) -> None:
    target = run_dbt(built, tmp_path, "test", "--select", "test_type:unit")
    found = json.loads((target / "run_results.json").read_text(encoding="utf-8"))["results"]
    results = [result for result in found if result["unique_id"].startswith("unit_test.")]
    written = [
        name
        for path in (PROJECT / "models").rglob("*tests.yml")
        for name in re.findall(r"^  - name: (\S+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]

    assert sorted(written) == sorted(result["unique_id"].split(".")[-1] for result in results)
    assert {"pass"} == {result["status"] for result in results}


def test_a_model_reads_only_its_own_stage_and_those_before_it(manifest: Manifest) -> None:
    """The stages are the folders of the models; their order stands in `dbt_project.yml`."""
    order = stages()
    known = models(manifest)
    stage_of = {name: model.folder.as_posix() for name, model in known.items()}
    reads_later = [
        f"{name} ({stage_of[name]}) reads {read} ({stage_of[read]})"
        for name, model in known.items()
        for read in sorted(model.reads & known.keys())
        if order.index(stage_of[read]) > order.index(stage_of[name])
    ]

    assert sorted(order) == sorted(set(stage_of.values()))
    assert [] == reads_later


def test_a_model_that_reads_what_was_not_listed_asks_what_the_answers_prove() -> None:
    """Of an answer that lost rows, or is doubted, only what it lists counts."""
    presence = {
        "listings": "what is listed",
        "polled_stretches": "when a stop was asked",
    }
    sources = {path.stem: path.read_text(encoding="utf-8") for path in (PROJECT / "models").rglob("*.sql")}
    readers = {
        name: sql
        for name, sql in sources.items()
        if name not in presence and ("ref('stop_polls')" in sql or "join_proving_answers(" in sql)
    }
    careless = [
        name
        for name, sql in readers.items()
        if (sql.count("ref('stop_polls')") > min(sql.count("polls.is_complete"), sql.count("join_doubts(")))
        or "doubts.request_id is null" not in sql
    ]

    assert len(readers) > len(presence)
    assert [] == careless


@pytest.mark.long
def test_a_build_of_a_date_reads_only_the_dates_around_it_unless_the_model_says_why(
    built: Settings, tmp_path: Path
) -> None:
    """Without `is_built()` and the like a build would become slower with every day of history."""
    target = run_dbt(built, tmp_path, "compile")
    nodes = json.loads((target / "manifest.json").read_text(encoding="utf-8"))["nodes"].values()
    of_models = [node for node in nodes if node["resource_type"] == "model"]
    date_columns = {
        f"{node['schema']}.{node['alias']}": node["config"]["meta"].get("date_column", "service_date")
        for node in of_models
        if node["config"].get("incremental_strategy") == "service_dates"
        and node["config"]["materialized"] == "incremental"
    }
    date_columns |= {
        f"{node['schema']}.{node['alias']}": "received_date"
        for node in of_models
        if node["schema"] == "staging"
    }
    built_by_date = [
        node
        for node in nodes
        if node["resource_type"] in ("model", "test")
        and node["config"]["materialized"] in ("incremental", "table", "test")
    ]
    read_whole = {
        node["name"]: tables
        for node in built_by_date
        if node.get("compiled_code")
        and (tables := tables_read_whole(node["compiled_code"], date_columns))
        and "reads_all_dates" not in node["config"]["meta"]
    }

    assert len(date_columns) > 30
    assert {} == read_whole

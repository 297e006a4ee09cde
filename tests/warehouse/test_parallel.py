"""Builds by several workers: which models they share, and that their tables are those of one process."""

import re
import shutil
from datetime import date
from pathlib import Path

import pytest

from benchmarks.engines import SCHEMAS, compare_builds
from tests.published import promised_tables
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl import paths, warehouse
from transit_etl.settings import Engine, Settings
from transit_etl.warehouse import WarehouseError
from transit_etl.warehouse.building import dbt, parallel
from transit_etl.warehouse.describing.dbt_manifest import Manifest, is_demanded_at_once
from transit_etl.warehouse.describing.models import tables_by_date


def test_every_model_and_check_is_built_once_and_after_what_it_reads(manifest: Manifest) -> None:
    groups = parallel.groups_of(manifest)
    order = [groups.first, groups.by_date, groups.learned, groups.last]
    nodes = {".".join(node["fqn"]): node for node in manifest["nodes"].values() if _is_built(node)}
    position = {name: number for number, names in enumerate(order) for name in names}
    too_early = [
        (name, read)
        for name, node in nodes.items()
        for read in _read_by(node, manifest)
        if position[read] > position[name]
    ]

    assert sorted(nodes) == sorted(name for names in order for name in names)
    assert [] == too_early
    assert all(len(names) > 10 for names in order)


def test_workers_build_tables_by_date_alone(manifest: Manifest) -> None:
    groups = parallel.groups_of(manifest)
    nodes = {".".join(node["fqn"]): node for node in manifest["nodes"].values()}
    built = {
        node["alias"]
        for name in (*groups.by_date, *groups.learned)
        if (node := nodes[name])["resource_type"] == "model"
    }

    assert built <= {name for _, name in tables_by_date(manifest)}
    assert len(built) > 40


def test_a_model_of_workers_says_of_which_tables_it_reads_other_dates(manifest: Manifest) -> None:
    groups = parallel.groups_of(manifest)
    nodes = {".".join(node["fqn"]): node for node in manifest["nodes"].values()}
    of_workers = [nodes[name] for name in (*groups.by_date, *groups.learned)]
    by_date = {
        node["name"]
        for node in of_workers
        if node["resource_type"] == "model"
        and node["config"]["materialized"] == "incremental"
        and not node["config"]["meta"].get("days_around")  # each run makes the days around anew
    }
    read = {
        node["name"]: sorted(names)
        for node in of_workers
        if (names := by_date & set(re.findall(r"\bref\(['\"](\w+)", node["raw_code"])))
        and node["resource_type"] == "model"
    }
    said = {
        node["name"]: sorted(node["config"]["meta"]["other_dates_of"])
        for node in of_workers
        if node["config"]["meta"].get("other_dates_of")
    }

    assert {name: [each for each in names if each in by_date] for name, names in said.items()} == read
    assert set(read) <= {nodes[name]["name"] for name in groups.learned}


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(1200)
def test_workers_make_the_tables_that_one_process_makes(rehearsed: Rehearsed, tmp_path: Path) -> None:
    """Also of a date that is built once more."""
    data = rehearsed.settings.data_dir
    settings = rehearsed.settings.model_copy(update={"data_dir": tmp_path / "data", "build_workers": 2})
    shutil.copytree(data, settings.data_dir, ignore=shutil.ignore_patterns("warehouse", "dbt"))
    seen: list[dbt.BuildProgress] = []
    report = warehouse.build(settings, on_progress=seen.append)
    warehouse.build(settings, first_date=DAY, last_date=DAY)
    schemas = (*SCHEMAS, "headline")
    compared = list(compare_builds(data, settings.data_dir, schemas=schemas))

    assert {} == {each.table: each.differences for each in compared if each.differences}
    assert promised_tables(*schemas) <= {each.table for each in compared}
    assert len(seen) == seen[-1].n_done == seen[-1].n_total
    assert report.n_dates > 2
    assert not (paths.dbt_dir(settings.data_dir) / "workers").exists()
    warehouse.publish(settings)
    sentences = "select sentence from headline.on_time_network"
    assert warehouse.query(rehearsed.settings, sentences) == warehouse.query(settings, sentences)


@pytest.mark.long
def test_a_failure_of_one_worker_ends_the_build(
    built: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = built.model_copy(update={"data_dir": tmp_path / "data", "build_workers": 2})
    shutil.copytree(built.data_dir, settings.data_dir)
    days = [date(2026, 3, number) for number in range(1, 5)]
    ran: list[date] = []

    def run(*arguments: date, place: dbt.Workplace, **_: object) -> dbt.DbtResult:
        if place.folder.parent.name == "workers":
            ran.append(arguments[1])
            if len(ran) == 1:
                raise dbt.BuildFailedError("check a failed")
        return dbt.DbtResult(0, 0)

    monkeypatch.setattr(dbt, "run", run)
    with pytest.raises(dbt.BuildFailedError, match="check a failed"):
        parallel.build_in_parallel(settings, days, lock=0, on_progress=None)

    assert not (paths.dbt_dir(settings.data_dir) / "workers").exists()


def test_workers_are_not_for_spark(settings: Settings) -> None:
    with pytest.raises(WarehouseError, match="TRANSIT_BUILD_WORKERS"):
        dbt.require_engine(settings.model_copy(update={"build_target": Engine.SPARK, "build_workers": 2}))


def _is_built(node: Manifest) -> bool:
    return (
        node["resource_type"] in ("model", "seed", "test")
        and node["config"]["materialized"] != "ephemeral"
        and not is_demanded_at_once(node)
    )


def _read_by(node: Manifest, manifest: Manifest) -> list[str]:
    """Return what a node reads, also by way of models that are no tables or views."""
    found = []
    for name in node["depends_on"].get("nodes", ()):
        read = manifest["nodes"].get(name)
        if read is not None:
            found += [".".join(read["fqn"])] if _is_built(read) else _read_by(read, manifest)
    return found

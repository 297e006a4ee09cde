"""Each build leaves the documentation of its models as one page, the same for the same models."""

import json
import re
import shutil
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.dbt_manifest import PROJECT, Manifest
from transit_etl.warehouse.describing.dictionary import FoundColumn
from transit_etl.warehouse.describing.model_pages import model_page, model_page_policy, write_model_page

VISITS = "model.transit.stop_visits"


def page_of(settings: Settings) -> Path:
    return paths.models_dir(settings.data_dir) / "index.html"


def data_of(page: str, name: str) -> dict[str, Any]:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    data: dict[str, Any] = json.loads(found[1])
    return data


@pytest.fixture(scope="module")
def page(built: Settings) -> str:
    return page_of(built).read_text("utf-8")


@pytest.fixture
def copied(built: Settings, tmp_path: Path) -> Settings:
    """Return settings of a data folder with what the build left, of which the test may change all."""
    shutil.copytree(paths.dbt_dir(built.data_dir) / "target", paths.dbt_dir(tmp_path) / "target")
    paths.build_database(tmp_path).parent.mkdir()
    shutil.copy(paths.build_database(built.data_dir), paths.build_database(tmp_path))
    return built.model_copy(update={"data_dir": tmp_path})


def test_a_build_leaves_a_page_with_every_model_its_columns_and_their_types(page: str) -> None:
    nodes, catalog = data_of(page, "manifest")["nodes"], data_of(page, "catalog")["nodes"]

    files = {f"model.transit.{path.stem}" for path in (PROJECT / "models").rglob("*.sql")}
    assert files
    assert files <= nodes.keys()
    assert "when it was due" in nodes[VISITS]["description"]
    assert "date" == catalog[VISITS]["columns"]["service_date"]["type"]
    assert catalog[VISITS]["columns"].keys() == nodes[VISITS]["columns"].keys()
    assert "view" == catalog["model.transit.staging_passages"]["metadata"]["type"]


def test_the_page_names_no_folder_of_this_machine_and_no_moment(page: str, built: Settings) -> None:
    shown = data_of(page, "manifest")

    assert [] == [folder for folder in (built.data_dir, PROJECT) if str(folder) in page]
    assert {"generated_at", "invocation_id"}.isdisjoint(shown["metadata"])
    assert {"transit"} == {each["package_name"] for each in shown["macros"].values()}


def test_the_page_loads_nothing_and_admits_one_script_by_its_checksum(page: str) -> None:
    policy = model_page_policy()

    assert f'content="{policy}; ' in page
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy
    assert [] == re.findall(r"<(?:script|link|img|iframe)[^>]* (?:src|href)=", page.partition("<script>")[0])


def test_a_second_build_of_the_same_models_leaves_the_page_alone(copied: Settings) -> None:
    first = write_model_page(copied)
    path = page_of(copied)
    written_at = path.stat().st_mtime_ns
    manifest = json.loads(paths.dbt_manifest(copied.data_dir).read_bytes())
    manifest["metadata"]["generated_at"] = "2027-01-01T00:00:00Z"
    manifest["nodes"][VISITS] |= {"created_at": 0.0, "compiled_code": "select '2027-01-01'"}
    paths.dbt_manifest(copied.data_dir).write_text(json.dumps(manifest))

    assert (True, False) == (first, write_model_page(copied))
    assert written_at == path.stat().st_mtime_ns

    manifest["nodes"][VISITS]["description"] = "Another."
    paths.dbt_manifest(copied.data_dir).write_text(json.dumps(manifest))

    assert write_model_page(copied)
    assert "Another." in path.read_text("utf-8")


def test_the_build_of_a_variant_and_a_lost_manifest_leave_the_page_alone(copied: Settings) -> None:
    manifest = json.loads(paths.dbt_manifest(copied.data_dir).read_bytes())
    manifest["nodes"][VISITS]["schema"] = "core_ruleset_2"
    paths.dbt_manifest(copied.data_dir).write_text(json.dumps(manifest))

    assert not write_model_page(copied)

    paths.dbt_manifest(copied.data_dir).unlink()

    assert not write_model_page(copied)
    assert not page_of(copied).exists()


def test_a_page_that_cannot_be_written_is_a_warning_of_a_build_that_passed(
    built: Settings, tmp_path: Path
) -> None:
    shutil.copytree(built.data_dir, tmp_path / "data")
    settings = built.model_copy(update={"data_dir": tmp_path / "data"})
    shutil.rmtree(paths.models_dir(settings.data_dir))
    paths.models_dir(settings.data_dir).write_text("in the way")

    report = warehouse.build(settings)

    assert 1 == len(report.warnings)
    assert "the page about the models stays as it was" in report.warnings[0]


def test_no_text_of_a_description_ends_the_data_of_the_page(manifest: Manifest) -> None:
    hostile = "</script><script>alert(1)</script><!--"
    changed = deepcopy({**manifest})
    changed["nodes"][VISITS]["description"] = hostile

    page = model_page(changed, [FoundColumn("core", "stop_visits", hostile, "varchar", 1)])

    assert hostile not in page
    assert hostile == data_of(page, "manifest")["nodes"][VISITS]["description"]
    assert [hostile] == [*data_of(page, "catalog")["nodes"][VISITS]["columns"]]

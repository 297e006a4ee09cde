"""`export --all` writes what changed since the last time, and nothing else."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from tests.exports.conftest import change
from tests.warehouse.rehearsed import DAY
from transit_etl.exports import Request, all_requests, damage_of_export, due, export, export_all
from transit_etl.paths import exports_dir
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one rehearsal for all
EARLIER = DAY - timedelta(days=31)
VISITS = Request(("core.stop_visits",), "parquet", allows_incomplete=True)


@pytest.fixture
def two_months(published: Settings) -> Settings:
    """Settings of a published warehouse that has the rehearsed date once more, a month before."""
    change(
        published,
        "insert into core.stop_visits "
        f"select * replace (date '{EARLIER}' as service_date, uuid() as visit_key) from core.stop_visits",
        f"update quality.publication set first_date = date '{EARLIER}'",
    )
    return published


def built(settings: Settings, *dates: object, is_full: bool = False) -> None:
    """Publish once more, after a build of some dates that changed the visits of one."""
    listed = ", ".join(f"date '{day}'" for day in dates)
    change(
        settings,
        f"insert into quality.builds by name select build_number + 1 as build_number, 'passed' as outcome, "
        f"fingerprint, {is_full} as is_full, [{listed}]::date[] as dates from quality.builds "
        "order by build_number desc limit 1",
        "update quality.publication set build_number = build_number + 1, "
        "published_at = published_at + to_days(1)",
        f"update core.stop_visits set n_polls = n_polls + 1 where service_date in ({listed})",
    )


def inodes(folder: Path) -> dict[str, int]:
    return {path.parent.name: path.stat().st_ino for path in folder.rglob("*.parquet")}


def test_only_the_months_that_changed_are_written(two_months: Settings) -> None:
    folder = export(two_months, VISITS, keeps_unchanged=True).folder
    before = inodes(folder)
    built(two_months, DAY)

    report = export(two_months, VISITS, keeps_unchanged=True)

    after = inodes(folder)
    assert (2, 1, True) == (report.n_files, report.n_kept_files, report.is_new_version)
    assert {f"month={DAY:%Y-%m}"} == {month for month in after if after[month] != before[month]}
    assert [] == damage_of_export(folder)
    whole = export(two_months, VISITS).folder
    assert (whole / "SHA256SUMS").read_text() == (folder / "SHA256SUMS").read_text()


def test_nothing_is_written_when_nothing_was_built(two_months: Settings) -> None:
    folder = export(two_months, VISITS, keeps_unchanged=True).folder
    manifest = (folder / "manifest.json").stat().st_ino

    built(two_months, DAY + timedelta(days=40))  # a date that is not over, and in no export
    report = export(two_months, VISITS, keeps_unchanged=True)

    assert (False, 2) == (report.is_new_version, report.n_kept_files)
    assert manifest == (folder / "manifest.json").stat().st_ino


def test_a_full_build_makes_every_month_be_written(two_months: Settings) -> None:
    export(two_months, VISITS, keeps_unchanged=True)
    built(two_months, DAY, is_full=True)

    assert 0 == export(two_months, VISITS, keeps_unchanged=True).n_kept_files


def test_a_month_whose_file_was_lost_is_written_again(two_months: Settings) -> None:
    folder = export(two_months, VISITS, keeps_unchanged=True).folder
    next(folder.rglob(f"month={EARLIER:%Y-%m}/*.parquet")).unlink()
    built(two_months, DAY)

    assert 0 == export(two_months, VISITS, keeps_unchanged=True).n_kept_files
    assert [] == damage_of_export(folder)


def test_what_is_due_is_what_was_built_since(two_months: Settings) -> None:
    requests = [VISITS, Request(("core.lines",), "csv")]

    assert requests == due(two_months, requests)
    export_all(two_months, requests)
    assert [] == due(two_months, requests)
    built(two_months, DAY)
    assert requests == due(two_months, requests)


@pytest.mark.long
def test_every_dataset_is_exported_and_in_the_catalogue(published: Settings) -> None:
    requests = all_requests(published, allows_incomplete=True)

    report = export_all(published, requests)

    assert [] == report.refused
    assert len(requests) == report.n_datasets
    folder = exports_dir(published.data_dir)
    catalogue = json.loads((folder / "catalogue.jsonld").read_text(encoding="utf-8"))
    datasets = {each["dct:identifier"]: each for each in catalogue["dcat:dataset"]}
    assert {path.name for path in folder.iterdir() if path.is_dir()} == set(datasets)
    assert all(name in (folder / "index.html").read_text(encoding="utf-8") for name in datasets)
    for name, dataset in datasets.items():
        assert [] == damage_of_export(folder / name)
        for distribution in dataset["dcat:distribution"]:
            address = distribution["dcat:downloadURL"]["@id"]
            assert (folder / address.replace("%3D", "=")).exists(), address


def test_datasets_that_are_refused_do_not_stop_the_others(published: Settings) -> None:
    asked = [Request(("punctuality",), "csv", None, DAY + timedelta(days=5)), Request(("core.lines",), "csv")]

    report = export_all(published, asked)

    assert 1 == report.n_datasets
    assert "too little is known" in report.refused[0]

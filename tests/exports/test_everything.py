"""`export --all` writes what changed since the last time, and nothing else."""

import json
import shutil
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.exports.conftest import change
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl import warehouse
from transit_etl.export_settings import export_settings
from transit_etl.paths import build_database
from transit_exports import (
    ExportSettings,
    Request,
    all_requests,
    copying,
    damage_of_export,
    due,
    export,
    export_all,
    exporter,
    scratch,
)
from transit_exports.manifest import read_manifest
from transit_exports.source import Source

DuckDBConnect = duckdb.connect
EARLIER = DAY - timedelta(days=31)
VISITS = Request(("core.stop_visits",), "parquet", allows_incomplete=True)


@pytest.fixture
def two_months(published: ExportSettings) -> ExportSettings:
    """ExportSettings of a published warehouse that has the rehearsed date once more, a month before."""
    change(
        published,
        "insert into core.stop_visits "
        f"select * replace (date '{EARLIER}' as service_date, uuid() as visit_key) from core.stop_visits",
        f"update quality.publication set first_date = date '{EARLIER}'",
    )
    return published


def built(settings: ExportSettings, *dates: object, is_full: bool = False) -> None:
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


def test_only_the_months_that_changed_are_written(two_months: ExportSettings) -> None:
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


def test_nothing_is_written_when_nothing_was_built(two_months: ExportSettings) -> None:
    folder = export(two_months, VISITS, keeps_unchanged=True).folder
    manifest = (folder / "manifest.json").stat().st_ino

    built(two_months, DAY + timedelta(days=40))  # a date that is not over, and in no export
    report = export(two_months, VISITS, keeps_unchanged=True)

    assert (False, 2) == (report.is_new_version, report.n_kept_files)
    assert manifest == (folder / "manifest.json").stat().st_ino


def test_a_full_build_makes_every_month_be_written(two_months: ExportSettings) -> None:
    export(two_months, VISITS, keeps_unchanged=True)
    built(two_months, DAY, is_full=True)

    assert 0 == export(two_months, VISITS, keeps_unchanged=True).n_kept_files


def test_a_month_whose_file_was_lost_is_written_again(two_months: ExportSettings) -> None:
    folder = export(two_months, VISITS, keeps_unchanged=True).folder
    next(folder.rglob(f"month={EARLIER:%Y-%m}/*.parquet")).unlink()
    built(two_months, DAY)

    assert 0 == export(two_months, VISITS, keeps_unchanged=True).n_kept_files
    assert [] == damage_of_export(folder)


def test_what_is_due_is_what_was_built_since(two_months: ExportSettings) -> None:
    requests = [VISITS, Request(("core.lines",), "csv")]

    assert requests == due(two_months, requests)
    export_all(two_months, requests)
    assert [] == due(two_months, requests)
    built(two_months, DAY)
    assert requests == due(two_months, requests)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("publisher", "Another city"),
        ("publisher_url", "https://city.test/"),
        ("contact", "data@city.test"),
        ("licence", "CC0-1.0"),
    ],
)
def test_an_export_is_written_again_when_a_setting_that_it_states_changes(
    published: ExportSettings, name: str, value: str
) -> None:
    lines = Request(("core.lines",), "csv")
    export_all(published, [lines])
    settings = replace(published, **{name: value})  # type: ignore[arg-type]

    assert [lines] == due(settings, [lines])
    report = export_all(settings, [lines])

    folder = published.folder
    assert 0 == report.n_new_versions  # the data are the same
    assert value in (folder / "lines-csv" / "manifest.json").read_text()
    assert value in (folder / "lines-csv" / "README.md").read_text()
    assert value in (folder / "catalogue.jsonld").read_text()


@pytest.mark.long
def test_data_that_are_stored_in_another_order_are_no_new_version(published: ExportSettings) -> None:
    with duckdb.connect(published.database, read_only=True) as connection:
        tables = connection.execute(
            "select concat_ws('.', schema_name, table_name) from duckdb_tables() "
            "where schema_name in ('core', 'marts') order by all"
        ).fetchall()
    requests = all_requests(published, ["csv"], allows_incomplete=True)
    export_all(published, requests)
    versions = versions_of(published)
    built(published, DAY, is_full=True)
    change(
        published,
        "update core.stop_visits set n_polls = n_polls - 1",  # which another build has added
        "set preserve_insertion_order = true",
        *(f"create or replace table {name} as from {name} order by hash(rowid)" for (name,) in tables),
    )

    report = export_all(published, requests)

    assert (len(requests), 0, []) == (report.n_datasets, report.n_new_versions, report.refused)
    assert versions == versions_of(published)


def versions_of(settings: ExportSettings) -> dict[str, tuple[str, str]]:
    manifests = map(read_manifest, settings.folder.glob("*/"))
    return {each.dataset: (each.version, each.modified_at) for each in manifests if each}


def test_everything_is_read_from_one_opening_of_the_published_file(
    published: ExportSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    requests = [Request((name,), form) for name in ("lines", "stops", "news") for form in ("csv", "jsonl")]
    opened = []

    def connect(*given: Any, **options: Any) -> duckdb.DuckDBPyConnection:  # noqa: ANN401
        opened.append(given)
        return DuckDBConnect(*given, **options)

    monkeypatch.setattr(duckdb, "connect", connect)
    export_all(published, requests)
    export_all(published, requests)

    assert 2 == len(opened)


def test_what_a_killed_export_left_is_not_served_and_goes_with_the_next(
    published: ExportSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = published.folder
    (folder / ".replacement-trips-csv").mkdir(parents=True)  # as earlier versions built it
    served: set[str] = set()

    def killed(*_: object) -> None:
        served.update(path.name for path in folder.iterdir())
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(exporter, "write_manifest", killed)
        patched.setattr(scratch, "clear_away", lambda _: None)  # a process that is killed clears nothing away
        with pytest.raises(KeyboardInterrupt):
            export(published, Request(("stops",), "csv"))
    left = published.scratch("stops-csv")
    assert left.exists()

    export(published, Request(("lines",), "csv"))

    assert not left.exists()
    assert {".replacement-trips-csv"} == served
    assert {"lines-csv", "catalogue.jsonld", "index.html"} == {path.name for path in folder.iterdir()}


@pytest.mark.long
def test_a_lake_that_is_built_twice_makes_no_new_version(rehearsed: Rehearsed, tmp_path: Path) -> None:
    settings = rehearsed.settings.model_copy(update={"data_dir": tmp_path / "data"})
    shutil.copytree(rehearsed.settings.data_dir, settings.data_dir)
    exported = export_settings(settings)
    requests = all_requests(exported, allows_incomplete=True)
    export_all(exported, requests)
    build_database(settings.data_dir).unlink()
    warehouse.build(settings)
    warehouse.publish(settings)

    report = export_all(exported, requests)

    assert (len(requests), 0) == (report.n_datasets, report.n_new_versions)


@pytest.mark.long
def test_every_dataset_is_exported_and_in_the_catalogue(published: ExportSettings) -> None:
    requests = all_requests(published, allows_incomplete=True)

    report = export_all(published, requests)

    assert [] == report.refused
    assert len(requests) == report.n_datasets
    folder = published.folder
    catalogue = json.loads((folder / "catalogue.jsonld").read_text(encoding="utf-8"))
    distributions = [each for one in catalogue["dcat:dataset"] for each in one["dcat:distribution"]]
    pages = {each["dcat:accessURL"]["@id"] for each in distributions}
    names = {path.name for path in folder.iterdir() if path.is_dir()}
    assert {f"{name}/index.html" for name in names} == pages
    assert all(page in (folder / "index.html").read_text(encoding="utf-8") for page in pages)
    assert all((folder / page).exists() for page in pages)
    assert all([] == damage_of_export(folder / name) for name in names)
    for distribution in distributions:
        for address in distribution["dcat:downloadURL"]:
            assert (folder / address["@id"].replace("%3D", "=")).exists(), address


def test_datasets_that_are_refused_or_fail_do_not_stop_the_others(
    published: ExportSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [
        Request(("punctuality",), "csv", None, DAY + timedelta(days=5)),
        Request(("core.news",), "csv"),
        Request(("core.lines",), "csv"),
    ]
    write = copying.copy

    def copy(opened: Source, query: str, options: str, path: Path) -> int:
        if path.name == "news.csv":
            raise duckdb.OutOfMemoryException("too large")
        return write(opened, query, options, path)

    monkeypatch.setattr(copying, "copy", copy)

    report = export_all(published, asked)

    assert 1 == report.n_datasets
    assert "too little is known" in report.refused[0]
    assert "too large" in report.refused[1]

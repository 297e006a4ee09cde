"""A step that fails because of damaged lake files makes them again; without raw they are set aside."""

import logging
import shutil
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.collect.upstream import START, Upstream, collect_from, settings_at
from tests.damages import DAMAGES, Damage
from transit_etl.collect.known_network import Catalogue, NothingKnownError
from transit_etl.lake_reading import damage_of
from transit_etl.paths import all_lake_files, lake_file, raw_dir
from transit_etl.stage import compact, restage, stage
from transit_etl.stage.repair import repairing

DAY = date(2026, 3, 4)


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a small network and passages, compacted; and passages that are not staged."""
    folder = tmp_path_factory.mktemp("collected")
    settings = settings_at(folder)
    for dataset in ("lines", "stops", "passages"):
        collect_from(Upstream(), settings, dataset, seconds=20)
        stage(settings)
    compact(settings, DAY)
    collect_from(Upstream(), settings, "passages", seconds=20, start=START.replace(hour=9))
    return folder


@pytest.fixture(params=list(DAMAGES.values()), ids=list(DAMAGES))
def damage(request: pytest.FixtureRequest) -> Damage:
    """Return a way in which a file is damaged."""
    found: Damage = request.param
    return found


@pytest.fixture
def folder(collected: Path, tmp_path: Path) -> Path:
    shutil.copytree(collected, tmp_path / "data")
    return tmp_path / "data"


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in all_lake_files(folder, "emulated")}


def _rows(folder: Path) -> dict[str, list[str]]:
    """Return the rows of each dataset, whatever files they are in."""
    rows: dict[str, list[str]] = {}
    for path in all_lake_files(folder, "emulated"):
        dataset = path.parents[1].name
        rows.setdefault(dataset, []).extend(map(str, pq.read_table(path, partitioning=None).to_pylist()))
    return {dataset: sorted(each) for dataset, each in rows.items()}


def test_staging_goes_on_when_it_cannot_read_what_is_staged(folder: Path) -> None:
    undisturbed = folder.with_name("undisturbed")
    shutil.copytree(folder, undisturbed)
    stage(settings_at(undisturbed))
    lake_file(folder, "emulated", "requests", DAY, "day").write_bytes(b"no Parquet")
    report = stage(settings_at(folder))

    assert report.is_clean
    assert _rows(undisturbed) == _rows(folder)


@pytest.mark.long
def test_the_network_is_made_again_from_raw_when_no_file_of_it_can_be_read(
    folder: Path, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, logger="transit_etl")
    settings, path = settings_at(folder), lake_file(folder, "emulated", "line_stops", DAY, "day")
    path.write_bytes(damage(path.read_bytes()))
    stop_codes = repairing(lambda _: Catalogue(folder, "emulated").stop_codes(), NothingKnownError)(settings)

    assert ["0001"] == stop_codes
    assert [] == [message for message in caplog.messages if str(path) not in message]


def test_a_file_that_raw_cannot_replace_is_set_aside_with_nothing_else_lost(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    shutil.rmtree(raw_dir(folder) / "operator=emulated/endpoint=passages")
    before = _contents(folder)
    path = lake_file(folder, "emulated", "requests", DAY, "day")
    path.write_bytes(b"no Parquet")
    stage(settings_at(folder))
    after = _contents(folder)

    assert path.with_name("day.parquet.damaged").exists()
    assert before.keys() - after.keys() == {str(path.relative_to(folder))}
    assert any("raw cannot replace it" in message for message in caplog.messages)


def test_a_file_of_another_program_is_not_damaged_because_its_columns_have_no_nulls(folder: Path) -> None:
    path = lake_file(folder, "emulated", "requests", DAY, "day")
    table = pq.read_table(path)
    fields = [field.with_nullable(table[field.name].null_count > 0) for field in table.schema]
    pq.write_table(table.cast(pa.schema(fields)), path)

    assert damage_of(path) is None


def test_a_failure_without_a_damaged_file_stays_what_it_is(folder: Path) -> None:
    def fail(_: object) -> None:
        raise NothingKnownError("nothing is known")

    with pytest.raises(NothingKnownError, match="nothing is known"):
        repairing(fail, NothingKnownError)(settings_at(folder))


@pytest.mark.long
def test_reprocessing_needs_no_file_of_the_lake(folder: Path, damage: Damage) -> None:
    settings, undisturbed = settings_at(folder), folder.with_name("undisturbed")
    shutil.copytree(folder, undisturbed)
    restage(settings_at(undisturbed), DAY, DAY)
    for path in all_lake_files(folder, "emulated"):
        path.write_bytes(damage(path.read_bytes()))
    report = restage(settings, DAY, DAY)

    assert report.is_clean
    assert _contents(undisturbed) == _contents(folder)

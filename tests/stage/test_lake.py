"""The lake: whole windows, the same bytes again, closed days merged, days rebuilt, kills survived."""

import shutil
from concurrent.futures import ProcessPoolExecutor
from datetime import date, timedelta
from multiprocessing import get_context
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest
import zstandard

from tests.stage.landing import AT, DAY, OPERATOR, Folder, answer, line, passage
from transit_etl.lake_reading import windows_of
from transit_etl.lake_schemas import DATASETS, older_schema
from transit_etl.paths import lake_file, lake_glob, lake_lock
from transit_etl.settings import Settings
from transit_etl.stage import compact, ensure_schemas, restage, stage
from transit_etl.stage.lake import day_lock, write_table
from transit_etl.stage.raw import arrow
from transit_etl.stage.repair import find_damaged


@pytest.fixture
def landed(folder: Folder) -> Folder:
    """Land a morning: lines, two passage windows, one of them with an odd row, news."""
    folder.land("lines", [("", [line("018-00"), line("604-01", "604/")])])
    folder.land("passages", [("0001", answer(passage(), passage(orario="?"))), ("0002", answer())])
    folder.land("passages", [("0001", answer(passage(linea="604/")))], worker="b")
    folder.land("news", [("", [])])
    return folder


def rows_of(folder: Folder) -> dict[str, list[str]]:
    return {dataset: sorted(map(str, folder.rows(dataset))) for dataset in DATASETS}


def test_an_empty_lake_can_be_read(folder: Folder) -> None:
    ensure_schemas(folder.settings.data_dir)

    for dataset, schema in DATASETS.items():
        glob = lake_glob(folder.settings.data_dir, dataset)
        with duckdb.connect() as connection:
            found = arrow(connection, f"from read_parquet('{glob}', hive_partitioning = false)")
        assert schema.equals(found.schema)


def test_every_file_has_exactly_the_schema_of_its_dataset(landed: Folder) -> None:
    stage(landed.settings)

    for path in (landed.settings.data_dir / "lake").rglob("*.parquet"):
        dataset = next(part for part in path.parts if part.startswith("dataset=")).removeprefix("dataset=")
        assert DATASETS[dataset].equals(pq.read_schema(path)), path


def test_the_lock_files_do_not_grow_with_the_days(folder: Folder) -> None:
    locks: set[Path] = set()
    for number in range(400):
        with day_lock(folder.settings.data_dir, OPERATOR, DAY + timedelta(days=number)):
            locks.update(lake_lock(folder.settings.data_dir, OPERATOR, DAY).parent.iterdir())

    assert 31 >= len(locks)
    assert lake_lock(folder.settings.data_dir, "another", DAY) not in locks


def test_staging_twice_changes_no_byte(landed: Folder) -> None:
    first, before = stage(landed.settings), landed.files()
    second = stage(landed.settings)

    assert (4, 0) == (first.windows, second.windows)
    assert before == landed.files()


def test_restaging_gives_the_same_bytes(landed: Folder) -> None:
    stage(landed.settings)
    before = landed.files()
    report = restage(landed.settings, DAY, DAY)

    assert (4, True) == (report.windows, report.is_clean)
    assert before == landed.files()
    assert [] == list((landed.settings.data_dir / ".restage").iterdir())


def test_staging_in_pieces_gives_the_same_bytes_as_staging_at_once(landed: Folder) -> None:
    for endpoint in ("lines", "passages", "news"):
        stage(landed.settings, endpoints=[endpoint])
    before = landed.files()
    shutil.rmtree(landed.settings.data_dir / "lake")
    shutil.rmtree(landed.settings.data_dir / "quarantine")
    stage(landed.settings)

    assert before == landed.files()


def test_a_window_interrupted_midway_is_staged_again_whole(landed: Folder) -> None:
    stage(landed.settings)
    before = landed.files()
    for path in (landed.settings.data_dir / "lake").rglob("*passages*-a.parquet"):
        if "dataset=requests" in str(path):
            path.unlink()
        elif "dataset=validation_results" in str(path):
            path.write_bytes(b"half a file")
    report = stage(landed.settings)

    assert 1 == report.windows
    assert before == landed.files()


def test_a_damaged_raw_file_is_named_and_the_others_go_on(landed: Folder) -> None:
    windows = [landed.land("passages", [("0001", answer(passage()))] * 50, worker=name) for name in "cde"]
    odd, cut, wrong = (landed.raw_path("passages", window) for window in windows)
    odd.write_bytes(b"no zstd at all")
    cut.write_bytes(cut.read_bytes()[:-5])
    wrong.write_bytes(zstandard.compress(b'{"request_id": "w/1", "api_version": "one"}\n'))
    report = stage(landed.settings)

    assert 5 == report.windows
    assert [str(odd), str(cut)] == [error.split(": ", 1)[0] for error in report.errors]
    assert not report.is_clean
    assert ["window_staged"] * 2 + ["line_read"] == [
        row["rule"]
        for dataset in ("passages", "requests")
        for row in landed.quarantine(dataset)
        if row["rule"] in ("window_staged", "line_read")
    ]


def test_a_damaged_raw_file_is_staged_again_by_restaging_once_it_is_repaired(landed: Folder) -> None:
    window = landed.land("passages", [("0001", answer(passage()))] * 50, worker="c")
    path = landed.raw_path("passages", window)
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    first, second = stage(landed.settings), stage(landed.settings)
    path.write_bytes(whole)
    third = restage(landed.settings, DAY, DAY)
    repaired = landed.files()
    shutil.rmtree(landed.settings.data_dir / "lake")
    shutil.rmtree(landed.settings.data_dir / "quarantine", ignore_errors=True)
    stage(landed.settings)

    assert (1, 0, True) == (len(first.errors), len(second.errors), third.is_clean)
    assert repaired == landed.files()


def test_a_day_with_a_damaged_raw_file_is_not_replaced(landed: Folder) -> None:
    stage(landed.settings)
    before = landed.files()
    next((landed.settings.data_dir / "raw").rglob("*news*.zst")).write_bytes(b"rot")
    report = restage(landed.settings, DAY, DAY)

    assert 1 == len(report.errors)
    assert before == landed.files()


def test_compaction_keeps_every_row_in_one_file_a_dataset(landed: Folder) -> None:
    stage(landed.settings)
    before = rows_of(landed)
    compact(landed.settings, DAY)

    assert before == rows_of(landed)
    merged = lake_file(landed.settings.data_dir, OPERATOR, "requests", DAY, "day")
    assert [merged] == list(merged.parent.iterdir())
    assert 4 == len(windows_of([merged]))


def test_compacting_again_or_staging_after_it_does_nothing(landed: Folder) -> None:
    stage(landed.settings)
    compact(landed.settings, DAY)
    before = landed.files()

    assert (0, 0) == (compact(landed.settings, DAY), stage(landed.settings).windows)
    assert before == landed.files()


def test_a_late_window_of_a_compacted_day_is_merged_the_next_time(landed: Folder) -> None:
    stage(landed.settings)
    compact(landed.settings, DAY)
    landed.land(
        "passages", [("0003", answer(passage(attesa="-")))], at=AT - timedelta(hours=1), worker="late"
    )
    stage(landed.settings)
    before = rows_of(landed)
    compact(landed.settings, DAY)
    merged = landed.files()

    assert before == rows_of(landed)
    assert 3 == len(landed.rows("passages"))
    restage(landed.settings, DAY, DAY)
    assert merged == landed.files()


def test_files_of_before_a_column_was_added_are_sound_and_merged_with_nulls(landed: Folder) -> None:
    stage(landed.settings)
    before = rows_of(landed)
    folder = lake_file(landed.settings.data_dir, OPERATOR, "requests", DAY, "day").parent
    for path in sorted(folder.iterdir())[:2]:
        write_table(path, pq.read_table(path, partitioning=None).select(older_schema("requests").names))

    assert {} == find_damaged(landed.settings.data_dir)
    compact(landed.settings, DAY)
    merged = pq.read_table(folder / "day.parquet", partitioning=None)
    assert DATASETS["requests"].equals(merged.schema)
    assert before == rows_of(landed)


def killed(*_args: object) -> None:
    raise KeyboardInterrupt


def remove_only_what_is_empty(folder: Path, **_options: object) -> None:
    """Die when a folder with files is to go: that is the old day, after the exchange."""
    if folder.exists() and any(folder.iterdir()):
        raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["shutil.rmtree", "transit_base.files.exchange_folders"])
def test_a_compaction_killed_around_the_exchange_is_repaired(
    landed: Folder, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    stage(landed.settings)
    before = rows_of(landed)
    with monkeypatch.context() as patch:
        patch.setattr(moment, killed if moment != "shutil.rmtree" else remove_only_what_is_empty)
        with pytest.raises(KeyboardInterrupt):
            compact(landed.settings, DAY)
    halfway = rows_of(landed)
    stage(landed.settings)
    compact(landed.settings, DAY)

    assert before == halfway == rows_of(landed)
    assert [] == list((landed.settings.data_dir / "lake").rglob(".*"))


def test_half_a_window_is_not_merged(landed: Folder) -> None:
    window = landed.land("passages", [("0001", answer(passage()))], worker="half")
    stage(landed.settings)
    before = rows_of(landed)
    lake_file(landed.settings.data_dir, OPERATOR, "requests", DAY, window).unlink()
    compact(landed.settings, DAY)

    assert 2 == len(landed.rows("passages"))
    stage(landed.settings)
    assert before == rows_of(landed)


def test_restaging_leaves_other_days_and_operators_alone(landed: Folder) -> None:
    landed.land("passages", [("0001", answer(passage()))], at=AT - timedelta(days=1))
    stage(landed.settings)
    before = {
        name: path.stat().st_mtime_ns for name, path in _parquet(landed).items() if str(DAY) not in name
    }
    restage(landed.settings, DAY, DAY)

    assert before == {
        name: path.stat().st_mtime_ns for name, path in _parquet(landed).items() if str(DAY) not in name
    }


def test_a_day_without_raw_windows_is_left_as_it_is(landed: Folder) -> None:
    report = restage(landed.settings, date(2020, 1, 1), date(2020, 1, 31))

    assert (0, True) == (report.windows, report.is_clean)


@pytest.mark.long
@pytest.mark.parametrize("endpoints", [(["passages"], ["lines", "news"]), (None, None)])
def test_two_processes_stage_at_the_same_time(
    landed: Folder, endpoints: tuple[list[str] | None, list[str] | None]
) -> None:
    for number in range(6):
        landed.land("passages", [("0001", answer(passage()))] * 20, worker=f"w{number}")
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        reports = list(pool.map(_stage, [landed.settings] * 2, endpoints))
    together = landed.files()
    shutil.rmtree(landed.settings.data_dir / "lake")
    stage(landed.settings)

    assert [True, True] == reports
    passages = {name: data for name, data in together.items() if "results" not in name}
    assert passages == {name: data for name, data in landed.files().items() if "results" not in name}


def _stage(settings: Settings, endpoints: list[str] | None) -> bool:
    return stage(settings, endpoints=endpoints).is_clean


def _parquet(folder: Folder) -> dict[str, Path]:
    return {str(path): path for path in (folder.settings.data_dir / "lake").rglob("*.parquet")}

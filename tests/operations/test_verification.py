"""Whatever changes in a file is found; what can be made again from raw is, byte for byte."""

import io
import os
import random
import shutil
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import duckdb
import pytest
from rich.console import Console

from tests.collect.upstream import START, Upstream, collect_from, settings_at
from tests.damages import DAMAGES, Damage
from transit_etl.checksums import change_checksums, read_checksums
from transit_etl.lake_schemas import QUARANTINE
from transit_etl.operations import verification
from transit_etl.operations.check.data import problems as problems_of_data
from transit_etl.operations.status import read_status, show_status
from transit_etl.operations.status.lake import LastDay
from transit_etl.operations.verification import VerificationReport, verify
from transit_etl.paths import (
    all_lake_files,
    checksum_list,
    detail_dir,
    publication_record,
    published_database,
    quarantine_file,
    raw_files,
)
from transit_etl.stage import compact, stage
from transit_etl.stage.lake import write_table
from transit_etl.warehouse.publishing.detail_files import DetailFile, DetailFiles, record_files
from transit_etl.warehouse.publishing.published_record import record_next, record_published

N_FLIPS = 300
OPERATOR = "emulated"


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with a day of a small network, staged, with one window compacted and one not."""
    folder = tmp_path_factory.mktemp("collected")
    settings = settings_at(folder)
    for dataset in ("lines", "stops", "news", "status", "passages"):
        collect_from(Upstream(), settings, dataset, seconds=20)
        stage(settings)
    return folder


@pytest.fixture
def folder(collected: Path, tmp_path: Path) -> Path:
    shutil.copytree(collected, tmp_path / "data")
    return tmp_path / "data"


def _contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in all_lake_files(folder, OPERATOR)}


def test_an_installation_is_in_order_the_first_and_every_further_time(folder: Path) -> None:
    first, second = verify(settings_at(folder)), verify(settings_at(folder))

    assert first.n_files == first.n_new == second.n_files > 20
    assert 0 == second.n_new
    assert [[], [], [], []] == [first.damaged, first.repaired, second.damaged, second.repaired]


@pytest.mark.long
@pytest.mark.parametrize("damage", list(DAMAGES.values()), ids=list(DAMAGES))
@pytest.mark.parametrize("is_known", [True, False], ids=["known", "new"])
def test_every_damaged_lake_file_is_made_again(folder: Path, damage: Damage, *, is_known: bool) -> None:
    settings, whole = settings_at(folder), _contents(folder)
    if is_known:
        verify(settings)
    for path in all_lake_files(folder, OPERATOR):
        _overwrite(path, damage(path.read_bytes()), path.stat())
    report = verify(settings)

    assert not report.is_failure
    assert whole == _contents(folder)


def test_any_flipped_bit_is_found(folder: Path) -> None:
    settings, dice = settings_at(folder), random.Random(7)  # noqa: S311 - a test
    verify(settings)
    files = [*raw_files(folder), *all_lake_files(folder)]
    for _ in range(N_FLIPS):
        path = dice.choice(files)
        whole, status = path.read_bytes(), path.stat()
        place = dice.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        _overwrite(path, bytes(flipped), status)
        found = verify(settings, repairs=False)
        _overwrite(path, whole, status)

        assert [str(path)] == [sentence.split(": ")[0] for sentence in found.damaged], place


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Return a data folder in which a file with a file of detail was published."""
    return _publish(tmp_path / "data")


def _publish(folder: Path) -> Path:
    """Put a small file with a file of detail where the published ones are; record them as `publish` does."""
    path, detail = published_database(folder), detail_dir(folder) / "core.x" / "2026-01-a.parquet"
    detail.parent.mkdir(parents=True)
    unfinished = path.with_name("warehouse.duckdb.new")
    with duckdb.connect() as connection:
        connection.execute(f"copy (select 1 as x) to '{detail}' (format parquet)")
        connection.execute(f"attach '{unfinished}' as published; create schema published.quality")
        connection.execute("create table published.quality.publication as select 7 as publication_id")
        files = DetailFile("core", "x", date(2026, 1, 1), f"core.x/{detail.name}", 1, detail.stat().st_size)
        record_files(connection, DetailFiles(detail_dir(folder), "", files.first_date, [], [], [files]))
    record_next(folder, unfinished)
    unfinished.rename(path)
    record_published(folder)
    return folder


def _named(report: VerificationReport, path: Path) -> bool:
    """Tell whether a file is named as damaged or missing."""
    return any(str(path) in text for text in report.damaged) or any(
        path == path.parents[2] / text or str(path).endswith(text) for text in report.missing
    )


def _unpublish(path: Path) -> None:
    path.unlink()


def _swap(path: Path) -> None:
    """Put another sound file there."""
    other = path.with_name("other")
    if path.suffix == ".parquet":
        duckdb.execute(f"copy (select 22 as x) to '{other}' (format parquet)")
    else:
        shutil.copy(path, other)
        with duckdb.connect(other) as connection:
            connection.execute("create table more as from range(9)")
    other.replace(path)


FAULTS: dict[str, Callable[[Path], None]] = {
    "gone": _unpublish,
    "another file": _swap,
    **{
        name: lambda path, damage=damage: path.write_bytes(damage(path.read_bytes()))  # type: ignore[misc]
        for name, damage in DAMAGES.items()
    },
}


@pytest.mark.parametrize("fault", list(FAULTS.values()), ids=list(FAULTS))
@pytest.mark.parametrize("place", ["file", "detail"])
def test_what_is_published_must_be_what_was_recorded_then(
    published: Path, place: str, fault: Callable[[Path], None]
) -> None:
    settings = settings_at(published)
    path = published_database(published)
    if place == "detail":
        path = next(detail_dir(published).glob("*/*"))
    sound = verify(settings)
    fault(path)
    found = [verify(settings, repairs=False) for _ in range(2)]

    assert (2, 0, False, []) == (sound.n_files, sound.n_new, sound.is_failure, sound.warnings)
    assert [True, True] == [_named(each, path) for each in found]


def test_a_damaged_file_of_detail_is_set_aside_so_that_nobody_reads_it(published: Path) -> None:
    path = next(detail_dir(published).glob("*/*"))
    _swap(path)
    verify(settings_at(published))

    assert [path.with_name(f"{path.name}.damaged")] == list(detail_dir(published).glob("*/*"))


@pytest.mark.parametrize("is_renamed", [False, True])
def test_a_publication_that_was_killed_leaves_a_file_that_is_recorded(
    published: Path, *, is_renamed: bool
) -> None:
    path = published_database(published)
    unfinished = path.with_name("warehouse.duckdb.new")
    shutil.copy(path, unfinished)
    with duckdb.connect(unfinished) as connection:
        connection.execute("update quality.publication set publication_id = 8")
    record_next(published, unfinished)
    if is_renamed:
        unfinished.rename(path)

    assert not verify(settings_at(published)).is_failure


def test_a_published_file_without_a_record_must_say_what_it_is(published: Path) -> None:
    publication_record(published).unlink()
    sound = verify(settings_at(published))
    published_database(published).write_bytes(b"")
    empty = verify(settings_at(published))

    assert (False, 1) == (sound.is_failure, len(sound.warnings))
    assert empty.is_failure


@pytest.mark.parametrize("fault", [_unpublish, lambda path: path.write_bytes(b"")], ids=["gone", "empty"])
@pytest.mark.parametrize("place", ["file", "detail"])
def test_check_and_status_miss_a_published_file(
    folder: Path, place: str, fault: Callable[[Path], None]
) -> None:
    path = published_database(_publish(folder))
    if place == "detail":
        path = next(detail_dir(folder).glob("*/*"))
    fault(path)
    settings = settings_at(folder)
    status, shown = read_status(settings), Console(file=io.StringIO(), width=4096)
    show_status(status, shown, [])
    problems = list(problems_of_data(settings, status, LastDay({}, {}, {})))

    said = [problem.text for problem in problems if problem.name == "published"]
    assert [True] == [str(path) in text and "`transit-etl publish`" in text for text in said]
    assert said[0] in shown.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("has_raw", [True, False])
def test_a_lake_file_that_is_gone_is_made_again_or_named(folder: Path, *, has_raw: bool) -> None:
    settings, whole = settings_at(folder), _contents(folder)
    verify(settings)
    name = next(name for name in whole if "dataset=news" in name)
    (folder / name).unlink()
    if not has_raw:
        shutil.rmtree(folder / "raw")
        checksum_list(folder).write_text(
            "".join(line for line in checksum_list(folder).open() if '"raw/' not in line)
        )
    unrepaired = verify(settings, repairs=False)
    report = verify(settings)

    assert name in unrepaired.missing
    if has_raw:
        assert whole == _contents(folder)
        assert [f"{folder / name}: it is gone; made again from raw"] == report.repaired
        assert not report.is_failure
    else:
        assert ([name], []) == (report.missing, report.repaired)
        assert [name] == verify(settings).missing


def test_lake_files_that_were_merged_are_not_missed(folder: Path) -> None:
    settings = settings_at(folder)
    verify(settings)
    compact(settings, START.date())
    report = verify(settings)

    assert ([], [], [], []) == (report.missing, report.damaged, report.repaired, report.warnings)


def test_a_lake_file_that_raw_cannot_replace_is_a_loss(folder: Path) -> None:
    settings = settings_at(folder)
    path = next(path for path in all_lake_files(folder, OPERATOR) if "dataset=news" in str(path))
    shutil.rmtree(folder / "raw")
    path.write_bytes(b"")
    report = verify(settings)

    assert report.is_failure
    assert [f"renamed to {path.name}.damaged"] == [text.split(": ")[-1] for text in report.damaged]


def test_quarantine_that_is_gone_is_a_warning_unless_it_was_old(folder: Path) -> None:
    marker = next(path for path in all_lake_files(folder, OPERATOR) if "dataset=requests" in str(path))
    path = quarantine_file(folder, OPERATOR, "passages", START.date(), marker.stem)
    path.parent.mkdir(parents=True)
    write_table(path, QUARANTINE.empty_table())
    today = settings_at(folder, clock_shift_seconds=(START - datetime.now(UTC)).total_seconds())
    found = {}
    for name, settings in {"kept": today, "old": settings_at(folder)}.items():
        write_table(path, QUARANTINE.empty_table())
        verify(settings)
        path.unlink()
        found[name] = verify(settings).warnings

    assert {"kept": [f"{path} is gone: `transit-etl reprocess` makes it again"], "old": []} == found


@pytest.mark.parametrize(
    "cut",
    [lambda _: [], lambda lines: lines[: len(lines) // 2], lambda lines: lines[:1]],
    ids=["emptied", "half", "one line"],
)
def test_a_checksum_list_that_was_cut_is_named(folder: Path, cut: Callable[[list[str]], list[str]]) -> None:
    settings = settings_at(folder)
    verify(settings)
    lines = checksum_list(folder).read_text().splitlines(keepends=True)
    checksum_list(folder).write_text("".join(cut(lines)))
    first, second = verify(settings), verify(settings)

    assert [f"{checksum_list(folder)} is damaged or was cut: some files count as new"] == first.warnings
    assert [] == second.warnings


def test_what_others_change_in_the_list_meanwhile_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, taken = settings_at(folder), min(raw_files(folder))
    name = str(taken.relative_to(folder))
    verify(settings)

    def release(*_: object) -> list[str]:
        taken.unlink()
        change_checksums(folder, lambda now: {key: now[key] for key in now if key != name})
        return []

    monkeypatch.setattr(verification, "_damaged_exports", release)
    verify(settings)
    monkeypatch.undo()

    assert name not in read_checksums(checksum_list(folder))[0]
    assert not verify(settings).is_failure


def _overwrite(path: Path, content: bytes, status: os.stat_result) -> None:
    """Write a file as a failing disk would: nothing says that it changed."""
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

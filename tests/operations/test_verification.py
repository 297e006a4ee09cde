"""Whatever changes in a file is found; what can be made again from raw is, byte for byte."""

import os
import random
import shutil
from pathlib import Path

import pytest

from tests.collect.upstream import Upstream, collect_from, settings_at
from tests.damages import DAMAGES, Damage
from transit_etl.operations.verification import verify
from transit_etl.paths import all_lake_files, raw_files
from transit_etl.stage import stage

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


def _overwrite(path: Path, content: bytes, status: os.stat_result) -> None:
    """Write a file as a failing disk would: nothing says that it changed."""
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

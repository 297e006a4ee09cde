"""A folder where a file should be: `check` goes on and names it, every other step says it in one line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.damages import DAMAGES
from tests.operations.check.installation import healthy
from tests.operations.status.installations import NOW, minutes, put_requests
from transit_base.errors import TransitError
from transit_base.files import in_words
from transit_etl import paths
from transit_etl.operations.backup import back_up
from transit_etl.operations.check import check, examine
from transit_etl.operations.metrics import metrics_text
from transit_etl.operations.status import read_status
from transit_etl.operations.verification import verify
from transit_etl.queries import QueryError, query
from transit_etl.settings import Settings
from transit_etl.stage import stage

DAY = NOW.date()
PLACES: dict[str, Callable[[Path], Path]] = {
    "folder.json": paths.identity_file,
    "checksums": paths.checksum_list,
    "alerts": paths.alerts_file,
    "alerts.lock": lambda root: paths.alerts_file(root).with_suffix(".lock"),
    "runs": paths.runs_file,
    "durations": paths.durations_file,
    "schedules": lambda root: paths.schedules_file(root, "emulated"),
    "schedules.lock": lambda root: paths.schedules_lock(root, "emulated"),
    "backup": paths.backups_file,
    "rehearsal": paths.rehearsal_journal,
    "build": paths.build_database,
    "published": paths.published_database,
    "raw": lambda root: paths.raw_file(root, "emulated", "status", DAY, "20261123T080000Z-status-x-1"),
    "open raw": lambda root: paths.open_raw_file(
        paths.raw_file(root, "emulated", "status", DAY, "20261123T080000Z-status-x-2")
    ),
    "lake": lambda root: paths.lake_file(root, "emulated", "requests", DAY, "w7"),
    "passages": lambda root: paths.lake_file(root, "emulated", "passages", DAY, "w7"),
}
REMEDY = "is a folder where a file belongs: move it away"
every_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = healthy(Settings(data_dir=tmp_path / "data", alert_urls="json://127.0.0.1:9/x"))
    put_requests(settings, "passages", [minutes(0.1)])
    return settings


def put_folder(settings: Settings, place: Callable[[Path], Path]) -> Path:
    path = place(settings.data_dir)
    path.unlink(missing_ok=True)
    (path / "x").mkdir(parents=True)
    return path


@pytest.mark.long
@every_place
def test_check_goes_on_and_names_it_with_what_to_do(
    settings: Settings, place: Callable[[Path], Path]
) -> None:
    path = put_folder(settings, place)
    strict = settings.model_copy(update={"check_clock_seconds": -1.0})
    found = check(strict, sends_alerts=True)

    assert [f"{path.absolute()} {REMEDY}"] == [each.text for each in found if each.name == "misplaced"]
    assert "clock" in {each.name for each in found}
    assert 'problem="misplaced"' in metrics_text(settings, examine(settings))


@pytest.mark.long
@every_place
def test_the_status_goes_on_and_names_it(settings: Settings, place: Callable[[Path], Path]) -> None:
    path = put_folder(settings, place)

    assert [path.absolute()] == read_status(settings).misplaced


STEPS: dict[str, Callable[[Settings], list[str]]] = {
    "stage": lambda it: stage(it, endpoints=["none"]).errors,
    "verify": lambda it: verify(it).damaged,
    "backup": lambda it: back_up(it, it.data_dir.parent / "backup").damaged,
}
NAMED_BY = {
    "stage": {"raw", "open raw", "folder.json"},
    "verify": set(PLACES),
    "backup": {"raw", "open raw", "checksums", "folder.json", "alerts", "rehearsal", "backup"},
}


@pytest.mark.parametrize(
    ("step", "place"), [(step, place) for step, places in NAMED_BY.items() for place in sorted(places)]
)
def test_a_step_names_it_in_one_line(settings: Settings, step: str, place: str) -> None:
    (settings.data_dir.parent / "backup").mkdir()
    path = put_folder(settings, PLACES[place])
    try:
        lines = STEPS[step](settings)
    except TransitError as error:
        lines = [str(error)]
    except OSError as error:
        lines = [in_words(error)]

    assert [f"{path} {REMEDY}"] == [line for line in lines if str(path) in line]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (IsADirectoryError(21, "Is a directory", "/a"), f"/a {REMEDY}"),
        (IsADirectoryError(21, "Is a directory", "/a.new", None, "/a"), f"/a {REMEDY}"),
        (
            NotADirectoryError(20, "Not a directory", "/a/b"),
            "/a/b: a file is where a folder belongs: move it away",
        ),
        (OSError(28, "No space left on device", "/a"), "/a: No space left on device"),
        (OSError("the disk is gone"), "the disk is gone"),
    ],
)
def test_an_error_of_the_system_is_said_without_its_number(error: OSError, words: str) -> None:
    assert words == in_words(error)


@pytest.mark.parametrize("damage", ["empty", "other content", "a damaged start", "damaged data", "zeros"])
def test_a_damaged_published_file_is_named_with_what_to_do(settings: Settings, damage: str) -> None:
    path = paths.published_database(settings.data_dir)
    path.write_bytes(DAMAGES[damage](path.read_bytes()))

    with pytest.raises(
        QueryError, match=rf"published warehouse {path} cannot be read .*`transit-etl publish`"
    ):
        query(settings, "select * from quality.builds")


def test_a_query_that_reads_what_is_not_there_is_no_damage(settings: Settings) -> None:
    shutil.rmtree(settings.data_dir / "lake")
    with pytest.raises(QueryError) as found:
        query(settings, f"from '{settings.data_dir.absolute()}/lake/x.parquet'")

    assert "transit-etl publish" not in str(found.value)

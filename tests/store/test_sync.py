"""Hosts that share a store end with the same lake, in which each window is once, whatever happens between."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.store.hosts import AT, OPERATOR, TODAY, Host, host
from tests.store.server import Fault, Proxy
from transit_base.files import locked
from transit_etl.checksums import Entry
from transit_etl.collect.raw.rawfile import write_finished
from transit_etl.identity import OtherFolderError, claim
from transit_etl.paths import lake_lock, raw_file, raw_files, warehouse_lock
from transit_etl.store.errors import OtherServiceDaysError, StoreError
from transit_etl.store.manifest import DayFiles, manifest_key, write_manifest
from transit_etl.store.raw import raw_in_store
from transit_etl.store.sync import open_store, pull_to_collect, waiting


@pytest.fixture
def pair(tmp_path: Path, url: str) -> tuple[Host, Host]:
    """Make two hosts that share a lake."""
    return host(tmp_path / "a", url), host(tmp_path / "b", url)


def test_what_one_host_stages_the_other_has_after_a_sync(pair: tuple[Host, Host]) -> None:
    a, b = pair
    a.land("w1")
    a.land("w2")
    a.stage()
    sent, fetched = a.sync(), b.sync()

    assert (2, 1, 0) == (sent.n_raw_sent, sent.n_days_published, sent.n_raw_waiting)
    assert sent.n_files_sent == fetched.n_files_fetched == len(a.files())
    assert a.files() == b.files()
    assert a.times() == b.times()


def test_a_second_sync_does_nothing(pair: tuple[Host, Host]) -> None:
    a, b = pair
    a.land("w1")
    a.stage()
    for each in (a, b):
        each.sync()
    for each in (a, b):
        again = each.sync()
        done = (again.n_raw_sent, again.n_raw_fetched, again.n_files_sent, again.n_files_fetched)

        assert (0, 0, 0, 0) == done


def test_raw_files_are_fetched_to_be_staged_and_not_once_they_are(pair: tuple[Host, Host]) -> None:
    a, b = pair
    first = a.land("w1")
    a.sync()
    b.sync()
    assert {f"{first}.jsonl.zst"} == b.raw()
    second = a.land("w2")
    a.stage()
    a.sync()
    b.sync()

    assert {f"{first}.jsonl.zst"} == b.raw()
    assert {first, second} == set(b.counts())


def test_a_collector_takes_in_recent_days_and_the_raw_files_of_recent_hours(pair: tuple[Host, Host]) -> None:
    a, b = pair
    yesterday = TODAY - timedelta(days=1)
    recent = [a.land("w1"), a.land("w2")]
    older = a.land("w3", yesterday)
    a.stage()
    a.sync()
    pull_to_collect(b.settings, TODAY, None)
    assert not b.raw()
    for _ in range(2):
        pull_to_collect(b.settings, TODAY, AT)

    assert {f"{window}.jsonl.zst" for window in recent} == b.raw()
    assert set(recent) == set(b.counts())
    b.sync()
    assert {*recent, older} == set(b.counts())


def test_a_collector_waits_for_no_step_that_changes_a_day(pair: tuple[Host, Host]) -> None:
    a, b = pair
    yesterday = TODAY - timedelta(days=1)
    windows = [a.land("w1"), a.land("w2", yesterday)]
    a.stage()
    a.sync()
    with locked(lake_lock(b.root, OPERATOR, TODAY)):
        pull_to_collect(b.settings, yesterday, AT)
        assert {windows[1]} == set(b.counts())
    pull_to_collect(b.settings, yesterday, AT)

    assert set(windows) == set(b.counts())


def test_a_window_staged_by_both_is_there_once(pair: tuple[Host, Host]) -> None:
    a, b = pair
    window = a.land("w1")
    a.sync()
    b.sync()
    a.stage()
    b.stage()
    for each in (a, b, a):
        each.sync()

    assert {window: 2} == a.counts() == b.counts()
    assert a.files() == b.files()


def test_a_compacted_day_replaces_the_windows_that_it_holds(pair: tuple[Host, Host]) -> None:
    a, b = pair
    windows = [a.land(f"w{number}") for number in range(4)]
    a.stage()
    a.sync()
    b.sync()
    a.compact()
    late = b.land("w4")
    b.stage()
    for each in (a, b, a):
        each.sync()

    assert windows == a.merged() == b.merged()
    assert dict.fromkeys([*windows, late], 2) == dict(a.counts()) == dict(b.counts())
    assert a.files() == b.files()


def test_days_compacted_apart_hold_each_window_once(pair: tuple[Host, Host]) -> None:
    a, b = pair
    windows = [a.land("w1"), b.land("w2")]
    for each in pair:
        each.stage()
        each.compact()
    for each in (a, b, b, a):
        each.stage()
        each.sync()

    assert dict.fromkeys(windows, 2) == dict(a.counts()) == dict(b.counts())
    assert a.files() == b.files()


def test_a_day_staged_again_replaces_the_one_of_other_hosts(pair: tuple[Host, Host]) -> None:
    a, b = pair
    windows = [a.land(f"w{number}") for number in range(3)]
    a.stage()
    a.sync()
    b.sync()
    a.restage(2)
    a.sync()
    b.sync()

    assert {window: {"2"} for window in windows} == b.versions()
    assert a.files() == b.files()


def test_a_file_that_is_lost_here_is_fetched_again_and_not_removed_there(pair: tuple[Host, Host]) -> None:
    a, b = pair
    for number in range(3):
        a.land(f"w{number}")
    a.stage()
    a.sync()
    b.sync()
    before = a.files()
    for path in [*b.root.glob("lake/**/*w1.parquet"), *b.root.glob("quarantine/**/*w2.parquet")]:
        path.unlink()
    b.sync()
    a.sync()

    assert before == a.files() == b.files()


def test_a_damaged_file_is_not_sent_but_replaced(pair: tuple[Host, Host]) -> None:
    a, b = pair
    a.land("w1")
    a.stage()
    a.sync()
    b.sync()
    before = a.files()
    next(b.root.glob("lake/**/dataset=passages/**/*w1.parquet")).write_bytes(b"PAR1 and no more")
    b.sync()
    a.sync()

    assert before == a.files() == b.files()


def test_a_store_that_was_emptied_is_filled_again(pair: tuple[Host, Host]) -> None:
    a, b = pair
    a.land("w1")
    a.stage()
    a.sync()
    before = a.files()
    store = open_store(a.settings)
    for each in list(store.listed()):
        store.delete(each.key)
    refilled = a.sync()
    b.sync()

    assert before == a.files() == b.files()
    assert 1 == refilled.n_raw_sent
    assert all(raw_in_store(store, a.root, path) for path in raw_files(a.root))


def test_without_the_store_everything_goes_on_and_is_sent_later(
    pair: tuple[Host, Host], proxy: Proxy
) -> None:
    a, b = pair
    proxy.choose = lambda _method, _path: Fault.REFUSE
    window = a.land("w1")
    a.stage()
    with pytest.raises(StoreError, match="cannot be used"):
        a.sync()
    found = waiting(a.settings)
    assert not waiting(a.settings, ["another"])
    assert (1, 1) == (found.n_raw_files, found.n_days)
    assert found.last.error
    proxy.choose = lambda _method, _path: None
    a.sync()
    b.sync()

    assert {window: 2} == b.counts()
    assert (0, 0, None) == ((found := waiting(a.settings)).n_raw_files, found.n_days, found.last.error)


def test_a_name_that_two_hosts_used_is_an_error_and_nothing_is_overwritten(pair: tuple[Host, Host]) -> None:
    a, b = pair
    window = a.land("w1")
    a.sync()
    path = raw_file(b.root, OPERATOR, "passages", TODAY, window)
    path.parent.mkdir(parents=True)
    write_finished(path, [b'{"other": 1}\n'])
    report = b.sync()

    assert [path.name] == [error.split(":")[0].rpartition("/")[2] for error in report.errors]
    assert 1 == report.n_raw_waiting
    assert raw_in_store(open_store(a.settings), a.root, raw_file(a.root, OPERATOR, "passages", TODAY, window))


def test_hosts_that_read_service_days_otherwise_share_nothing(pair: tuple[Host, Host], url: str) -> None:
    a, b = pair
    a.land("w1")
    a.stage()
    a.sync()
    other = host(b.root, url, timezone="America/New_York")
    with pytest.raises(OtherServiceDaysError, match=r"America/New_York.*TRANSIT_TIMEZONE"):
        other.sync()

    assert {} == other.files()


def test_a_manifest_that_cannot_be_read_is_named_and_other_days_go_on(pair: tuple[Host, Host]) -> None:
    a, b = pair
    for day in (TODAY, TODAY - timedelta(days=1)):
        a.land("w1", day)
    a.stage()
    a.sync()
    bad = {"no JSON": b"{", "another day": write_manifest(DayFiles({"../x": Entry("../x", 1, 1, "0")}))}
    for name, body in bad.items():
        open_store(a.settings).put(manifest_key(OPERATOR, TODAY), body)
        report = b.sync()

        assert 1 == len(report.errors), name
        assert manifest_key(OPERATOR, TODAY) in report.errors[0]
        assert [f"date={TODAY - timedelta(days=1)}"] == sorted({Path(path).parts[3] for path in b.files()})


def test_nothing_is_fetched_into_the_data_folder_of_another_operator(
    pair: tuple[Host, Host], url: str, tmp_path: Path
) -> None:
    a, _ = pair
    a.land("w1")
    a.stage()
    a.sync()
    other = host(tmp_path / "other", None, operator="y").settings
    claim(other, begins=True)
    with pytest.raises(OtherFolderError):
        host(other.data_dir, url).sync()

    assert [] == list(other.data_dir.rglob("*.parquet"))


def test_a_build_that_reads_keeps_files_from_being_replaced(pair: tuple[Host, Host]) -> None:
    a, b = pair
    a.land("w1")
    a.stage()
    a.sync()
    b.sync()
    before = b.files()
    a.compact()
    a.sync()
    with locked(warehouse_lock(b.root)):
        report = b.sync()
        assert before == b.files()
        assert any("once the build" in warning for warning in report.warnings)
    b.sync()

    assert a.files() == b.files()


def test_old_quarantine_is_not_fetched(tmp_path: Path, url: str) -> None:
    a = host(tmp_path / "a", url)
    b = host(tmp_path / "b", url, quarantine_keep_days=1)
    a.land("w2", TODAY - timedelta(days=9))
    a.stage()
    a.sync()
    b.sync()

    assert any(path.startswith("quarantine") for path in a.files())
    assert {path for path in a.files() if path.startswith("lake")} == set(b.files())

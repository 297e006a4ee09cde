"""What no manifest names leaves the store after a week; raw files leave a host whose store has them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.store.hosts import OPERATOR, TODAY, Host, host
from transit_etl.operations import prune, release_old_raw
from transit_etl.operations.backup.place import BackupError
from transit_etl.paths import raw_file, raw_files
from transit_etl.store import unused
from transit_etl.store.objects import ObjectStore
from transit_etl.store.sync import pull_if_possible


class _Later(datetime):
    """Eight days later than it is."""

    @classmethod
    def now(cls, tz: object = None) -> datetime:  # type: ignore[override]
        assert tz is UTC
        return datetime.now(UTC) + timedelta(days=8)


@pytest.fixture
def a(tmp_path: Path, url: str) -> Host:
    """Make a host that has published a day, compacted since."""
    a = host(tmp_path / "a", url)
    for name in ("w1", "w2"):
        a.land(name)
    a.stage()
    a.sync()
    a.compact()
    a.sync()
    return a


def keys(store: ObjectStore) -> set[str]:
    return {each.key for top in ("lake/", "quarantine/") for each in store.listed(top)}


def test_objects_of_merged_windows_stay_for_a_week_and_leave_then(a: Host, store: ObjectStore) -> None:
    before = keys(store)
    assert 0 == prune(a.settings).n_objects
    assert before == keys(store)
    with patch.object(unused, "datetime", _Later):
        n_removed = prune(a.settings).n_objects

    assert n_removed
    assert len(before) - n_removed == len(keys(store)) == len(a.files())
    assert set(a.files()) == {key.partition("@")[0] for key in keys(store)}


def test_an_object_that_another_host_names_stays(a: Host, store: ObjectStore, tmp_path: Path) -> None:
    b = host(tmp_path / "b", store.url, operator="y")
    with patch.object(unused, "datetime", _Later):
        prune(b.settings)

    assert set(a.files()) == {key.partition("@")[0] for key in keys(store)}


def test_old_quarantine_leaves_the_manifest_and_then_the_store(a: Host, store: ObjectStore) -> None:
    assert any(key.startswith("quarantine") for key in keys(store))
    later = host(a.root, store.url, quarantine_keep_days=1, clock_shift_seconds=86_400 * 30)
    with patch.object(unused, "datetime", _Later):
        prune(later.settings)

    assert not any(key.startswith("quarantine") for key in keys(store))


def test_raw_files_that_the_store_has_whole_are_released_and_fetched_to_reprocess(a: Host, url: str) -> None:
    keeping = host(a.root, url, raw_keep_days=1, clock_shift_seconds=86_400 * 30).settings
    before = {path.name: path.read_bytes() for path in raw_files(a.root)}

    assert (2, sum(map(len, before.values()))) == release_old_raw(keeping)
    assert [] == list(raw_files(a.root))
    assert pull_if_possible(keeping, (TODAY, TODAY))
    assert before == {path.name: path.read_bytes() for path in raw_files(a.root)}


def test_raw_files_stay_where_the_store_lacks_one_or_has_another(
    a: Host, url: str, store: ObjectStore
) -> None:
    keeping = host(a.root, url, raw_keep_days=1, clock_shift_seconds=86_400 * 30).settings
    [first, *_] = sorted(raw_files(a.root))
    store.put(str(first.relative_to(a.root)), b"another")
    with pytest.raises(BackupError, match="is not whole in s3://"):
        release_old_raw(keeping)

    assert 2 == len(list(raw_files(a.root)))


def test_raw_files_stay_until_their_day_is_published(a: Host, url: str) -> None:
    a.land("w3")
    a.stage()
    keeping = host(a.root, url, raw_keep_days=1, clock_shift_seconds=86_400 * 30).settings
    with pytest.raises(BackupError, match="not published yet"):
        release_old_raw(keeping)

    assert raw_file(a.root, OPERATOR, "passages", TODAY, "20261120T080000Z-passages-w3").exists()

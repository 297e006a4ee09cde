"""A damaged lake file never stops collecting: it is named, and what the other files hold is used."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.collect.helpers import NOON, write_network
from tests.collect.upstream import Upstream, collect_from, settings_at
from tests.damages import DAMAGES, Damage
from transit_etl.operations.status import read_status
from transit_etl.paths import lake_file

# Only builds and `transit-etl verify` read the checksums of pages, and make the file again.
FOUND_BY_CHECKSUMS = (DAMAGES["a damaged start"], DAMAGES["damaged data"])
NETWORK = {"015-00": ["0001", "0002"], "016-00": ["0002", "0003"]}


@pytest.fixture(params=list(DAMAGES.values()), ids=list(DAMAGES))
def damage(request: pytest.FixtureRequest) -> Damage:
    """Return a way in which a file is damaged."""
    found: Damage = request.param
    return found


def _damaged(folder: Path, dataset: str, damage: Damage) -> Path:
    """Put a damaged file of the next day into a lake whose other files are sound."""
    sound = lake_file(folder, "emulated", dataset, NOON.date(), "w")
    path = lake_file(folder, "emulated", dataset, NOON.date() + timedelta(days=1), "w2")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(damage(sound.read_bytes()))
    return path


@pytest.mark.parametrize("dataset", ["lines", "line_stops"])
def test_passages_are_collected_with_the_network_known_before(
    tmp_path: Path, damage: Damage, dataset: str, caplog: pytest.LogCaptureFixture
) -> None:
    write_network(tmp_path, NETWORK)
    path = _damaged(tmp_path, dataset, damage)
    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=20)

    assert report.outcomes["ok"] >= 15
    if damage not in FOUND_BY_CHECKSUMS:
        assert any(str(path) in message and "reprocess" in message for message in caplog.messages)


def test_the_status_is_told_without_the_damaged_file(
    tmp_path: Path, damage: Damage, caplog: pytest.LogCaptureFixture
) -> None:
    write_network(tmp_path, NETWORK)
    collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=20)
    sound = lake_file(tmp_path, "emulated", "lines", NOON.date(), "w")
    path = lake_file(tmp_path, "emulated", "requests", datetime.now(UTC).date(), "w2")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(damage(sound.read_bytes()))
    read_status(settings_at(tmp_path))

    assert any(str(path) in message for message in caplog.messages)

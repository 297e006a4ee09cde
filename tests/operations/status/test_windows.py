"""Which windows the status says wait to be staged, and which batches were rejected."""

from tests.collect.helpers import write_lake
from tests.operations.status.installations import NOW
from transit_etl.operations.status import read_status
from transit_etl.operations.status.lake import Rejection
from transit_etl.paths import open_raw_file, raw_file
from transit_etl.settings import Settings


def test_a_finished_window_waits_until_it_is_staged(settings: Settings) -> None:
    staged, waiting, still_open = (
        raw_file(settings.data_dir, settings.operator, "status", NOW.date(), window)
        for window in ("staged", "waiting", "open")
    )
    staged.parent.mkdir(parents=True)
    for path in (staged, waiting, open_raw_file(still_open)):
        path.touch()
    write_lake(settings.data_dir, "requests", [{"endpoint": "status"}], "staged", at=NOW)
    status = read_status(settings)

    assert {"status": 1} == status.waiting
    assert 1 == status.n_open


def test_a_rejected_batch_is_listed_with_its_rule(settings: Settings) -> None:
    same = {
        "window": "w",
        "suite": "passages",
        "reason": "because",
        "last_received_at": NOW.replace(tzinfo=None),
    }
    results = [
        {**same, "rule": "one", "scope": "batch", "is_success": True},
        {**same, "rule": "two", "scope": "batch", "is_success": False},
        {**same, "rule": "three", "scope": "row", "is_success": False},
    ]
    write_lake(settings.data_dir, "validation_results", results, at=NOW)

    assert [Rejection("w", "passages", "two", "because", NOW)] == read_status(settings).rejected

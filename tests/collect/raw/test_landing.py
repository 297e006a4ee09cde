import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.collect.helpers import NOON, STOP, answer, killed_landing, landing_at, rows
from transit_etl.api.exchange import Request
from transit_etl.collect.raw.rawfile import DataFolderError, read_lines
from transit_etl.collect.raw.recovery import recover


def test_a_row_holds_the_exact_keys_of_the_contract(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP, NOON - timedelta(seconds=1)), answer())

    window = "20260304T120000Z-passages-w1"
    expected = {
        "request_id": f"{window}/1",
        "window": window,
        "operator": "emulated",
        "endpoint": "passages",
        "key": "0416",
        "api_version": 1,
        "planned_at": "2026-03-04T11:59:59.000000Z",
        "sent_at": "2026-03-04T11:59:59.750000Z",
        "received_at": "2026-03-04T12:00:00.000000Z",
        "outcome": "ok",
        "http_status": 200,
        "elapsed_ms": 250.0,
        "attempts": 1,
        "error": None,
        "purpose": None,
        "draws": None,
        "n_bytes": 16,
        "body": '{"passaggi": []}',
        "body_base64": None,
    }

    assert [expected] == rows(tmp_path)
    assert [tmp_path / "raw/operator=emulated/endpoint=passages/date=2026-03-04" / f"{window}.jsonl.zst"] == (
        landing.finished
    )


def test_a_finished_window_leaves_no_open_file(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP), answer())

    assert [] == list(tmp_path.rglob("*.part"))


def test_a_body_that_is_not_text_is_kept_byte_for_byte(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP), answer(body=b"\xff\xfe\x00caf\xe9"))

    (row,) = rows(tmp_path)

    assert (None, "//4AY2Fm6Q==", 7) == (row["body"], row["body_base64"], row["n_bytes"])


@pytest.mark.parametrize("body", [b"", b'{"a": "line\\nend\n\r\xe2\x80\xa8"}', "àè€🚌".encode(), b"\x00\x01"])
def test_a_text_body_is_kept_byte_for_byte(tmp_path: Path, body: bytes) -> None:
    with landing_at(tmp_path) as landing:
        landing.land(landing.plan(STOP), answer(body=body))

    (row,) = rows(tmp_path)

    assert (body, len(body)) == (row["body"].encode(), row["n_bytes"])


def test_a_request_that_was_not_sent_says_why(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        landing.skip(landing.plan(STOP), "no permit came")

    (row,) = rows(tmp_path)

    assert ("not_sent", None, None, "no permit came", 0) == (
        row["outcome"],
        row["sent_at"],
        row["received_at"],
        row["error"],
        row["attempts"],
    )


def test_a_request_still_in_flight_at_the_end_is_interrupted(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        landing.plan(STOP)

    assert ["interrupted"] == [row["outcome"] for row in rows(tmp_path)]


def test_each_endpoint_has_a_window_of_its_own(tmp_path: Path) -> None:
    with landing_at(tmp_path) as landing:
        for endpoint in ("news", "news_details", "news"):
            request = Request(endpoint, "", "news")
            landing.land(landing.plan(request), answer(request=request))

    assert ["endpoint=news", "endpoint=news_details"] == sorted(
        path.parent.parent.name for path in landing.finished
    )
    assert 3 == len(rows(tmp_path))


def test_a_window_of_the_same_name_is_not_written_over(tmp_path: Path) -> None:
    for _ in range(3):
        with landing_at(tmp_path) as landing:
            landing.land(landing.plan(STOP), answer())

    assert 3 == len({row["request_id"] for row in rows(tmp_path)})


def test_an_answer_received_after_midnight_lands_in_the_new_day(tmp_path: Path) -> None:
    before, after = datetime(2026, 3, 4, 23, 59, 59, tzinfo=UTC), datetime(2026, 3, 5, 0, 0, 1, tzinfo=UTC)
    with landing_at(tmp_path, before) as landing:
        early, late = landing.plan(STOP), landing.plan(STOP)
        landing.land(early, answer(before))
        landing.land(late, answer(after))

    assert [("2026-03-04", early.request_id), ("2026-03-05", late.request_id)] == [
        (row["received_at"][:10], row["request_id"]) for row in rows(tmp_path)
    ]
    assert ["date=2026-03-04", "date=2026-03-05"] == [path.parent.name for path in landing.finished]


def test_a_window_is_finished_when_the_next_day_begins_and_every_request_has_its_row(tmp_path: Path) -> None:
    landing = landing_at(tmp_path, datetime(2026, 3, 4, 23, 59, tzinfo=UTC))
    landing.land(landing.plan(STOP), answer(datetime(2026, 3, 4, 23, 59, tzinfo=UTC)))

    landing.plan(STOP, datetime(2026, 3, 5, tzinfo=UTC))

    assert 1 == len(landing.finished)
    landing.close()


def test_a_killed_collector_loses_no_request_around_midnight(tmp_path: Path) -> None:
    before, after = datetime(2026, 3, 4, 23, 59, 59, tzinfo=UTC), datetime(2026, 3, 5, 0, 0, 1, tzinfo=UTC)
    with killed_landing(tmp_path, before) as landing:
        landed, lost = landing.plan(STOP), landing.plan(STOP)
        landing.land(landed, answer(after))

    recover(tmp_path)

    assert {(landed.request_id, "ok"), (lost.request_id, "interrupted")} == {
        (row["request_id"], row["outcome"]) for row in rows(tmp_path)
    }
    assert 2 == len(rows(tmp_path))


def test_rows_can_be_read_before_the_window_is_closed(tmp_path: Path) -> None:
    landing = landing_at(tmp_path)
    landing.land(landing.plan(STOP), answer())
    (part,) = tmp_path.rglob("*.jsonl.zst.part")

    assert 1 == len(list(read_lines(part)))
    landing.close()


def test_what_is_landed_reaches_the_disk_within_a_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transit_etl.collect.raw.landing.SYNC_SECONDS", 0.01)
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda fd: synced.add(os.fstat(fd).st_ino))
    landing = landing_at(tmp_path)
    landing.land(landing.plan(STOP), answer())
    (part,) = tmp_path.rglob("*.jsonl.zst.part")

    wait_until(lambda: part.stat().st_ino in synced)
    landing.close()


def test_recovery_does_not_touch_a_window_whose_writer_still_runs(tmp_path: Path) -> None:
    landing = landing_at(tmp_path)
    landing.land(landing.plan(STOP), answer())

    assert [] == recover(tmp_path)
    landing.close()
    assert 1 == len(rows(tmp_path))


def test_a_data_folder_that_is_a_file_is_named_in_the_error(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.write_text("not a folder")

    with pytest.raises(DataFolderError, match=f"cannot write in the data folder {folder}: "):
        landing_at(folder).plan(STOP)


def test_a_full_disk_is_one_clear_error_and_keeps_what_was_written(tmp_path: Path) -> None:
    program = f"""
        import os, resource, sys
        from pathlib import Path
        from tests.collect.helpers import STOP, answer, landing_at
        from transit_etl.collect.raw.rawfile import DataFolderError

        resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
        landing = landing_at(Path({str(tmp_path)!r}))
        n_landed = 0
        try:
            for _ in range(100):
                intent = landing.plan(STOP)
                landing.land(intent, answer(body=os.urandom(3000)))
                n_landed += 1
        except DataFolderError as error:
            print(n_landed, error)
        try:
            landing.close()
        except DataFolderError as error:
            print("closing:", error)
    """
    run = run_with_this_module(program, tmp_path)
    n_landed, message = run.stdout.split("\n")[0].split(" ", 1)

    assert f"cannot write in the data folder {tmp_path}: File too large" == message
    recover(tmp_path)
    assert int(n_landed) > 5
    assert ["ok"] * int(n_landed) + ["interrupted"] == [row["outcome"] for row in rows(tmp_path)]


def test_a_failed_write_leaves_no_half_row_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    landing = landing_at(tmp_path)
    landing.land(landing.plan(STOP), answer())
    (part,) = tmp_path.rglob("*.jsonl.zst.part")
    size, write = part.stat().st_size, os.write

    def half_then_full(fd: int, data: bytes) -> int:
        if os.fstat(fd).st_ino == part.stat().st_ino:
            if part.stat().st_size > size:
                raise OSError(28, "No space left on device")
            return write(fd, bytes(data[:10]))
        return write(fd, data)

    intent = landing.plan(STOP)
    monkeypatch.setattr(os, "write", half_then_full)
    with pytest.raises(DataFolderError, match="No space left on device"):
        landing.land(intent, answer())
    monkeypatch.undo()

    assert size == part.stat().st_size
    with pytest.raises(DataFolderError):
        landing.close()
    recover(tmp_path)
    assert ["ok", "interrupted"] == [row["outcome"] for row in rows(tmp_path)]


def wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    pytest.fail("it never happened")


def run_with_this_module(program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(program))
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=True, env=environment
    )
